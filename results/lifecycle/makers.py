"""The makers of drives: which organisation a spelling of `Product.vendor` means. Its members approve none of them."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.history import record_event
from results.lifecycle.approvals import organisations_of
from results.models import Maker, Organisation

LINKED_KIND, UNLINKED_KIND = "maker-linked", "maker-unlinked"


def link_spelling(actor: AbstractBaseUser | None, spelling: str, organisation: Organisation, reason: str = "") -> None:
    """Link a spelling to an organisation. Raises ReviewRefusedError if it is linked already."""
    with transaction.atomic():
        Organisation.objects.select_for_update(no_key=True).get(pk=organisation.pk)
        if _links(spelling, organisation).exists():
            raise ReviewRefusedError(f"{spelling} is linked already to {organisation.slug}. Nothing was changed.")
        Maker.objects.create(spelling=spelling, organisation=organisation)
        _record(actor, LINKED_KIND, spelling, organisation, reason)


def unlink_spelling(
    actor: AbstractBaseUser | None, spelling: str, organisation: Organisation, reason: str = ""
) -> None:
    """Remove the link of a spelling. Raises ReviewRefusedError if there is none, and for one of the actor's own.

    Without the link, the members of the organisation could approve results of its drives.
    """
    if actor is not None and organisation.pk in organisations_of(actor, timezone.now()):
        raise ReviewRefusedError(
            f"You belong to {organisation}, so another reviewer has to remove its spellings. Nothing was changed."
        )
    with transaction.atomic():
        deleted, _ = _links(spelling, organisation).delete()
        if not deleted:
            raise ReviewRefusedError(f"{spelling} is not linked to {organisation.slug}. Nothing was changed.")
        _record(actor, UNLINKED_KIND, spelling, organisation, reason)


def _links(spelling: str, organisation: Organisation) -> QuerySet[Maker]:
    return Maker.objects.filter(spelling__iexact=spelling, organisation=organisation)


def _record(actor: AbstractBaseUser | None, kind: str, spelling: str, organisation: Organisation, reason: str) -> None:
    record_event(actor, kind, ("organisation", organisation.slug), reason, {"spelling": spelling})
