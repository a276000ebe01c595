"""Approvals: who agreed to make a result public, of which reading and verdict, and the makers of products."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from results.models.evidence import Organisation, Reading
from results.models.run import Run, Verdict


class ApprovedStep(models.TextChoices):
    """A transition that makes a result public, by its name in results/lifecycle/visibility.py."""

    PUBLISH = "publish"
    EMBARGO = "embargo"
    SUPERSEDE = "supersede"
    UNSUPERSEDE = "unsupersede"
    REINSTATE = "reinstate"


class VoidReason(models.TextChoices):
    """Why an approval counts no more."""

    RE_EVALUATED = "re-evaluated", "the reading or the verdict changed"
    SLICES_CHANGED = "slices-changed", "the slice length changed"
    CORRECTED = "corrected", "a stated fact was corrected"
    PRODUCT_CHANGED = "another-product", "another product was assigned"
    RECALLED = "recalled", "the run was returned to review"
    DECLINED = "declined", "a reviewer declined the submission"
    WITHDRAWN = "withdrawn", "the run was withdrawn"
    RETRACTED = "retracted", "its reviewer took it back"


class Approval(models.Model):
    """The consent of one reviewer to one step of a run, of exactly this reading and verdict.

    `reviews_needed` is the setting in force. `organisations` are those of the reviewer at that moment, and
    `organisations_at_submission` those when the log came. `barred_organisations` are the submitting one and those of
    the drive's maker. `carried_out_at` is the time of the step. Triggers (migration 0034) enforce the rules.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="approvals")
    step = models.CharField(max_length=12, choices=ApprovedStep)
    successor = models.ForeignKey(Run, models.PROTECT, null=True, related_name="+")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reading = models.ForeignKey(Reading, models.PROTECT, null=True, related_name="+")
    verdict = models.ForeignKey(Verdict, models.PROTECT, null=True, related_name="+")
    organisations = ArrayField(models.BigIntegerField(), default=list)
    organisations_at_submission = ArrayField(models.BigIntegerField(), default=list)
    barred_organisations = ArrayField(models.BigIntegerField(), default=list)
    reviews_needed = models.PositiveSmallIntegerField()
    note = models.TextField(blank=True)
    approved_at = models.DateTimeField(auto_now_add=True)
    carried_out_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)
    void_reason = models.CharField(max_length=20, choices=VoidReason, blank=True)

    class Meta:
        """Oldest first. No approver belongs to a barred organisation; a reviewer approves a step once."""

        ordering = ["approved_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(organisations__overlap=F("barred_organisations"))
                & ~Q(organisations_at_submission__overlap=F("barred_organisations")),
                name="approver_is_independent",
            ),
            models.CheckConstraint(condition=Q(reviews_needed__in=[1, 2]), name="one_or_two_reviews_needed"),
            models.CheckConstraint(
                condition=Q(voided_at__isnull=True, void_reason="")
                | Q(voided_at__isnull=False, void_reason__in=VoidReason.values),
                name="void_approval_has_its_reason",
            ),
            models.CheckConstraint(
                condition=Q(step=ApprovedStep.SUPERSEDE, successor__isnull=False)
                | ~Q(step=ApprovedStep.SUPERSEDE) & Q(successor__isnull=True),
                name="only_supersede_has_a_successor",
            ),
            models.UniqueConstraint(
                fields=["run", "step", "reviewer"],
                condition=Q(voided_at__isnull=True, carried_out_at__isnull=True),
                name="one_open_approval_per_reviewer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} {self.run} by {self.reviewer}"


class Maker(models.Model):
    """A spelling of `Product.vendor` that means an organisation. Its members approve no result of its drives."""

    spelling = models.CharField(max_length=200)
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="spellings")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Letters count without their case."""

        ordering = ["spelling", "id"]
        constraints = [models.UniqueConstraint(Lower("spelling"), "organisation", name="one_maker_per_spelling")]

    def __str__(self) -> str:
        return f"{self.spelling}: {self.organisation}"
