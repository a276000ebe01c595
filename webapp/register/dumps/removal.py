"""Removal of dumps that include what is withheld since they were written."""

from typing import Any

from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from results.history import RUN_FILE_HIDDEN
from results.lifecycle.visibility import TAKEDOWN_TRANSITIONS
from results.models import Event
from webapp.register.dumps import store
from webapp.register.dumps.tables import withheld_runs


def remove_withheld() -> None:
    """Remove the dumps that include runs withheld since then."""
    withheld = set(withheld_runs())
    store.remove_dumps(dump for dump in store.dumps() if not withheld <= set(dump.withheld))


@receiver(post_save, sender=Event, dispatch_uid="remove-withheld-dumps")
def remove_after_takedown(instance: Event, **_: Any) -> None:
    """Remove the dumps with a run that is withheld, or whose file is hidden, when the transaction commits."""
    if instance.kind in {TAKEDOWN_TRANSITIONS["sequester"].event_kind, RUN_FILE_HIDDEN}:
        transaction.on_commit(remove_withheld, robust=True)
