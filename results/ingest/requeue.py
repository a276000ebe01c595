"""A reading that failed is put back into the queue: by the operator, or because the sender asks for other slices."""

from functools import partial

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.models import Event, Reading, Submission
from results.signals import reading_pending

QUEUED_AFRESH = {
    "state": Reading.State.PENDING,
    "counted_attempts": 0,
    "next_attempt_at": None,
    "error": None,
    "findings": [],
    "finished_at": None,
}


def retry_reading(submission: Submission, actor: AbstractBaseUser | None, details: dict[str, object]) -> bool:
    """Queue the submission's reading once more and write the event; False where it has not failed."""
    with transaction.atomic():
        # The filter of the update decides: of two that ask at once, one finds the reading failed.
        failed = Reading.objects.filter(evidence=submission.log_id, state=Reading.State.FAILED)
        reading = failed.order_by("-created_at", "-pk").first()
        if reading is None or not failed.filter(pk=reading.pk).update(**QUEUED_AFRESH):
            return False
        error_id = reading.error["id"] if reading.error else ""
        Event.objects.create(
            actor_id=actor.pk if actor else None,
            kind="reading-queued-again",
            subject_type="submission",
            subject_id=submission.public_id,
            details={"reading": reading.pk, "error": error_id} | details,
        )
        notify_reader(reading.pk)
    return True


def notify_reader(reading_id: int) -> None:
    """Tell the listeners after the commit; what they raise is logged by Django and undoes nothing."""
    transaction.on_commit(partial(reading_pending.send_robust, sender=Reading, reading_id=reading_id))
