"""The account page and the sessions of the person who is signed in."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import get_adapter as get_sessions_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import APIToken
from webapp.accounts.permissions import Action, may
from webapp.accounts.requests import UserRequest, members_only


@require_safe
@members_only
def account(request: UserRequest) -> HttpResponse:
    """Link all pages of the account, with the state of each part."""
    user = request.user
    page = {
        "address": EmailAddress.objects.get_primary_email(user),
        "memberships": user.memberships.select_related("organisation").order_by("organisation__name"),
        "has_second_factor": Authenticator.objects.filter(user=user).exists(),
        "sessions_count": len(UserSession.objects.purge_and_list(user)),
        "tokens_count": APIToken.objects.valid().filter(user=user, kind=APIToken.Kind.PERSONAL).count(),
        "shows_mail": may(user, Action.OPERATE) and not settings.PRODUCTION and settings.MAIL_IS_STORED,
    }
    return render(request, "accounts/account.html", page)


@require_POST
@members_only
def end_session(request: UserRequest, session_id: int) -> HttpResponse:
    """End one session of the user; the own one by signing out."""
    session = get_object_or_404(UserSession, pk=session_id, user=request.user)
    if session.is_current():
        return redirect("account_logout")
    get_sessions_adapter().end_sessions([session])
    messages.success(request, "The session is ended.")
    return redirect("usersessions_list")
