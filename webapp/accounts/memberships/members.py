"""Changes of memberships. An organisation with members always has an owner: each change locks the organisation."""

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from results.models import Organisation
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.models import APIToken, Invitation, Membership, Role, User
from webapp.accounts.organisations import OrganisationError
from webapp.accounts.permissions import ALLOWED, Action
from webapp.accounts.tokens.rules import revoke_tokens

# Sent in the transaction of the change: with `organisation` and `user`; the last with `organisation` and the owners
# `before` and `after`.
member_joined = Signal()
member_left = Signal()
membership_ended = Signal()  # also of a removed member
ownership_transferred = Signal()
invitation_declined = Signal()  # with `organisation`, `invitation`, and `user`, which is None without an account

LAST_OWNER = "{organisation} needs an owner. Make another member its owner first."
NO_OWNER = "Only owners of {organisation} change its members."
NO_MEMBER = "The person is no member of {organisation} now. Load the page again."


def change_role(actor: Actor, user_id: int, organisation: Organisation, role: Role) -> None:
    """Give a member another role, as an owner of the organisation. Raises OrganisationError."""
    with transaction.atomic():
        lock_organisation(organisation)
        _require_owner(actor, organisation)
        _set_role(actor, _find(user_id, organisation), role)


def transfer_ownership(actor: Actor, user_id: int, organisation: Organisation) -> None:
    """Make another member an owner instead of the acting one, who becomes a submitter. Raises OrganisationError."""
    with transaction.atomic():
        lock_organisation(organisation)
        own = _require_owner(actor, organisation)
        successor = _find(user_id, organisation)
        if successor.pk == own.pk:
            raise OrganisationError("Choose another member: you are an owner already.")
        _set_role(actor, successor, Role.OWNER)
        _set_role(actor, own, Role.SUBMITTER)
        ownership_transferred.send(sender=Membership, organisation=organisation, before=own.user, after=successor.user)


def remove(actor: Actor, user_id: int, organisation: Organisation) -> None:
    """End the membership of another person, as an owner of the organisation. Raises OrganisationError."""
    with transaction.atomic():
        lock_organisation(organisation)
        own = _require_owner(actor, organisation)
        membership = _find(user_id, organisation)
        if membership.pk == own.pk:
            raise OrganisationError("To end your own membership, leave the organisation.")
        end_membership(membership, actor, Kind.MEMBER_REMOVED)


def leave(actor: Actor, organisation: Organisation) -> None:
    """End the actor's own membership. Raises OrganisationError."""
    with transaction.atomic():
        lock_organisation(organisation)
        membership = _own_membership(actor, organisation)
        if membership is None:
            raise OrganisationError(NO_MEMBER.format(organisation=organisation))
        _require_other_owner(membership)
        end_membership(membership, actor, Kind.MEMBER_LEFT)


def lock_organisation(organisation: Organisation) -> None:
    """Let changes of the members of one organisation happen one after the other, until the transaction ends."""
    Organisation.objects.select_for_update().get(pk=organisation.pk)


def other_owners(membership: Membership) -> int:
    """Return the number of other owners of the organisation whose accounts are not closed."""
    owners = Membership.objects.filter(organisation=membership.organisation_id, role=Role.OWNER, user__is_active=True)
    return owners.exclude(pk=membership.pk).count()


def end_membership(membership: Membership, actor: Actor, kind: Kind) -> None:
    """End a membership with all that depends on it. The caller has locked the organisation and checked its owners."""
    user, organisation = membership.user, membership.organisation
    _end_rights_of_role(actor, user, organisation, Role.VIEWER)
    membership.delete()
    record(kind, actor, user, organisation, role=membership.role)
    membership_ended.send(sender=Membership, organisation=organisation, user=user)
    if kind == Kind.MEMBER_LEFT:
        member_left.send(sender=Membership, organisation=organisation, user=user)


def _set_role(actor: Actor, membership: Membership, role: Role) -> None:
    before = membership.role
    if role == before:
        return
    if before == Role.OWNER:
        _require_other_owner(membership)
    _end_rights_of_role(actor, membership.user, membership.organisation, role)
    membership.role = role
    membership.save(update_fields=["role"])
    details = {"before": before, "after": role}
    record(Kind.MEMBER_ROLE_CHANGED, actor, membership.user, membership.organisation, **details)


def _end_rights_of_role(actor: Actor, user: User, organisation: Organisation, role: Role) -> None:
    """End the tokens and the invitations of a member that the new role does not allow.

    A removed owner could otherwise return by an invitation to an address of their own.
    """
    if role not in ALLOWED[Action.SUBMIT]:
        revoke_tokens(user.api_tokens.filter(organisation=organisation, kind=APIToken.Kind.PERSONAL), actor)
    if role not in ALLOWED[Action.MANAGE]:
        for invitation in Invitation.objects.open().filter(organisation=organisation, invited_by=user):
            Invitation.objects.filter(pk=invitation.pk).update(revoked_at=timezone.now())
            record(Kind.INVITATION_REVOKED, actor, None, organisation, invitation=invitation.pk)


def _find(user_id: int, organisation: Organisation) -> Membership:
    memberships = Membership.objects.select_related("user", "organisation")
    membership = memberships.filter(user=user_id, organisation=organisation).first()
    if membership is None:
        raise OrganisationError(NO_MEMBER.format(organisation=organisation))
    return membership


def _own_membership(actor: Actor, organisation: Organisation) -> Membership | None:
    memberships = Membership.objects.select_related("user", "organisation")
    return memberships.filter(user=actor.person.pk, organisation=organisation).first()


def _require_owner(actor: Actor, organisation: Organisation) -> Membership:
    """Return the membership of the acting owner. The page checked it before another owner may have ended it."""
    own = _own_membership(actor, organisation)
    if own is None or own.role not in ALLOWED[Action.MANAGE]:
        raise OrganisationError(NO_OWNER.format(organisation=organisation))
    return own


def _require_other_owner(membership: Membership) -> None:
    if membership.role == Role.OWNER and other_owners(membership) == 0:
        raise OrganisationError(LAST_OWNER.format(organisation=membership.organisation))
