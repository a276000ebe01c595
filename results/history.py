"""The append-only history: recording an event, reading the history of a run, and the labels of event kinds."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet

from results.models import Event, Run


def displaced_by(run: Run) -> QuerySet[Run]:
    """Return the runs that this one replaced, oldest first, if they have been public."""
    return run.supersedes.filter(visibility__in=["superseded", "withdrawn"]).order_by("pk")


def record_event(
    actor: AbstractBaseUser | None,
    kind: str,
    subject: tuple[str, str],
    reason: str = "",
    details: dict[str, Any] | None = None,
) -> Event:
    """Record one event about a subject, a pair of type and public id. Without an actor, the register itself acts."""
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
    """Return the events of a run and of its submission, in order."""
    of_run = Q(subject_type="run", subject_id=run.public_id)
    if run.submission is None:
        return Event.objects.filter(of_run)
    return Event.objects.filter(of_run | Q(subject_type="submission", subject_id=run.submission.public_id))


EVENT_LABELS = {
    "run-published": "published",
    "run-embargoed": "reviewed, under embargo",
    "run-recalled": "returned to review",
    "run-superseded": "superseded by another run",
    "run-unsuperseded": "no longer superseded",
    "run-withdrawn": "withdrawn",
    "run-reinstated": "reinstated",
    "run-annotated": "annotated",
    "annotation-retracted": "annotation retracted",
    "run-corrected": "corrected",
    "correction-taken-back": "correction reverted",
    "run-changed": "changed with the published catalogue",
    "run-judged-anew": "re-evaluated",
    "submission-slices-changed": "slice length changed",
    "run-not-found-again": "not found by a newer reader",
    "certificate-issued": "issued",
    "certificate-withdrawn": "withdrawn",
    "certificate-reinstated": "reinstated",
}


def event_label(kind: str) -> str:
    """Return the label of an event kind; for an unknown kind, its name."""
    return EVENT_LABELS.get(kind, kind.replace("-", " "))
