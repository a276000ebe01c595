"""Decisions of a reviewer about a submission. Each decision is one transaction with one event and deletes nothing."""

from collections.abc import Sequence
from typing import Literal

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import record_event
from results.ingest.rows import Identity, identity_of, match_product
from results.ingest.several_drives import SeveralDrivesError, drives_of_runs
from results.lifecycle import approvals, visibility
from results.lifecycle.questions import open_question
from results.lifecycle.review_claims import release
from results.lifecycle.submission_states import DECLINED_KIND, SubmissionState, with_state
from results.models import Approval, Event, Product, Run, Submission, Visibility, VoidReason
from results.naming.addresses import current_product, free_slug, locked_for_runs
from results.naming.aliases import add_alias, name_key

QUESTION_OPEN = "A question of a reviewer waits for its answer. Approve the submission after the answer."
NAMED_KIND = "identity-named"
OWN = visibility.OWN_RUN
REQUIRED_IDENTITY: tuple[Literal["category", "vendor", "model"], ...] = ("category", "vendor", "model")


def publish(submission: Submission, reviewer: AbstractBaseUser, warnings: Sequence[str] = ()) -> bool:
    """Publish all runs of the submission that wait for review, or none; under embargo, only mark them as reviewed.

    Return False if a run still needs the approval of another reviewer; then this one's is stored.

    A log that the same organisation has in another public submission is left out; it goes on waiting.

    `warnings` are those that the reviewer saw and accepted; they are stored in the event of each run.

    Raises SeveralDrivesError if the side files name several drives: the submission has one product.

    Raises ReviewRefusedError if no run waits for review, or if a run may not be published
    (results.lifecycle.visibility.publish).
    """
    if submission.submitted_by_id == reviewer.pk:
        raise ReviewRefusedError("You sent this submission yourself; another reviewer has to publish it.", OWN)
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        waiting = list(locked.runs.filter(visibility=Visibility.UNREVIEWED).order_by("pk"))
        if not waiting:
            raise ReviewRefusedError("No run of this submission waits for review.", "nothing-waits")
        if open_question(locked) is not None:
            raise ReviewRefusedError(QUESTION_OPEN, "question-open")
        if drives := drives_of_runs(waiting):
            raise SeveralDrivesError(drives)
        done = [_publish_unless_known(run, reviewer, warnings) for run in waiting]
        release(locked, reviewer)
        refusals = [each for each in done if isinstance(each, visibility.SameLogError)]
        if len(refusals) == len(waiting):
            raise refusals[0]
    return all(is_done for is_done in done if isinstance(is_done, bool))


def _publish_unless_known(
    run: Run, reviewer: AbstractBaseUser, warnings: Sequence[str]
) -> bool | visibility.SameLogError:
    """Publish a run, or return the refusal if its log is public already: the other logs of an archive may be new."""
    try:
        return visibility.publish(run, reviewer, warnings)
    except visibility.SameLogError as refusal:
        return refusal


def retract_approval(submission: Submission, reviewer: AbstractBaseUser) -> None:
    """Take back the reviewer's approvals of the runs that wait for review. Raises ReviewRefusedError without any."""
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        own = Approval.objects.filter(reviewer=reviewer.pk, voided_at=None, carried_out_at=None)
        approved = list(locked.runs.filter(visibility=Visibility.UNREVIEWED, pk__in=own.values("run")).order_by("pk"))
        if not approved:
            raise ReviewRefusedError("You have no open approval of this submission.", "no-approval")
        for run in approved:
            approvals.retract_approval(run, reviewer)


def decline(submission: Submission, reviewer: AbstractBaseUser, reason: str) -> None:
    """Remove the submission from the review queue. Its owners keep its runs and see the reason.

    If some of its runs are past review, the decision is about the runs that wait for it; the others do not change.
    """
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if locked.runs.exists() and not locked.runs.filter(visibility=Visibility.UNREVIEWED).exists():
            raise ReviewRefusedError(
                "The submission is published, or waits for the end of its embargo. Withdraw or recall its runs "
                "instead.",
                "past-review",
            )
        for run in locked.runs.filter(visibility=Visibility.UNREVIEWED):
            approvals.void_approvals(run, VoidReason.DECLINED)
        release(locked, reviewer)
        record_event(reviewer, DECLINED_KIND, ("submission", locked.public_id), reason)


def name_product(submission: Submission, product: Product, reviewer: AbstractBaseUser) -> None:
    """Set the product of a submission and of its runs, and replace an earlier one.

    The decision is stored as an alias: later submissions that state the same name get the same product. Those that
    wait for a product with the same name get it too (`named_with`).
    """
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if locked.demo_run_id:
            raise ReviewRefusedError("The submission is an example of the register. An example run has no product.")
        before, product = locked.product, locked_for_runs(product)
        if before is not None and before != product:
            for run in locked.runs.order_by("pk"):
                reason = f"assigned to the product {product}"
                visibility.require_new_approvals(run, reviewer, VoidReason.PRODUCT_CHANGED, reason)
        Submission.objects.filter(pk=locked.pk).update(product=product)
        locked.runs.update(product=product)
        details = {"before": before.slug if before else "", "after": product.slug}
        record_event(reviewer, NAMED_KIND, ("submission", locked.public_id), "", details)
        add_alias(identity_of(locked), product, reviewer)
        _name_waiting(locked, product, reviewer)
        refresh_certificates([before.pk if before else None, product.pk])


def named_with(submission: Submission) -> list[str]:
    """Return the ids of the submissions that got their product by a decision about this one."""
    events = Event.objects.filter(kind=NAMED_KIND, details__with=submission.public_id).order_by("pk")
    return list(dict.fromkeys(events.values_list("subject_id", flat=True)))


def _name_waiting(submission: Submission, product: Product, reviewer: AbstractBaseUser) -> None:
    """Set the product of the other submissions that state the same name and wait for a product.

    A submission of another organisation gets it only if a new one of theirs would: match_product() decides. One that
    another reviewer handles at this moment is left out.
    """
    waiting = with_state(Submission.objects.filter(product=None)).filter(state=SubmissionState.AWAITING_IDENTITY)
    key = name_key(identity_of(submission))
    alike = [each.pk for each in waiting.order_by("pk") if name_key(identity_of(each)) == key]
    for other in Submission.objects.select_for_update(skip_locked=True).filter(pk__in=alike, product=None):
        if match_product(other) != product:
            continue
        other.product = product
        other.save(update_fields=["product"])
        other.runs.update(product=product)
        details = {"before": "", "after": product.slug, "with": submission.public_id}
        record_event(reviewer, NAMED_KIND, ("submission", other.public_id), "", details)


def create_product(submission: Submission, reviewer: AbstractBaseUser, stated: Identity | None = None) -> Product:
    """Create and set the product that the reviewer states, or else the submission. An equal product is used instead."""
    identity = stated or identity_of(submission)
    missing = [name for name in REQUIRED_IDENTITY if not identity[name]]
    if missing:
        raise ReviewRefusedError(
            f"Not stated: {', '.join(missing)}. State the missing facts, or choose an existing product."
        )
    with transaction.atomic():
        slug = free_slug(identity["vendor"], identity["model"], identity["capacity_gb"])
        product, is_new = Product.objects.get_or_create(**identity, defaults={"slug": slug})
        if is_new:
            record_event(reviewer, "product-created", ("product", product.slug), "", {"from": submission.public_id})
        name_product(submission, product, reviewer)
    return current_product(product)
