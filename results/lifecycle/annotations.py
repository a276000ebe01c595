"""Annotations: what the register says beside a run's figures, each made and retracted by an event."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.history import record_event, run_subject
from results.lifecycle.visibility import refuse_own
from results.models import Annotation, Run


def annotate(run: Run, text: str, actor: AbstractBaseUser) -> Annotation:
    """Put a sentence beside a run's figures, for everyone who sees the run.

    Raises ReviewRefusedError without a sentence, and where the same one stands there already.
    """
    sentence = text.strip()
    if not sentence:
        raise ReviewRefusedError("An annotation needs a sentence.")
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)  # of two reviewers at once, the second one sees the first
        if run.annotations.standing().filter(text=sentence).exists():
            raise ReviewRefusedError(f"{run.public_id} carries this annotation already.")
        annotation = Annotation.objects.create(run=run, text=sentence, author_id=actor.pk)
        record_event(actor, "run-annotated", run_subject(run), sentence, {"annotation": annotation.pk})
    return annotation


def retract(annotation: Annotation, actor: AbstractBaseUser, reason: str) -> None:
    """Take an annotation from beside the figures; the history keeps it.

    Raises ReviewRefusedError for a run of the actor's own, without a reason, and where it was retracted already.
    """
    run = annotation.run
    refuse_own(run, actor, "retract an annotation of")
    if not reason.strip():
        raise ReviewRefusedError("A reason is needed to retract an annotation.")
    with transaction.atomic():
        standing = Annotation.objects.standing().filter(pk=annotation.pk)
        if not standing.update(retracted_at=timezone.now()):
            raise ReviewRefusedError(f"This annotation of {run.public_id} was retracted already.")
        record_event(
            actor,
            "annotation-retracted",
            run_subject(run),
            reason,
            {"annotation": annotation.pk, "text": annotation.text},
        )
