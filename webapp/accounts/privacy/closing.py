"""The closing of an account: the row and its number stay for the histories, and everything personal is emptied."""

from collections.abc import Iterator

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.utils import timezone

from results.lifecycle.deadlines import STEPS
from results.lifecycle.submission_states import in_states
from results.models import Organisation, Submission
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.memberships.members import end_membership, other_owners
from webapp.accounts.models import APIToken, Invitation, Membership, Role, User
from webapp.accounts.organisations import OrganisationError
from webapp.accounts.tokens.rules import revoke_tokens

OTHER_MEMBERS = (
    "You are the only owner of {organisation}, and it has other members. Transfer its ownership first, on the page of "
    "its members."
)
UNPUBLISHED = (
    "You are the only owner of {organisation}, and {count} of its submissions are not published yet, such as "
    "{example}. Invite another owner, or wait until reviewers have published or declined them."
)


class ClosingRefusedError(OrganisationError):
    """An account that cannot be closed now; the text states why, and what to do first."""


def obstacles(user: User) -> list[str]:
    """Return what prevents the closing of an account, each as a sentence with the next step."""
    return list(_obstacles(user))


def close_account(actor: Actor) -> None:
    """Close the actor's own account. Raises ClosingRefusedError."""
    with transaction.atomic():
        organisations = Organisation.objects.filter(memberships__user=actor.person).order_by("pk")
        list(organisations.select_for_update(of=("self",)))
        user = User.objects.select_for_update().get(pk=actor.person.pk)
        if found := obstacles(user):
            raise ClosingRefusedError(" ".join(found))
        memberships = list(user.memberships.select_related("user", "organisation").order_by("joined_at", "pk"))
        user.former_organisation = memberships[0].organisation if memberships else None
        for membership in memberships:
            end_membership(membership, actor, Kind.MEMBER_LEFT)
        _end_access(user, actor)
        record(Kind.ACCOUNT_CLOSED, actor, user)
        _empty(user)


def _obstacles(user: User) -> Iterator[str]:
    for membership in user.memberships.filter(role=Role.OWNER).select_related("organisation"):
        if other_owners(membership):
            continue
        organisation = membership.organisation
        if Membership.objects.filter(organisation=organisation, user__is_active=True).exclude(user=user).exists():
            yield OTHER_MEMBERS.format(organisation=organisation)
        waiting = in_states(Submission.objects.filter(organisation=organisation), STEPS)
        if example := waiting.order_by("received_at").first():
            count, example_id = waiting.count(), example.public_id
            yield UNPUBLISHED.format(organisation=organisation, count=count, example=example_id)


def _end_access(user: User, actor: Actor) -> None:
    """End all sessions and tokens, and remove the second factors."""
    revoke_tokens(user.api_tokens.filter(kind=APIToken.Kind.PERSONAL), actor)
    for session in UserSession.objects.filter(user=user):
        session.end()
    Authenticator.objects.filter(user=user).delete()


def _empty(user: User) -> None:
    """Empty everything personal. Nobody can choose the new user name: it contains a colon."""
    emails = [address.email.lower() for address in EmailAddress.objects.filter(user=user)]
    Invitation.objects.filter(email__in=emails).delete()
    EmailAddress.objects.filter(user=user).delete()
    user.api_tokens.filter(kind=APIToken.Kind.PERSONAL).update(name="", machine="")
    user.groups.clear()
    user.user_permissions.clear()
    user.username = f"closed:{user.pk}"
    user.email = user.first_name = user.last_name = ""
    user.last_login = None
    user.is_active = user.is_superuser = user.is_reviewer = user.is_operator = False
    user.closed_at = timezone.now()
    user.set_unusable_password()
    user.save()
