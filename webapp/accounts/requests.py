"""Requests of signed-in people and of scripts: decorators of views, and tokens."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from allauth.account import app_settings
from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import suspend_request
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.utils import is_mfa_enabled
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.cache import never_cache

from results.models import Organisation
from webapp.accounts.models import User
from webapp.accounts.permissions import Action, may

P = ParamSpec("P")
Answer = TypeVar("Answer", bound=HttpResponseBase)
Decorated = TypeVar("Decorated", bound=Callable[..., HttpResponseBase])
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


def reviewers_only(view: Callable[Concatenate[UserRequest, P], HttpResponseBase]) -> View[P]:
    """Restrict a view like members_only, and respond with 403 to people who are not reviewers."""
    return _only_for(Action.REVIEW, "This page is for reviewers.", view)


def operators_only(view: Callable[Concatenate[UserRequest, P], HttpResponseBase]) -> View[P]:
    """Restrict a view like members_only, and respond with 403 to people who are not operators."""
    return _only_for(Action.OPERATE, "This page is for operators.", view)


def _only_for(action: Action, refusal: str, view: Callable[Concatenate[UserRequest, P], HttpResponseBase]) -> View[P]:
    @wraps(view)
    def answer(request: UserRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not may(request.user, action):
            raise PermissionDenied(refusal)
        return view(request, *args, **kwargs)

    return members_only(answer)


def recently_authenticated(view: Decorated) -> Decorated:
    """Ask for the password or the second factor again, unless the user signed in less than 5 minutes ago."""
    return cast(Decorated, reauthentication_required(view))


def second_factor_entered(view: Callable[Concatenate[UserRequest, P], HttpResponseBase]) -> View[P]:
    """Ask for the second factor again, unless the user entered it less than 5 minutes ago; the password is not enough.

    A user without one enters the password. With `PRODUCTION`, no reviewer and no operator is without one.
    """

    @wraps(view)
    def answer(request: UserRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        latest = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
        records = get_authentication_records(request, request.user)
        is_entered = any(record["method"] == "mfa" and record["at"] > latest for record in records)
        if is_mfa_enabled(request.user) and not is_entered:
            return cast(HttpResponseBase, suspend_request(request, reverse("mfa_reauthenticate")))
        return recently_authenticated(view)(request, *args, **kwargs)

    return cast(View[P], answer)


def needs_authentication(request: UserRequest) -> bool:
    """Return whether the user has to enter the password or the second factor again, as recently_authenticated asks."""
    return bool(get_adapter(request).is_reauthentication_required(app="account"))


def require_recent_authentication(request: UserRequest) -> None:
    """Ask for it as recently_authenticated does, in a view that first checks whether the user may do this at all."""
    if needs_authentication(request):
        raise ReauthenticationRequired


def find_own_organisation(request: UserRequest, slug: str) -> Organisation:
    """Return an organisation of the user. For others the answer is the same as for one that does not exist."""
    return get_object_or_404(Organisation, slug=slug, memberships__user=request.user)


def require_owner(request: UserRequest, organisation: Organisation) -> None:
    """Raise Http404 unless the user is an owner of the organisation."""
    if not may(request.user, Action.MANAGE, organisation.pk):
        raise Http404("This page is for owners of the organisation.")


def mark_private(response: Answer) -> Answer:
    """Keep an answer out of search engines."""
    response.headers["X-Robots-Tag"] = "noindex"
    return response
