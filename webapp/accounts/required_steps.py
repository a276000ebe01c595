"""Steps that an account must complete before its user reaches the register.

A user without a verified mail address stays anonymous on every page except those that enter one. So does a
reviewer or operator of a public register without a second factor. The rule is here and not in the views, so that no
view can forget it.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.cache import add_never_cache_headers
from django.utils.functional import SimpleLazyObject

from webapp.accounts.models import User
from webapp.accounts.permissions import register_roles
from webapp.accounts.requests import mark_private
from webapp.accounts.staff_sessions import end_if_old

ACCOUNT_PAGES = "/accounts/"
ADDRESS, SECOND_FACTOR = "account_email", "mfa_index"
SHARED_PAGES = {"account_confirm_email", "account_email_verification_sent", "account_logout", "account_reauthenticate"}
# The page that completes each step, and the names of the pages that a user reaches until then.
PAGES = {
    ADDRESS: SHARED_PAGES | {ADDRESS},
    SECOND_FACTOR: SHARED_PAGES
    | {SECOND_FACTOR, "mfa_activate_totp", "mfa_add_webauthn", "mfa_list_webauthn", "mfa_reauthenticate"},
}


def missing_step(user: User | AnonymousUser) -> str | None:
    """Return the name of the page that a signed-in user must complete first; None if there is none.

    The first user of a register that is not public needs no address. Only a public register requires second factors.
    """
    if not isinstance(user, User) or (user.is_superuser and not settings.PRODUCTION):
        return None
    if not user.has_verified_address:
        return ADDRESS
    needs_second_factor = settings.PRODUCTION and bool(register_roles(user))
    return SECOND_FACTOR if needs_second_factor and not user.has_second_factor else None


class RequiredStepsMiddleware:
    """Treats users with a missing step as anonymous, except on the pages of that step.

    The account pages, some of which show a secret once, are kept out of caches and search engines.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(ACCOUNT_PAGES):
            user = request.user  # not loaded yet: public pages never load it
            request.user = SimpleLazyObject(  # type: ignore[assignment]
                lambda: AnonymousUser() if missing_step(user) or end_if_old(request, user) else user
            )
            return self.get_response(request)
        response = self.get_response(request)
        add_never_cache_headers(response)
        return mark_private(response)

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        """Lead a user with a missing step from the other account pages to the page of the step."""
        if not request.path.startswith(ACCOUNT_PAGES) or request.resolver_match is None:
            return None
        if end_if_old(request, request.user):
            request.user = AnonymousUser()
        step = missing_step(request.user)
        if step is None or request.resolver_match.url_name in PAGES[step]:
            return None
        return redirect(step)
