"""Senders of requests: the token in the header names organisation and person; throttles limit how often they may ask.

All processes count together in Redis. Without Redis, each process counts alone: the API stays usable, and a script that
runs away is still stopped.
"""

from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from webapp.access_limits.client_address import client_network
from webapp.access_limits.shared_limits import LimitReachedError, LimitsDownError, SharedLimit
from webapp.accounts.models import APIToken, User
from webapp.accounts.tokens.rules import SCHEME, bearer_secret, find_token

if TYPE_CHECKING:  # the REST framework imports this module before its views
    from rest_framework.views import APIView

# One text for every reason, so that a stranger learns nothing about expired or revoked tokens.
REFUSED = (
    "The token is unknown, revoked or expired, or its owner has left the organisation. Create a new one at "
    "/accounts/tokens/."
)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`; without the header a request is anonymous."""

    def authenticate(self, request: Request) -> tuple[User, APIToken] | None:
        """Return the token's owner and the token; None if the request has no token."""
        secret = bearer_secret(request.headers.get("Authorization", ""))
        if secret is None:
            return None
        token = find_token(secret)
        if token is None:
            raise AuthenticationFailed(REFUSED)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return f'{SCHEME} realm="drivecert"'


def token_of(request: Request) -> APIToken:
    """Return the token of a request to a view that requires one; an anonymous request here is a bug of the view."""
    if not isinstance(request.auth, APIToken):
        raise TypeError(f"{request.path}: expected a token, got {request.auth!r}; the view needs IsAuthenticated")
    return request.auth


class SenderThrottle(SimpleRateThrottle):
    """A throttle that counts requests by token, or by the client's network without a token."""

    num_requests: int  # of `rate`
    duration: int
    wait_s: float | None = None

    @property
    def limit(self) -> SharedLimit:
        """Return the limit that all processes count together."""
        return SharedLimit(f"api-{self.scope}", self.num_requests, self.duration)

    def get_cache_key(self, request: Request, view: "APIView") -> str:
        return self.cache_format % {"scope": self.scope, "ident": self._sender(request)}

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Count the request, and return whether it is within the rate. A waiting request counts once (webapp/live)."""
        if getattr(request, "is_repeat", False):
            return True
        try:
            self.limit.take(self._sender(request))
        except LimitReachedError as reached:
            self.wait_s = reached.wait_s
            return False
        except LimitsDownError:
            return super().allow_request(request, view)  # counts in the memory of this process
        return True

    def wait(self) -> float | None:
        """Return the seconds until the next request is allowed."""
        return super().wait() if self.wait_s is None else self.wait_s

    def _sender(self, request: Request) -> str:
        return f"token-{request.auth.pk}" if request.auth else client_network(request)


class ReadThrottle(SenderThrottle):
    """The limit for pages of rows: ten a second is more than a person or a fair script needs."""

    scope = "read"
    rate = "600/min"


class SubmitThrottle(SenderThrottle):
    """The limit for uploads: a campaign sends a few logs an hour."""

    scope = "submit"
    rate = "60/min"


class IntervalsThrottle(SenderThrottle):
    """The limit for windows of a run: a person who drags over a chart requests one or two a second."""

    scope = "intervals"
    rate = "120/min"


class ValidateThrottle(SenderThrottle):
    """The limit for readings without storage: each one occupies a server thread until it ends."""

    scope = "validate"
    rate = "20/min"
