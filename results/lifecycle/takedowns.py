"""Takedowns of public results for legal reasons: one operator requests, a second one confirms within 72 hours.

The result is withheld from the request on. A request that no second operator confirmed lapses, and an operator may end
a takedown at any time; the result then returns to its state before. The operator whose request lapsed cannot repeat it.
"""

import logging
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from results.errors import ReviewRefusedError, contained
from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.models import Run, Takedown

log = logging.getLogger(__name__)
LIMIT = timedelta(hours=72)
CONFIRMED_KIND = "run-takedown-confirmed"


def request_takedown(run: Run, operator: AbstractBaseUser, ground: Takedown.Ground, note: str = "") -> Takedown:
    """Withhold a public run at once. Raises ReviewRefusedError for other runs, and for a repeated lapsed request."""
    with transaction.atomic():
        locked = visibility.lock_run(run)
        if locked.takedowns.filter(end=Takedown.End.LAPSED, requested_by=operator.pk).exists():
            raise ReviewRefusedError(
                f"Your request for {run.public_id} lapsed before. Another operator has to request this takedown."
            )
        now = timezone.now()
        before = visibility.sequester(locked, operator, ground.label, {"ground": ground.value})
        return Takedown.objects.create(
            run=locked,
            before=before,
            ground=ground,
            note=note,
            requested_by_id=operator.pk,
            requested_at=now,
            lapses_at=now + LIMIT,
        )


def confirm_takedown(takedown: Takedown, operator: AbstractBaseUser) -> None:
    """Confirm the request of another operator. Raises ReviewRefusedError for an own, a confirmed or a lapsed one."""
    with transaction.atomic():
        locked = _lock(takedown)
        if locked.requested_by_id == operator.pk:
            raise ReviewRefusedError(
                f"You requested the takedown of {locked.run.public_id}. Another operator has to confirm it."
            )
        if locked.confirmed_at is not None:
            raise ReviewRefusedError(f"The takedown of {locked.run.public_id} is confirmed already.")
        now = timezone.now()
        if locked.lapses_at <= now:
            raise ReviewRefusedError(
                f"The request for {locked.run.public_id} lapsed on {locked.lapses_at:%Y-%m-%d %H:%M} UTC. Another "
                "operator can request the takedown again."
            )
        Takedown.objects.filter(pk=locked.pk).update(confirmed_by=operator.pk, confirmed_at=now)
        details = {"ground": locked.ground}
        record_event(operator, CONFIRMED_KIND, run_subject(locked.run), Takedown.Ground(locked.ground).label, details)


def end_takedown(takedown: Takedown, operator: AbstractBaseUser, reason: str) -> None:
    """End a takedown; everyone sees the result again, with the reason in its history."""
    with transaction.atomic():
        _end(_lock(takedown), operator, Takedown.End.RELEASED, reason)


def sweep_takedowns() -> int:
    """End the requests that no second operator confirmed in time, and return their number."""
    lapsed = 0
    for takedown in current_takedowns().filter(_is_lapsed()).order_by("pk"):
        with contained(log, "takedown of %s: it could not be ended", takedown.run_id), transaction.atomic():
            visibility.lock_run(takedown.run)
            still = current_takedowns().filter(_is_lapsed(), pk=takedown.pk).first()
            if still is not None:  # no operator was faster
                _end(still, None, Takedown.End.LAPSED, Takedown.End.LAPSED.label)
                lapsed += 1
    return lapsed


def current_takedowns() -> QuerySet[Takedown]:
    """Return the takedowns that withhold a run now, confirmed or not."""
    return Takedown.objects.filter(ended_at__isnull=True).select_related("run")


def takedown_of(run: Run) -> Takedown | None:
    """Return the takedown by which a run is withheld; None if it is not."""
    return current_takedowns().filter(run=run).first()


def _is_lapsed() -> Q:
    return Q(confirmed_at__isnull=True, lapses_at__lte=timezone.now())


def _lock(takedown: Takedown) -> Takedown:
    """Lock the run of a takedown, and return the takedown. Raises ReviewRefusedError if it has ended."""
    visibility.lock_run(takedown.run)
    current = current_takedowns().filter(pk=takedown.pk).first()
    if current is None:
        raise ReviewRefusedError(f"The takedown of {takedown.run.public_id} has ended.")
    return current


def _end(takedown: Takedown, operator: AbstractBaseUser | None, end: Takedown.End, reason: str) -> None:
    visibility.release(takedown.run, operator, reason, {"end": end.value})
    Takedown.objects.filter(pk=takedown.pk).update(
        end=end, ended_by=operator.pk if operator else None, ended_at=timezone.now()
    )
