"""Limits on account functions that send mail, guess links or collect data. Beyond one, the answer is 429."""

from hashlib import sha256

from allauth.core.exceptions import ImmediateHttpResponse
from django.http import HttpRequest

from webapp.access_limits import process_limits
from webapp.access_limits.client_address import client_network
from webapp.access_limits.shared_limits import LimitReachedError, SharedLimit
from webapp.accounts.models import User
from webapp.accounts.throttle import PERIOD_S, too_many_requests

INVITATIONS = SharedLimit("invitations-of-account", 20, PERIOD_S)
INVITED_ADDRESS = SharedLimit("invitations-to-address", 5, PERIOD_S)
UNKNOWN_LINKS = SharedLimit("unknown-invitations-of-network", 20, PERIOD_S)
EXPORTS = SharedLimit("exports-of-account", 10, PERIOD_S)


def count_invitation(request: HttpRequest, user: User, email: str) -> None:
    """Count a mail with an invitation, by its sender and by its recipient. Raises ImmediateHttpResponse."""
    _take(request, INVITATIONS, f"user-{user.pk}")
    _take(request, INVITED_ADDRESS, sha256(email.lower().encode()).hexdigest())


def count_unknown_link(request: HttpRequest) -> None:
    """Count a link of an invitation that does not work. Raises ImmediateHttpResponse."""
    _take(request, UNKNOWN_LINKS, client_network(request))


def count_export(request: HttpRequest, user: User) -> None:
    """Count an export of a user's data. Raises ImmediateHttpResponse."""
    _take(request, EXPORTS, f"user-{user.pk}")


def _take(request: HttpRequest, limit: SharedLimit, client: str) -> None:
    try:
        process_limits.take(limit, client)
    except LimitReachedError as reached:
        raise ImmediateHttpResponse(too_many_requests(request, reached.wait_s)) from reached
