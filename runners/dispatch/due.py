"""Which dispatches are due to be looked at, taken in batches so that several workers share them.

Taking puts the next look a period off, in one statement: it is no claim and no lock (runners/locks.py is), only what
keeps two workers from looking at the same rows. A worker that dies with a batch costs its dispatches one period.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from runners.hosts.machine import own_names
from runners.models import UNCONFIRMED, Dispatch, Host
from runners.models.states import FINAL, State

# Lost, and somebody asked for its program to be ended.
LEFT_BEHIND = UNCONFIRMED & Q(cancel_requested_at__isnull=False)
# Written out, so that the partial index dispatch_due is used.
MAY_BE_DUE = ~Q(state__in=sorted(state.value for state in FINAL - {State.LOST}))

# The clock rings twice a period (settings.CELERY_BEAT_SCHEDULE): due a little sooner, so that the second ring finds it.
EARLY = 0.75


@dataclass(frozen=True)
class Visit:
    """What one host is to be asked about, in this order."""

    host_id: int
    dispatch_ids: tuple[int, ...]


def take_due(is_silent: bool, limit: int, busy_hosts: frozenset[int] = frozenset()) -> list[Visit]:
    """Take up to `limit` due dispatches, the longest due first, and return them by host.

    `is_silent`: of hosts that gave no answer last, or of the others. Those that are being asked already are left out.
    """
    with transaction.atomic():
        due = within_reach().filter(silent_since__isnull=not is_silent).exclude(device__host__in=busy_hosts)
        rows = list(
            due.order_by("next_look_at", "ordered_at")
            .select_for_update(skip_locked=True, of=("self",))
            .values_list("pk", "state", "device__host_id")[:limit]
        )
        later = Now() + timedelta(seconds=settings.WATCH_PERIOD_S * EARLY)
        Dispatch.objects.filter(pk__in=[pk for pk, _, _ in rows]).update(next_look_at=later)
    return _by_host(rows)


def within_reach() -> "QuerySet[Dispatch]":
    """Return the dispatches that are due and whose hosts this machine can ask."""
    elsewhere = Q(device__host__kind=Host.Kind.LOCAL) & ~Q(device__host__machine_id__in=own_names())
    unfinished = Dispatch.objects.filter(MAY_BE_DUE, ~Q(state=State.LOST) | LEFT_BEHIND)
    return unfinished.filter(next_look_at__lte=Now()).exclude(elsewhere)


def _by_host(rows: list[tuple[int, str, int]]) -> list[Visit]:
    """Live ones first: a freed drive is claimed in the same round."""
    visits: dict[int, list[int]] = {}
    for pk, _, host_id in sorted(rows, key=lambda row: row[1] == State.QUEUED):
        visits.setdefault(host_id, []).append(pk)
    return [Visit(host_id, tuple(dispatch_ids)) for host_id, dispatch_ids in visits.items()]
