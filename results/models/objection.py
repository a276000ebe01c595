"""Objections to public results: their states, their attachments, the reply of the submitter, and the outcome."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from results.models.evidence import SHA256_HEX_CHARS, Organisation
from results.models.ids import new_objection_id
from results.models.run import Run


class ObjectionState(models.TextChoices):
    """In the order they are passed. results/lifecycle/objections.py has the limit of each one that is not final."""

    RECEIVED = "received", "waits for a reviewer to admit or refuse it"
    ADMISSION_OVERDUE = "admission-overdue", "waits for a reviewer, after the limit"
    REFUSED = "refused", "refused"
    WITHDRAWN = "withdrawn", "withdrawn by the person who filed it"
    ADMITTED = "admitted", "admitted; waits for the reply of the submitter"
    UNANSWERED = "unanswered", "not replied to in time; waits for the decision of a reviewer"
    IN_DECISION = "in-decision", "waits for the decision of a reviewer"
    DECISION_OVERDUE = "decision-overdue", "waits for the decision of a reviewer, after the limit"
    UPHELD = "upheld", "upheld"
    REJECTED = "rejected", "rejected"


BEFORE_ADMISSION = (ObjectionState.RECEIVED, ObjectionState.ADMISSION_OVERDUE)
NEVER_ADMITTED = (ObjectionState.REFUSED, ObjectionState.WITHDRAWN)
AFTER_ADMISSION = (
    ObjectionState.ADMITTED,
    ObjectionState.UNANSWERED,
    ObjectionState.IN_DECISION,
    ObjectionState.DECISION_OVERDUE,
)
DECIDED = (ObjectionState.UPHELD, ObjectionState.REJECTED)
ADMITTED_STATES = (*AFTER_ADMISSION, *DECIDED)
FINAL_STATES = (*NEVER_ADMITTED, *DECIDED)
MIRRORED, ADMITTED_HERE = Q(filed_by__isnull=True), Q(admitted_by__isnull=False)


class ObjectionQuerySet(models.QuerySet["Objection"]):
    """Objections by who may read them."""

    def admitted(self) -> "ObjectionQuerySet":
        """Return the objections that a reviewer admitted, also decided ones, except those of withheld runs."""
        return self.filter(state__in=ADMITTED_STATES, run__in=Run.objects.public())

    def waiting(self) -> "ObjectionQuerySet":
        """Return the objections about which this register decides later, except those of withheld runs."""
        own = self.filter(filed_by__isnull=False)
        return own.exclude(state__in=FINAL_STATES).filter(run__in=Run.objects.public())


class Objection(models.Model):
    """An objection of a user to a public result. Everyone reads it once a reviewer has admitted it.

    `organisation` is the one that the page names. `organisations` are all of the filer at the filing: none of their
    members decides about it. `deadline` is the end of the limit of the current state; null for a final state.
    `reminded_at` is when the sweep announced that this deadline is near.

    An objection without `filed_by` came with the dump of another register, which admitted it and decides about it.
    """

    class Refusal(models.TextChoices):
        """Why a reviewer did not admit it. Everyone reads how often."""

        NO_EVIDENCE = "no-evidence", "it names no evidence"
        OTHER_SUBJECT = "other-subject", "it is not about this result"
        DUPLICATE = "duplicate", "another objection states the same"
        UNCLEAR = "unclear", "it cannot be understood"
        UNLAWFUL = "unlawful", "it contains personal data or unlawful content"

    class Outcome(models.TextChoices):
        """What a reviewer decided. The first three uphold the objection, and name the step that follows."""

        WITHDRAW = "withdraw", "a reviewer has to withdraw the result"
        ANNOTATE = "annotate", "a reviewer has to annotate the result"
        CORRECT = "correct", "a reviewer has to correct stated facts of the result"
        NOT_SHOWN = "not-shown", "the evidence does not support it"
        NOT_AFFECTED = "not-affected", "the facts are right, but do not affect the result"
        KNOWN = "known", "the page of the result states it already"

    run = models.ForeignKey(Run, models.PROTECT, related_name="objections")
    public_id = models.CharField(max_length=20, unique=True, default=new_objection_id)
    filed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    filed_at = models.DateTimeField()
    organisation = models.ForeignKey(Organisation, models.PROTECT, null=True, related_name="+")
    organisations = ArrayField(models.BigIntegerField(), default=list)
    text = models.TextField()
    state = models.CharField(max_length=20, choices=ObjectionState, default=ObjectionState.RECEIVED)
    state_since = models.DateTimeField()
    deadline = models.DateTimeField(null=True)
    reminded_at = models.DateTimeField(null=True)
    admitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    admitted_at = models.DateTimeField(null=True)
    refusal = models.CharField(max_length=20, choices=Refusal, blank=True)
    refusal_note = models.TextField(blank=True)
    refused_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reply = models.TextField(blank=True)
    replied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    replied_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=20, choices=Outcome, blank=True)
    outcome_note = models.TextField(blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    objects = ObjectionQuerySet.as_manager()

    class Meta:
        """Oldest first. A user has one open objection to a run; nobody decides about an own objection."""

        ordering = ["filed_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "filed_by"],
                condition=~Q(state__in=FINAL_STATES),
                name="one_open_objection_of_a_user_to_a_run",
            ),
            models.CheckConstraint(
                condition=~Q(admitted_by=F("filed_by")) & ~Q(refused_by=F("filed_by")) & ~Q(decided_by=F("filed_by")),
                name="objection_is_not_decided_by_its_filer",
            ),
            models.CheckConstraint(
                condition=Q(state__in=FINAL_STATES, deadline__isnull=True)
                | ~Q(state__in=FINAL_STATES) & Q(deadline__isnull=False),
                name="open_objection_has_a_deadline",
            ),
            models.CheckConstraint(
                condition=Q(state__in=ADMITTED_STATES, admitted_at__isnull=False) & (MIRRORED | ADMITTED_HERE)
                | ~Q(state__in=ADMITTED_STATES)
                & ~MIRRORED
                & Q(admitted_at__isnull=True, admitted_by__isnull=True, reply=""),
                name="only_admitted_objections_are_public",
            ),
            models.CheckConstraint(
                condition=Q(state=ObjectionState.REFUSED, refused_by__isnull=False) & ~Q(refusal="")
                | ~Q(state=ObjectionState.REFUSED) & Q(refusal="", refused_by__isnull=True),
                name="refused_objection_has_its_reason",
            ),
            models.CheckConstraint(
                condition=Q(reply="", replied_at__isnull=True, replied_by__isnull=True)
                | ~Q(reply="") & Q(replied_at__isnull=False) & (MIRRORED | Q(replied_by__isnull=False)),
                name="reply_to_objection_has_author_and_time",
            ),
            models.CheckConstraint(
                condition=Q(state__in=DECIDED, decided_at__isnull=False)
                & (MIRRORED | Q(decided_by__isnull=False))
                & ~Q(outcome="")
                | ~Q(state__in=DECIDED) & Q(decided_by__isnull=True, decided_at__isnull=True, outcome=""),
                name="decided_objection_has_its_outcome",
            ),
        ]
        indexes = [
            models.Index(fields=["deadline"], condition=Q(deadline__isnull=False), name="objection_by_deadline"),
            models.Index(fields=["filed_by", "filed_at"], name="objection_by_filer"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_admitted(self) -> bool:
        """Return whether everyone may read it, as long as its run is public."""
        return self.state in ADMITTED_STATES

    @property
    def is_mirrored(self) -> bool:
        """Return whether it came with the dump of another register, which decides about it."""
        return self.filed_by_id is None

    @property
    def is_final(self) -> bool:
        """Return whether nothing more happens to it."""
        return self.state in FINAL_STATES


class ObjectionFile(models.Model):
    """An attachment of an objection. Its bytes are in the evidence store; no page ever shows their content."""

    objection = models.ForeignKey(Objection, models.PROTECT, related_name="files")
    filename = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=SHA256_HEX_CHARS)
    size_bytes = models.BigIntegerField()

    class Meta:
        """In the order of the form; the same bytes once."""

        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["objection", "sha256"], name="objection_file_once")]

    def __str__(self) -> str:
        return f"{self.filename} of {self.objection_id}"
