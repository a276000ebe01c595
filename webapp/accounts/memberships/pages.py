"""The page of an organisation's members, and what its owners change there."""

from typing import Any, cast

from allauth.account.adapter import get_adapter
from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from results.models import Organisation
from webapp.accounts.account_limits import count_invitation
from webapp.accounts.audit.trail import actor_of
from webapp.accounts.memberships import invitations, members
from webapp.accounts.models import Invitation, Membership, Role, User
from webapp.accounts.organisation_pages import show_outcome
from webapp.accounts.organisations import OrganisationError
from webapp.accounts.permissions import Action, may
from webapp.accounts.requests import (
    UserRequest,
    find_own_organisation,
    members_only,
    require_owner,
    require_recent_authentication,
)

ROLES = [
    (Role.SUBMITTER, "submitter: submits results"),
    (Role.VIEWER, "viewer: reads submissions"),
    (Role.OWNER, "owner: also manages members"),
]
MAIL = "account/email/invitation"


class InvitationForm(forms.Form):
    """The mail address of a new member, and their role."""

    email = forms.EmailField(label="Email address", help_text="The register sends a link there. It works for 14 days.")
    role = forms.ChoiceField(choices=ROLES)


class RoleForm(forms.Form):
    """The role of a member."""

    role = forms.ChoiceField(choices=ROLES)


class TransferForm(forms.Form):
    """The member who becomes an owner instead of the user."""

    member = forms.ModelChoiceField(User.objects.none(), empty_label=None, label="New owner")

    def __init__(self, organisation: Organisation, owner: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast("forms.ModelChoiceField[User]", self.fields["member"])
        others = User.objects.filter(memberships__organisation=organisation).exclude(pk=owner.pk)
        field.queryset = others.order_by("username")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def member_list(request: UserRequest, slug: str) -> HttpResponse:
    """List the members. An owner also sees the open invitations, and invites with a POST request."""
    organisation = find_own_organisation(request, slug)
    form = InvitationForm(request.POST or None)
    if request.method == "POST":
        require_owner(request, organisation)
        if form.is_valid() and _invite(request, organisation, form):
            return redirect("member-list", organisation.slug)
    is_owner = may(request.user, Action.MANAGE, organisation.pk)
    members_of = Membership.objects.filter(organisation=organisation).select_related("user")
    page = {
        "organisation": organisation,
        "memberships": members_of.order_by("joined_at", "pk"),
        "is_owner": is_owner,
        "is_only_owner": any(
            each.user_id == request.user.pk and each.role == Role.OWNER and not members.other_owners(each)
            for each in members_of
        ),
        "roles": ROLES,
        "invitations": Invitation.objects.open().filter(organisation=organisation).order_by("created_at", "pk"),
        "declined": invitations.declined_invitations(organisation) if is_owner else [],
        "form": form,
        "transfer_form": TransferForm(organisation, request.user) if len(members_of) > 1 else None,
    }
    return render(request, "accounts/organisations/members.html", page)


def _invite(request: UserRequest, organisation: Organisation, form: InvitationForm) -> bool:
    """Create and send an invitation. If that is refused, add the reason to the form and return False."""
    email, role = form.cleaned_data["email"], Role(form.cleaned_data["role"])
    count_invitation(request, request.user, email)
    try:
        invitation, secret = invitations.invite(actor_of(request), organisation, email, role)
    except OrganisationError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, f"{invitation.email} is invited as {role}.")
    _send(request, invitation, secret)
    return True


def _send(request: UserRequest, invitation: Invitation, secret: str) -> None:
    adapter = get_adapter(request)
    context = {
        "invitation": invitation,
        "organisation": invitation.organisation,
        "inviter": request.user,
        "days": invitations.VALID_FOR.days,
        "link": adapter.link(request, reverse("invitation-link", args=[secret])),
    }
    adapter.send_mail(MAIL, invitation.email, context)


@require_POST
@members_only
def renew_invitation(request: UserRequest, slug: str, invitation_id: int) -> HttpResponse:
    """Send an open invitation again, with a new link. The old one no longer works."""
    invitation = _find_invitation(request, slug, invitation_id)
    count_invitation(request, request.user, invitation.email)
    try:
        secret = invitations.renew(actor_of(request), invitation)
    except OrganisationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"A new link is sent to {invitation.email}. The earlier link no longer works.")
        _send(request, invitation, secret)
    return redirect("member-list", slug)


@require_POST
@members_only
def revoke_invitation(request: UserRequest, slug: str, invitation_id: int) -> HttpResponse:
    """End an open invitation."""
    invitation = _find_invitation(request, slug, invitation_id)
    done = f"The invitation to {invitation.email} is revoked."
    show_outcome(request, done, invitations.revoke, actor_of(request), invitation)
    return redirect("member-list", slug)


def _find_invitation(request: UserRequest, slug: str, invitation_id: int) -> Invitation:
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    return get_object_or_404(organisation.invitations.select_related("organisation"), pk=invitation_id)


@require_POST
@members_only
def change_role(request: UserRequest, slug: str, user_id: int) -> HttpResponse:
    """Give a member another role."""
    organisation, user = _find_member(request, slug, user_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise Http404(f"Expected one of the roles {', '.join(Role.values)}.")
    role = Role(form.cleaned_data["role"])
    done = f"{user.shown_name} is now {role}."
    show_outcome(request, done, members.change_role, actor_of(request), user.pk, organisation, role)
    return redirect("member-list", slug)


@require_POST
@members_only
def remove_member(request: UserRequest, slug: str, user_id: int) -> HttpResponse:
    """End the membership of another person."""
    organisation, user = _find_member(request, slug, user_id)
    done = f"{user.shown_name} is no longer a member. Their tokens for {organisation} no longer work."
    show_outcome(request, done, members.remove, actor_of(request), user.pk, organisation)
    return redirect("member-list", slug)


@require_POST
@members_only
def transfer(request: UserRequest, slug: str) -> HttpResponse:
    """Make another member an owner instead of the user, who entered the password again."""
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    form = TransferForm(organisation, request.user, request.POST)
    if not form.is_valid():
        raise Http404("Expected another member of the organisation.")
    require_recent_authentication(request)
    successor: User = form.cleaned_data["member"]
    done = f"{successor.shown_name} is now an owner of {organisation}, and you are a submitter."
    show_outcome(request, done, members.transfer_ownership, actor_of(request), successor.pk, organisation)
    return redirect("member-list", slug)


@require_POST
@members_only
def leave(request: UserRequest, slug: str) -> HttpResponse:
    """End the user's own membership."""
    organisation = find_own_organisation(request, slug)
    done = f"You are no longer a member of {organisation}. Your tokens for it no longer work."
    if show_outcome(request, done, members.leave, actor_of(request), organisation):
        return redirect("organisation-list")
    return redirect("member-list", slug)


def _find_member(request: UserRequest, slug: str, user_id: int) -> tuple[Organisation, User]:
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    return organisation, get_object_or_404(User, pk=user_id, memberships__organisation=organisation)
