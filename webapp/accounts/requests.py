"""Requests of signed-in people, and the organisations that they may act for."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache

from results.models import Organisation
from webapp.accounts.models import APIToken, User, hash_token


def organisations_of(user: User) -> QuerySet[Organisation]:
    """Return the organisations that a person acts for, by name."""
    return Organisation.objects.filter(memberships__user=user).order_by("name")


def acts_for(user: User | AnonymousUser, organisation_id: int) -> bool:
    """Return whether a signed-in person is a member of an organisation."""
    return isinstance(user, User) and user.memberships.filter(organisation=organisation_id).exists()


P = ParamSpec("P")
Answer = TypeVar("Answer", bound=HttpResponseBase)
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


class UserRequest(HttpRequest):
    """A request whose sender has signed in, for the type checker: `login_required` makes it so."""

    user: User


def members_only(view: Callable[Concatenate[UserRequest, P], HttpResponseBase]) -> View[P]:
    """Send strangers to the sign-in page, and keep the answer out of caches and search engines."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        return mark_private(view(request, *args, **kwargs))  # type: ignore[arg-type]

    return never_cache(login_required(answer))


def staff_only(view: Callable[Concatenate[UserRequest, P], HttpResponseBase]) -> View[P]:
    """Restrict a view like members_only, and respond with 403 to people who are not reviewers."""

    @wraps(view)
    def answer(request: UserRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied("Only staff of the register review submissions.")
        return view(request, *args, **kwargs)

    return members_only(answer)


def mark_private(response: Answer) -> Answer:
    """Keep an answer out of search engines."""
    response.headers["X-Robots-Tag"] = "noindex"
    return response


SCHEME = "Bearer"


def bearer_secret(authorization: str) -> str | None:
    """Return the secret of a header; None if it is of another scheme or missing."""
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == SCHEME.lower() else None


def find_token(secret: str) -> APIToken | None:
    """Return the token that a secret opens the register with; None for one unknown, revoked or expired.

    A token also ends with the account of its owner, and with the owner's membership of its organisation.
    """
    tokens = APIToken.objects.valid().filter(digest=hash_token(secret), user__is_active=True)
    tokens = tokens.filter(user__memberships__organisation=F("organisation"))
    return tokens.select_related("user", "organisation").first()
