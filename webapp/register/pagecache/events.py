"""What the public pages do when something happens to a result."""

from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver

from results.models import Event
from webapp.register.pagecache.keeper import purge_after


@receiver(post_save, sender=Event, dispatch_uid="purge-snapshot")
def purge_snapshot(instance: Event, **_: Any) -> None:
    """Mark the pages that the event makes out of date, once it is committed."""
    purge_after(instance)
