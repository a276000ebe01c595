"""Approvals of the steps that make a result public: who may approve, how many are needed, and when they become void.

Each step needs REVIEWS_NEEDED approvals by different reviewers, of the same reading and verdict. No approver belongs to
the submitting organisation or to the drive's maker. The database enforces the same (migration 0034).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.postgres.functions import TransactionNow
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from results.errors import ReviewRefusedError
from results.history import APPROVED_KIND, RETRACTED_KIND, record_event, run_subject
from results.models import Approval, ApprovedStep, Maker, Organisation, Run, Tier, Visibility, VoidReason
from results.rules.plural import listed

# An embargo does not change what is approved: its approvals count for a publication at once, and the other way round.
PUBLICATION = frozenset({ApprovedStep.PUBLISH, ApprovedStep.EMBARGO})


@dataclass(frozen=True)
class Progress:
    """The number of approvals that a step has, and the number that it needs."""

    given: int
    needed: int

    @property
    def is_enough(self) -> bool:
        """Return whether the step may be carried out."""
        return self.given >= self.needed


def needs_approvals(run: Run) -> bool:
    """Return whether the steps of a run need approvals: not for published figures, mirrored runs and examples."""
    is_mirrored = run.submission_id is None and run.reading_id is None
    return not (run.tier == Tier.PUBLISHED or is_mirrored or run.is_demo)


def approve(
    run: Run, step: ApprovedStep, reviewer: AbstractBaseUser, note: str, successor: Run | None = None
) -> Progress:
    """Store the approval of a reviewer for a step of a locked run, and return how many there are now.

    Raises ReviewRefusedError if the reviewer belongs to a barred organisation, or approved the step already.
    """
    now = timezone.now()
    barred = barred_organisations(run)
    organisations = organisations_of(reviewer, now)
    at_submission = organisations_of(reviewer, run.submission.received_at) if run.submission else frozenset()
    _refuse_member(run, barred & (organisations | at_submission))
    same = open_approvals(run, step, successor)
    if same.filter(reviewer=reviewer.pk).exists():
        raise ReviewRefusedError(
            f"You have approved this step of run {run.public_id} already. It needs another reviewer as well.",
            "already-approved",
        )
    verdict = run.verdicts.first()
    Approval.objects.filter(reviewer=reviewer.pk, run=run, step=step).filter(_open()).update(
        voided_at=now, void_reason=VoidReason.RETRACTED
    )  # of another successor: one reviewer supports one
    approval = Approval.objects.create(
        run=run,
        step=step,
        successor=successor,
        reviewer_id=reviewer.pk,
        reading_id=run.reading_id,
        verdict=verdict,
        organisations=sorted(organisations),
        organisations_at_submission=sorted(at_submission),
        barred_organisations=sorted(barred),
        reviews_needed=settings.REVIEWS_NEEDED,
        note=note,
    )
    progress = progress_of(run, step, successor)
    if not progress.is_enough:
        details = {"step": step.value, "approval": approval.pk, "given": progress.given, "needed": progress.needed}
        record_event(reviewer, APPROVED_KIND, run_subject(run), note, details)
    return progress


def carry_out(run: Run, step: ApprovedStep, successor: Run | None = None) -> None:
    """Mark the approvals of a step as used; the trigger of the run compares the time with that of its transaction."""
    open_approvals(run, step, successor).update(carried_out_at=TransactionNow())


def progress_of(run: Run, step: ApprovedStep, successor: Run | None = None) -> Progress:
    """Return how many approvals a step has and needs; the setting may have changed between two approvals."""
    given = list(open_approvals(run, step, successor).values_list("reviewer", "reviews_needed"))
    needed = max([settings.REVIEWS_NEEDED, *(each for _, each in given)])
    return Progress(len({reviewer for reviewer, _ in given}), needed)


def open_approvals(run: Run, step: ApprovedStep, successor: Run | None = None) -> QuerySet[Approval]:
    """Return the valid approvals of a step that was not carried out, oldest first."""
    steps = PUBLICATION if step in PUBLICATION else {step}
    return Approval.objects.filter(_open(), run=run, step__in=steps, successor=successor)


def counted_approvals(run: Run) -> list[Approval]:
    """Return the approvals by which a run is public, or reviewed under embargo, each reviewer once.

    They are those of its last publication or reinstatement.
    """
    steps = [*PUBLICATION, ApprovedStep.REINSTATE]
    carried_out = run.approvals.filter(step__in=steps, carried_out_at__isnull=False, voided_at__isnull=True)
    last = carried_out.order_by("-carried_out_at", "-pk").first()
    if last is None:
        return []
    rows = carried_out.filter(carried_out_at=last.carried_out_at).order_by("approved_at", "pk")
    return list({approval.reviewer_id: approval for approval in rows}.values())


def has_approvals(run: Run) -> bool:
    """Return whether a reviewed run still has the approvals by which it was reviewed, or never needed any."""
    return not needs_approvals(run) or run.predates_approvals or bool(counted_approvals(run))


def void_approvals(run: Run, reason: VoidReason) -> None:
    """Make the open approvals of a run void, and those of a run under embargo. The cause has an event of its own.

    Approvals of a step of the past stay valid: they say who agreed to it.
    """
    affected = Approval.objects.filter(run=run, voided_at__isnull=True)
    if run.visibility != Visibility.EMBARGOED:
        affected = affected.filter(carried_out_at__isnull=True)
    affected.update(voided_at=timezone.now(), void_reason=reason)


def retract_approval(run: Run, reviewer: AbstractBaseUser) -> None:
    """Take back the open approvals of a reviewer. Raises ReviewRefusedError without any."""
    own = Approval.objects.filter(_open(), run=run, reviewer=reviewer.pk)
    with transaction.atomic():
        steps = sorted(own.values_list("step", flat=True))
        if not own.update(voided_at=timezone.now(), void_reason=VoidReason.RETRACTED):
            raise ReviewRefusedError(f"You have no open approval of run {run.public_id}.", "no-approval")
        record_event(reviewer, RETRACTED_KIND, run_subject(run), "", {"steps": steps})


def barred_organisations(run: Run) -> frozenset[int]:
    """Return the organisations whose members approve nothing of a run: the submitting one, and the drive's maker.

    The maker is an organisation with the vendor's name, or one that the table of makers links to it.
    """
    barred = {run.submission.organisation_id} if run.submission else set()
    if run.product is not None:
        vendor = run.product.vendor
        barred |= set(Maker.objects.filter(spelling__iexact=vendor).values_list("organisation", flat=True))
        barred |= set(Organisation.objects.filter(name__iexact=vendor).values_list("pk", flat=True))
    return frozenset(barred)


def is_barred(run: Run, user: AbstractBaseUser) -> bool:
    """Return whether a reviewer belongs, or belonged at the submission, to an organisation that bars them."""
    own = organisations_of(user, timezone.now())
    if run.submission:
        own |= organisations_of(user, run.submission.received_at)
    return bool(own & barred_organisations(run))


def _refuse_member(run: Run, organisations: frozenset[int]) -> None:
    if organisations:
        names = Organisation.objects.filter(pk__in=organisations).order_by("name").values_list("name", flat=True)
        raise ReviewRefusedError(
            f"You belong to {listed(list(names))}, or did when the log of run {run.public_id} was submitted. That "
            "organisation submitted the run or makes the drive, so a reviewer of another one has to approve it.",
            "barred-organisation",
        )


def organisations_of(user: AbstractBaseUser, moment: datetime) -> frozenset[int]:
    """Return the organisations to which a user belonged at a moment."""
    organisations_at: Callable[[int, datetime], frozenset[int]] = import_string(settings.ORGANISATIONS_OF_REVIEWERS)
    return organisations_at(user.pk, moment)


def _open() -> Q:
    return Q(voided_at__isnull=True, carried_out_at__isnull=True)
