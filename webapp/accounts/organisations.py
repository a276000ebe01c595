"""Organisations that people create, and their confirmation by an operator."""

from secrets import token_hex

from django.db import transaction
from django.db.models import QuerySet
from django.dispatch import Signal
from django.utils import timezone
from django.utils.text import slugify

from results.models import Organisation
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.models import Role, User

WAITING_MAX = 3  # of one person: each of them is work for an operator
SLUG_NAME_CHARS = 40
CHOSEN_KINDS = (Organisation.Kind.VENDOR, Organisation.Kind.LAB, Organisation.Kind.OTHER)

# Sent in the transaction of the change: with `organisation` and `owner`; with `organisation` and `operator`.
organisation_created = Signal()
organisation_confirmed = Signal()


class OrganisationError(Exception):
    """A request about an organisation that cannot be fulfilled; the text is for the person who sent it."""


@transaction.atomic
def create(owner: User, actor: Actor, name: str, kind: str, website: str) -> Organisation:
    """Create an organisation that waits for confirmation, with its first owner.

    Its slug has random characters. A slug made from the name alone would reveal whether another one has the name.
    """
    User.objects.select_for_update().get(pk=owner.pk)  # two requests at once must not both be the third
    if owner.memberships.filter(role=Role.OWNER, organisation__confirmed_at__isnull=True).count() >= WAITING_MAX:
        raise OrganisationError(
            f"{WAITING_MAX} of your organisations wait for their confirmation. Wait until an operator confirms one."
        )
    stem = slugify(name)[:SLUG_NAME_CHARS].strip("-") or "organisation"
    organisation = Organisation.objects.create(
        slug=f"{stem}-{token_hex(3)}", name=name, kind=Organisation.Kind(kind), website=website
    )
    owner.memberships.create(organisation=organisation, role=Role.OWNER)
    record(Kind.ORGANISATION_CREATED, actor, owner, organisation)
    organisation_created.send(sender=Organisation, organisation=organisation, owner=owner)
    return organisation


def waiting() -> QuerySet[Organisation]:
    """Return the organisations that wait for confirmation, the oldest first."""
    return Organisation.objects.filter(confirmed_at__isnull=True).order_by("created_at", "pk")


@transaction.atomic
def confirm(organisation: Organisation, operator: Actor, name: str) -> None:
    """Confirm an organisation under a name. Raises OrganisationError."""
    locked = Organisation.objects.select_for_update().get(pk=organisation.pk)
    if locked.confirmed_at is not None:
        raise OrganisationError(f"{locked.name} is confirmed already.")
    if Organisation.objects.filter(name__iexact=name, confirmed_at__isnull=False).exists():
        raise OrganisationError(f"Another confirmed organisation has the name {name}. Confirm it under another name.")
    Organisation.objects.filter(pk=locked.pk).update(name=name, confirmed_at=timezone.now())
    record(Kind.ORGANISATION_CONFIRMED, operator, organisation=organisation)
    organisation_confirmed.send(sender=Organisation, organisation=locked, operator=operator.user)
