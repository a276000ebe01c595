"""What a reviewer decides about a submission: each decision is one transaction and one event, and deletes nothing."""

from collections.abc import Iterable
from typing import Literal

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.identity import Identity, identity_of
from results.models import Event, Product, Run, Submission, Tier, Verdict, Visibility, YcsbRun
from results.slugs import new_product_slug, product_stem
from results.submission_states import DECLINED_KIND

REQUIRED_IDENTITY: tuple[Literal["category", "vendor", "model"], ...] = ("category", "vendor", "model")


class ReviewRefusedError(Exception):
    """The decision is not this reviewer's to take, or not now; the sentence says why."""


def publish(submission: Submission, reviewer: AbstractBaseUser) -> None:
    """Show the submission's runs to everyone, as reviewed or, from a lab of the register, as lab-verified.

    Raises ReviewRefusedError for the reviewer's own submission, without a product, of a virtual device, and where
    nothing waits.
    """
    if submission.submitted_by_id == reviewer.pk:
        raise ReviewRefusedError("You sent this submission yourself; another reviewer has to publish it.")
    with transaction.atomic():
        held = Submission.objects.select_for_update().get(pk=submission.pk)
        if held.is_virtual:
            raise ReviewRefusedError(
                "It ran on a virtual device (loop, zram, file, or a disk without a name of its own), which never "
                "certifies: it cannot be published; decline it."
            )
        if held.product_id is None:
            raise ReviewRefusedError("No product is named yet; choose or create one first.")
        waiting = list(held.runs.filter(visibility=Visibility.UNREVIEWED))
        if not waiting:
            raise ReviewRefusedError("No run of this submission waits for review.")
        _refuse_void(waiting)
        for run in waiting:
            _publish_run(run, reviewer)


def _refuse_void(runs: Iterable[Run]) -> None:
    """A void run is no valid measurement: its shares would head a table that ranks the lowest first."""
    for run in runs:
        verdict = run.verdicts.first()
        if verdict is not None and verdict.outcome == Verdict.Outcome.VOID:
            raise ReviewRefusedError(f"{run.public_id} is {verdict.headline}. A void run is not published; decline it.")
        if YcsbRun.objects.filter(run=run, validity=YcsbRun.Validity.INVALID).exists():
            raise ReviewRefusedError(f"{run.public_id} is no valid run of YCSB. It is not published; decline it.")


def _publish_run(run: Run, reviewer: AbstractBaseUser) -> None:
    if run.tier != Tier.LAB_VERIFIED:
        run.tier = Tier.REVIEWED
    run.visibility = Visibility.PUBLIC
    run.published_at = timezone.now()
    run.save(update_fields=["tier", "visibility", "published_at"])
    _tell(reviewer, "run-published", "run", run.public_id, "")


def decline(submission: Submission, reviewer: AbstractBaseUser, reason: str) -> None:
    """Take the submission out of the queue; its runs stay with their owners. The reason is shown to them."""
    with transaction.atomic():
        held = Submission.objects.select_for_update().get(pk=submission.pk)
        if held.runs.exclude(visibility=Visibility.UNREVIEWED).exists():
            raise ReviewRefusedError("It is published already; withdraw its runs instead.")
        _tell(reviewer, DECLINED_KIND, "submission", held.public_id, reason)


def withdraw(run: Run, reviewer: AbstractBaseUser, reason: str) -> None:
    """Mark a public run as withdrawn: it stays readable, with the notice and the reason."""
    public = Run.objects.filter(pk=run.pk, visibility=Visibility.PUBLIC)
    with transaction.atomic():
        if not public.update(visibility=Visibility.WITHDRAWN):
            raise ReviewRefusedError(f"{run.public_id} is not public; there is nothing to withdraw.")
        _tell(reviewer, "run-withdrawn", "run", run.public_id, reason)


def name_product(submission: Submission, product: Product, reviewer: AbstractBaseUser) -> None:
    """Say which product a submission and its runs speak of, in place of what was said before."""
    with transaction.atomic():
        held = Submission.objects.select_for_update().get(pk=submission.pk)
        before = held.product.slug if held.product else ""
        Submission.objects.filter(pk=held.pk).update(product=product)
        held.runs.update(product=product)
        details = {"before": before, "after": product.slug}
        _tell(reviewer, "identity-named", "submission", held.public_id, "", details)


def create_product(submission: Submission, reviewer: AbstractBaseUser, stated: Identity | None = None) -> Product:
    """Enter the product that the reviewer states, else the submission, and name it; an equal one is taken instead."""
    identity = stated or identity_of(submission)
    missing = [name for name in REQUIRED_IDENTITY if not identity[name]]
    if missing:
        raise ReviewRefusedError(f"Not stated: {', '.join(missing)}. State it, or choose an existing product.")
    with transaction.atomic():
        product, is_new = Product.objects.get_or_create(**identity, defaults={"slug": _new_slug(identity)})
        if is_new:
            _tell(reviewer, "product-created", "product", product.slug, "", {"from": submission.public_id})
        name_product(submission, product, reviewer)
    return product


def _new_slug(identity: Identity) -> str:
    named = (identity["vendor"], identity["model"], identity["capacity_gb"])
    namesakes = Product.objects.filter(slug__startswith=product_stem(*named))
    return new_product_slug(*named, set(namesakes.values_list("slug", flat=True)))


def _tell(
    actor: AbstractBaseUser,
    kind: str,
    subject_type: str,
    subject_id: str,
    reason: str,
    details: dict[str, str] | None = None,
) -> None:
    Event.objects.create(
        actor_id=actor.pk,
        kind=kind,
        subject_type=subject_type,
        subject_id=subject_id,
        reason=reason,
        details=details or {},
    )
