"""Requests of signed-in people, and the organisations that they may act for."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache

from results.models import Organisation
from webapp.accounts.models import User


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
    """Like members_only, and answer 403 to people who are not reviewers."""

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
