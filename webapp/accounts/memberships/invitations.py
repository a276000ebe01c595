"""Invitations to organisations: an owner invites a mail address, and its person becomes a member.

The secret is only in the mail. The database has its hash, and a renewed invitation has another secret.
"""

import secrets
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from results.models import Organisation
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.memberships.members import invitation_declined, lock_organisation, member_joined
from webapp.accounts.models import Invitation, InvitationQuerySet, Membership, Role, User, hash_token
from webapp.accounts.organisations import OrganisationError
from webapp.accounts.permissions import Action, may

VALID_FOR = timedelta(days=14)
OPEN_MAX = 50  # of one organisation: an owner must not make the register send any number of mails
SHOWN_FOR = timedelta(days=30)  # the owners read for this long that an invitation was declined
ENDED = "The invitation was accepted, declined, renewed or revoked, or it has expired. Ask an owner for a new one."
OTHER_ADDRESS = "The invitation is for {email}. Sign in with the account of that address, or change your address to it."


def invite(actor: Actor, organisation: Organisation, email: str, role: Role) -> tuple[Invitation, str]:
    """Create an invitation; return it with its secret, which is sent by mail and never stored.

    Raises OrganisationError.
    """
    email = email.lower()
    with transaction.atomic():
        user = _lock_as_owner(actor, organisation)
        if _is_member(email, organisation):
            raise OrganisationError(f"{email} is the address of a member of {organisation} already.")
        invitations = open_invitations(organisation)
        if invitations.filter(email=email).exists():
            raise OrganisationError(f"{email} has an invitation already. Renew it to send another mail.")
        if invitations.count() >= OPEN_MAX:
            raise OrganisationError(f"{OPEN_MAX} invitations are open. Revoke those that are no longer needed.")
        secret, digest = _new_secret()
        invitation = organisation.invitations.create(
            email=email, role=role, digest=digest, invited_by=user, expires_at=timezone.now() + VALID_FOR
        )
        record(Kind.INVITATION_SENT, actor, None, organisation, invitation=invitation.pk, role=role)
    return invitation, secret


def open_invitations(organisation: Organisation) -> QuerySet[Invitation]:
    """Return the invitations of an organisation that can be accepted; at most OPEN_MAX."""
    return Invitation.objects.open().filter(organisation=organisation)


def renew(actor: Actor, invitation: Invitation) -> str:
    """Give an open invitation a new secret and a new period; return the secret. Raises OrganisationError."""
    with transaction.atomic():
        user = _lock_as_owner(actor, invitation.organisation)
        _require_open(invitation)
        secret, digest = _new_secret()
        Invitation.objects.filter(pk=invitation.pk).update(
            digest=digest, invited_by=user, expires_at=timezone.now() + VALID_FOR
        )
        record(Kind.INVITATION_RENEWED, actor, None, invitation.organisation, invitation=invitation.pk)
    return secret


def revoke(actor: Actor, invitation: Invitation) -> None:
    """End an open invitation. Raises OrganisationError."""
    with transaction.atomic():
        _lock_as_owner(actor, invitation.organisation)
        _require_open(invitation)
        Invitation.objects.filter(pk=invitation.pk).update(revoked_at=timezone.now())
        record(Kind.INVITATION_REVOKED, actor, None, invitation.organisation, invitation=invitation.pk)


def find_invitation(secret: str) -> Invitation | None:
    """Return the invitation of the secret in a link; None if it can no longer be accepted."""
    return Invitation.objects.acceptable().filter(digest=hash_token(secret)).select_related("organisation").first()


def invitations_for(user: User) -> InvitationQuerySet:
    """Return the invitations that a user can accept: those for their verified address."""
    addresses = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    emails = [address.lower() for address in addresses]
    return Invitation.objects.acceptable().filter(email__in=emails).order_by("created_at", "pk")


def accept(actor: Actor, invitation: Invitation) -> Membership:
    """Make the user a member in the role of the invitation. Raises OrganisationError."""
    user = actor.person
    with transaction.atomic():
        lock_organisation(invitation.organisation)
        if not Invitation.objects.acceptable().filter(pk=invitation.pk).exists():
            raise OrganisationError(ENDED)
        if not invitations_for(user).filter(pk=invitation.pk).exists():
            raise OrganisationError(OTHER_ADDRESS.format(email=invitation.email))
        organisation = invitation.organisation
        Invitation.objects.filter(pk=invitation.pk).update(accepted_at=timezone.now())
        membership, is_new = Membership.objects.get_or_create(
            user=user, organisation=organisation, defaults={"role": invitation.role}
        )
        if is_new:
            details = {"role": invitation.role, "invitation": invitation.pk}
            record(Kind.MEMBER_JOINED, actor, user, organisation, **details)
            member_joined.send(sender=Membership, organisation=organisation, user=user)
    return membership


def decline(actor: Actor, invitation: Invitation) -> None:
    """End an open invitation for the invited person, who may have no account. Raises OrganisationError.

    Without a sign-in, the caller checks that the browser had the secret of the link.
    """
    organisation = invitation.organisation
    with transaction.atomic():
        lock_organisation(organisation)
        if not Invitation.objects.acceptable().filter(pk=invitation.pk).exists():
            raise OrganisationError(ENDED)
        user = actor.user
        if user is not None and not invitations_for(user).filter(pk=invitation.pk).exists():
            raise OrganisationError(OTHER_ADDRESS.format(email=invitation.email))
        Invitation.objects.filter(pk=invitation.pk).update(declined_at=timezone.now())
        record(Kind.INVITATION_DECLINED, actor, user, organisation, invitation=invitation.pk)
        invitation_declined.send(sender=Invitation, organisation=organisation, invitation=invitation, user=user)


def declined_invitations(organisation: Organisation) -> QuerySet[Invitation]:
    """Return the invitations that were declined lately, unless the address was invited again or joined."""
    since = timezone.now() - SHOWN_FOR
    declined = Invitation.objects.filter(organisation=organisation, declined_at__gte=since)
    later = Invitation.objects.filter(organisation=organisation, email=OuterRef("email"), pk__gt=OuterRef("pk"))
    return declined.exclude(Exists(later)).order_by("declined_at", "pk")


def _lock_as_owner(actor: Actor, organisation: Organisation) -> User:
    lock_organisation(organisation)
    if actor.user is None or not may(actor.user, Action.MANAGE, organisation.pk):
        raise OrganisationError(f"Only owners of {organisation} invite to it.")
    return actor.user


def _require_open(invitation: Invitation) -> None:
    if not Invitation.objects.open().filter(pk=invitation.pk).exists():
        raise OrganisationError("The invitation was accepted, declined or revoked. Load the page again.")


def _is_member(email: str, organisation: Organisation) -> bool:
    members = Membership.objects.filter(organisation=organisation).values("user")
    return bool(EmailAddress.objects.filter(user__in=members, email__iexact=email, verified=True).exists())


def _new_secret() -> tuple[str, str]:
    secret = secrets.token_urlsafe(32)
    return secret, hash_token(secret)
