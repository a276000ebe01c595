"""Senders of uploads: people in their browser, and scripts with a token. Both see the drafts of their organisations."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest
from rest_framework.authentication import CSRFCheck

from results.models import Draft, Organisation
from webapp.accounts.models import Scope, User
from webapp.accounts.permissions import Action, organisations_of
from webapp.accounts.tokens.rules import SCHEME, bearer_secret, find_token


class SenderRefusedError(Exception):
    """The request names no sender who may upload; `status` is that of the response."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True)
class Sender:
    """A user, and the organisations for which this request may upload, by name."""

    user: User
    organisations: tuple[Organisation, ...]

    def organisation(self, slug: str) -> Organisation:
        """Return the organisation with a slug; without one, the only or first. Raises SenderRefusedError."""
        found = [each for each in self.organisations if slug in {"", each.slug}]
        if not found:
            raise SenderRefusedError(403, f"You cannot submit for the organisation {slug}.")
        return found[0]


def sender_of(request: HttpRequest) -> Sender:
    """Return the sender of a request. A session also needs the CSRF token. Raises SenderRefusedError."""
    secret = bearer_secret(request.headers.get("Authorization", ""))
    if secret is not None:
        token = find_token(secret)
        if token is None:
            raise SenderRefusedError(401, f"The token ({SCHEME}) is unknown, revoked or expired. Create a new one.")
        if Scope.SUBMIT not in token.scopes:
            raise SenderRefusedError(403, "The upload needs a token with the scope submit. Create another token.")
        return Sender(token.user, (token.organisation,))
    if not isinstance(request.user, User):
        raise SenderRefusedError(401, "Sign in, or send a token in the header Authorization.")
    if reason := _csrf_problem(request):
        raise SenderRefusedError(403, f"The header X-CSRFToken is missing or wrong: {reason} Reload the page.")
    organisations = tuple(organisations_of(request.user, Action.SUBMIT))
    if not organisations:
        raise SenderRefusedError(403, "Your account may not submit for an organisation. Ask one of its owners.")
    return Sender(request.user, organisations)


def _csrf_problem(request: HttpRequest) -> str:
    check = CSRFCheck(lambda _: None)  # type: ignore[arg-type] # never called
    check.process_request(request)
    return str(check.process_view(request, None, (), {}) or "")  # type: ignore[arg-type] # its own _reject() is text


def find_draft(organisations: Iterable[Organisation], public_id: str) -> Draft | None:
    """Return a draft of these organisations, also a submitted one; None for others."""
    drafts = Draft.objects.select_related("organisation", "submission")
    return drafts.filter(organisation__in=organisations, public_id=public_id).first()
