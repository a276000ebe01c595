"""The present state of each part, and its record once a minute."""

import time
from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min
from django.utils import timezone

from results.evidence.store import StoreUnavailableError, free_bytes
from results.models import Reading
from runners.models import Dispatch
from runners.models.states import LIVE
from webapp.celery import app, living_parts
from webapp.register.snapshots.store import COMPARED_AT
from webapp.status.models import Part, PartDay, PartState

RETENTION_DAYS = 400
PERIOD = timedelta(minutes=1)
SNAPSHOT_LATE_S = 120
FREE_BYTES_WORKING, FREE_BYTES_DEGRADED = 5 * 10**9, 10**9
READING_LATE_S, READING_STUCK_S = 300, 3600
POLL_LATE_S = 120


def pages_state() -> PartState:
    """Return working if the snapshot is current. Otherwise Django renders each page, which is slower."""
    with suppress(FileNotFoundError):
        age_s = time.time() - (settings.SNAPSHOT_DIR / COMPARED_AT).stat().st_mtime
        return (
            PartState.WORKING if age_s <= max(SNAPSHOT_LATE_S, 2 * settings.SNAPSHOT_PERIOD_S) else PartState.DEGRADED
        )
    return PartState.DEGRADED


def uploads_state() -> PartState:
    """Return the state by the evidence store: whether it answers, and its free space if it states that."""
    try:
        free = free_bytes()
    except StoreUnavailableError:
        return PartState.DOWN
    if free is None or free >= FREE_BYTES_WORKING:
        return PartState.WORKING
    return PartState.DEGRADED if free >= FREE_BYTES_DEGRADED else PartState.DOWN


def readings_state() -> PartState:
    """Return the state by the time that the oldest reading has waited."""
    oldest = Reading.objects.unfinished().aggregate(oldest=Min("created_at"))["oldest"]
    waited_s = (timezone.now() - oldest).total_seconds() if oldest else 0
    if waited_s <= READING_LATE_S:
        return PartState.WORKING
    return PartState.DEGRADED if waited_s <= READING_STUCK_S else PartState.DOWN


def lab_state() -> PartState:
    """Return the state by the lab's worker, and by the polls that are due."""
    with app.connection_for_read() as broker:
        if not living_parts(broker)["lab"]:
            return PartState.DOWN
    late = timezone.now() - timedelta(seconds=POLL_LATE_S)
    is_late = Dispatch.objects.filter(state__in=LIVE, next_poll_at__lt=late).exists()
    return PartState.DEGRADED if is_late else PartState.WORKING


STATES = {
    Part.PAGES: pages_state,
    Part.UPLOADS: uploads_state,
    Part.READINGS: readings_state,
    Part.LAB: lab_state,
}


def record_status() -> None:
    """Add a minute to the present state of each part, and remove rows of former years."""
    now = timezone.now()
    for part, state_of in STATES.items():
        _add_minute(part, state_of())
    PartDay.objects.filter(day__lt=now.date() - timedelta(days=RETENTION_DAYS)).delete()


@transaction.atomic
def _add_minute(part: Part, state: PartState) -> None:
    """Count a minute, unless the task came twice in it."""
    now = timezone.now()
    empty = {"last_state": state, "last_at": now - PERIOD}
    PartDay.objects.get_or_create(part=part, day=now.date(), defaults=empty)
    row = PartDay.objects.select_for_update().get(part=part, day=now.date())
    if now - row.last_at < PERIOD / 2:
        return
    column = f"{state}_minutes"
    PartDay.objects.filter(pk=row.pk).update(last_state=state, last_at=now, **{column: F(column) + 1})
