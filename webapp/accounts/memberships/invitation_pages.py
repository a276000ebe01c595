"""The pages of a person who is invited: the link of the mail, the acceptance and the refusal.

The link leads at once to a page without the secret, so that neither the address bar nor a later page reveals it. The
session remembers the invitation, also through a sign-up or a sign-in.
"""

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.account_limits import count_unknown_link
from webapp.accounts.audit.trail import actor_of
from webapp.accounts.memberships import invitations
from webapp.accounts.memberships.remembered import forget_invitation, remember_invitation, remembered_invitation
from webapp.accounts.models import Invitation, User
from webapp.accounts.organisation_pages import show_outcome
from webapp.accounts.organisations import OrganisationError
from webapp.accounts.requests import UserRequest, mark_private, members_only

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


@require_POST
@never_cache
def decline_invitation(request: HttpRequest, invitation_id: int) -> HttpResponse:
    """End an invitation for its person: a user with the invited address, or a visitor whose browser had the link."""
    chosen = _own_invitation(request, invitation_id)
    if chosen is None:
        if request.user.is_authenticated:
            raise Http404("This invitation is not for your address, or it is no longer open.")
        return redirect_to_login(request.get_full_path())  # the same whether it exists or not
    try:
        invitations.decline(actor_of(request), chosen)
    except OrganisationError:  # it ended at the same moment
        return render(request, "accounts/invitation.html", {"invitation": None}, status=GONE)
    forget_invitation(request)
    return mark_private(render(request, "accounts/invitation.html", {"declined": chosen}))


def _own_invitation(request: HttpRequest, invitation_id: int) -> Invitation | None:
    if isinstance(request.user, User):
        offered = invitations.invitations_for(request.user).select_related("organisation")
        return offered.filter(pk=invitation_id).first()
    remembered = remembered_invitation(request)
    return remembered if remembered is not None and remembered.pk == invitation_id else None
