"""Who sends a request: the token in its header says for which organisation, and who made it."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from webapp.accounts.models import APIToken, User
from webapp.accounts.tokens import SCHEME, bearer_secret, find_token

# One text for every reason: a stranger learns nothing about tokens that were.
REFUSED = (
    "The token is unknown, revoked or expired, or its owner has left the organisation. Create a new one at "
    "/accounts/tokens/."
)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`; without the header a request is anonymous."""

    def authenticate(self, request: Request) -> tuple[User, APIToken] | None:
        """Return the token's maker and the token; None where the request carries none."""
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
    """Return the token of a request that needed one; an anonymous request here is a bug of the view."""
    if not isinstance(request.auth, APIToken):
        raise TypeError(f"{request.path}: expected a token, got {request.auth!r}; the view needs IsAuthenticated")
    return request.auth
