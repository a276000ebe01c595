"""Takedowns of public results for legal reasons: one operator requests, a second one confirms within 72 hours.

The result is withheld from the request on. A request that no second operator confirmed lapses, and an operator may end
a takedown at any time; the result then returns to its state before. The operator whose request lapsed cannot repeat it.
The other operators are reminded once before the request lapses: the sweep records an event, whose receivers notify
them.
"""

import logging
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from results.errors import ReviewRefusedError, contained
from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.lifecycle.deadlines import Party, Rule
from results.models import Run, Takedown

log = logging.getLogger(__name__)
LIMIT = timedelta(hours=72)
RULE = Rule(LIMIT, Party.OPERATOR, Takedown.End.LAPSED)
CONFIRMED_KIND, NEAR_KIND = "run-takedown-confirmed", "takedown-deadline-near"


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
    """End the requests that no second operator confirmed in time, and return their number; remind of near limits."""
    lapsed = 0
    for takedown in _unconfirmed().filter(lapses_at__lte=timezone.now() + RULE.reminder_lead).order_by("pk"):
        if _is_due(takedown):
            with contained(log, "takedown of %s: its limit could not be handled", takedown.run_id):
                lapsed += _handle(takedown)
    return lapsed


def _handle(takedown: Takedown) -> bool:
    """End a request whose limit has passed, or record a reminder. Return whether it ended."""
    with transaction.atomic():
        visibility.lock_run(takedown.run)
        still = _unconfirmed().filter(pk=takedown.pk).first()
        if still is None or not _is_due(still):  # an operator, or another worker, was faster
            return False
        if still.lapses_at <= timezone.now():
            _end(still, None, Takedown.End.LAPSED, Takedown.End.LAPSED.label)
            return True
        _remind(still)
        return False


def _is_due(takedown: Takedown) -> bool:
    """Return whether the sweep has something to do, so that most requests are neither locked nor written."""
    return takedown.lapses_at <= timezone.now() or RULE.is_near(takedown.lapses_at, takedown.reminded_at)


def _remind(takedown: Takedown) -> None:
    """Record that a request lapses soon. The event is not about the run: everyone reads the history of a run."""
    Takedown.objects.filter(pk=takedown.pk).update(reminded_at=timezone.now())
    stated = {"party": RULE.party.value, "deadline": takedown.lapses_at.isoformat()}
    record_event(None, NEAR_KIND, ("takedown", takedown.run.public_id), "", stated)


def current_takedowns() -> QuerySet[Takedown]:
    """Return the takedowns that withhold a run now, confirmed or not."""
    return Takedown.objects.filter(ended_at__isnull=True).select_related("run")


def takedown_of(run: Run) -> Takedown | None:
    """Return the takedown by which a run is withheld; None if it is not."""
    return current_takedowns().filter(run=run).first()


def _unconfirmed() -> QuerySet[Takedown]:
    return current_takedowns().filter(confirmed_at__isnull=True)


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
