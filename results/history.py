"""The append-only history: who writes an event, and how the history of a run is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from results.models import Event, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet


def displaced_by(run: Run) -> QuerySet[Run]:
    """Return the runs in whose place this one stands, by age: those that have been public."""
    return run.supersedes.filter(visibility__in=["superseded", "withdrawn"]).order_by("pk")


def record_event(
    actor: AbstractBaseUser | None,
    kind: str,
    subject: tuple[str, str],
    reason: str = "",
    details: dict[str, Any] | None = None,
) -> Event:
    """Write one event about a subject, a pair of its type and public id; no actor is the register itself."""
    subject_type, subject_id = subject
    return Event.objects.create(
        actor_id=actor.pk if actor else None,
        kind=kind,
        subject_type=subject_type,
        subject_id=subject_id,
        reason=reason,
        details=details or {},
    )


def run_subject(run: Run) -> tuple[str, str]:
    """Return a run as the subject of an event."""
    return "run", run.public_id


def history_of(run: Run) -> QuerySet[Event]:
    """Return what was done to a run and to the submission it came with, in order."""
    of_run = Q(subject_type="run", subject_id=run.public_id)
    if run.submission is None:
        return Event.objects.filter(of_run)
    return Event.objects.filter(of_run | Q(subject_type="submission", subject_id=run.submission.public_id))
