"""The pages of a person who is invited: the link of the mail, and the acceptance.

The link leads at once to a page without the secret, so that neither the address bar nor a later page reveals it. The
session remembers the invitation, also through a sign-up or a sign-in.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.account_limits import count_unknown_link
from webapp.accounts.audit.trail import actor_of
from webapp.accounts.memberships import invitations
from webapp.accounts.memberships.remembered import forget_invitation, remember_invitation, remembered_invitation
from webapp.accounts.models import Invitation, User
from webapp.accounts.organisation_pages import show_outcome
from webapp.accounts.requests import UserRequest, members_only

GONE = 410


@require_safe
@never_cache
def invitation_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Remember the invitation of a link, and show it under an address without the secret."""
    invitation = invitations.find_invitation(secret)
    if invitation is None:
        count_unknown_link(request)
        return render(request, "accounts/invitation.html", {"invitation": None}, status=GONE)
    remember_invitation(request, invitation)
    return redirect("invitation")


@require_safe
@never_cache
def invitation(request: HttpRequest) -> HttpResponse:
    """Show the remembered invitation, and what its reader has to do."""
    found = remembered_invitation(request)
    if found is None:
        return render(request, "accounts/invitation.html", {"invitation": None}, status=GONE)
    user = request.user
    is_recipient = isinstance(user, User) and invitations.invitations_for(user).filter(pk=found.pk).exists()
    return render(request, "accounts/invitation.html", {"invitation": found, "is_recipient": is_recipient})


@require_POST
@members_only
def accept_invitation(request: UserRequest, invitation_id: int) -> HttpResponse:
    """Make the user a member. The list of organisations offers it too, without the link: the address is verified."""
    offered = invitations.invitations_for(request.user).select_related("organisation")
    chosen: Invitation = get_object_or_404(offered, pk=invitation_id)
    done = f"You are now {chosen.role} of {chosen.organisation}."
    if show_outcome(request, done, invitations.accept, actor_of(request), chosen):
        forget_invitation(request)
    return redirect("organisation-list")
