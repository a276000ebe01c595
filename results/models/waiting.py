"""What a submission waits for: questions and claims of reviewers, and deadlines."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from results.models.evidence import Submission


class Question(models.Model):
    """A question of a reviewer to the organisation of a submission, and its answer. Neither is public."""

    submission = models.ForeignKey(Submission, models.PROTECT, related_name="questions")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    text = models.TextField()
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)
    answer = models.TextField(blank=True)
    lapsed_at = models.DateTimeField(null=True)

    class Meta:
        """Oldest first. A submission has one open question at most; a question is answered or lapses."""

        ordering = ["asked_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission"],
                condition=Q(answered_at__isnull=True, lapsed_at__isnull=True),
                name="one_open_question_per_submission",
            ),
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True, answered_by__isnull=True, answer="")
                | Q(answered_at__isnull=False, answered_by__isnull=False, lapsed_at__isnull=True) & ~Q(answer=""),
                name="answer_has_author_and_time",
            ),
        ]

    def __str__(self) -> str:
        return f"question about {self.submission}"


class ReviewClaim(models.Model):
    """A reviewer who works on a submission, so that another one begins with another. It permits and forbids nothing."""

    submission = models.OneToOneField(Submission, models.CASCADE, related_name="claim")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    claimed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.submission} by {self.reviewer}"


class WaitingStep(models.TextChoices):
    """The next step of a submission that has not ended."""

    READING = "reading"
    IDENTITY = "identity"
    REVIEW = "review"
    ANSWER = "answer"
    EMBARGO_END = "embargo-end"


class Deadline(models.Model):
    """The step that a submission waits for, since when, and until when.

    `near_at` and `overdue_at` are when the sweep announced that the deadline is near, and saw it pass.
    """

    submission = models.OneToOneField(Submission, models.PROTECT, related_name="deadline")
    step = models.CharField(max_length=12, choices=WaitingStep)
    since = models.DateTimeField()
    due_at = models.DateTimeField()
    near_at = models.DateTimeField(null=True)
    overdue_at = models.DateTimeField(null=True)

    class Meta:
        """An index for the sweep."""

        indexes = [models.Index(fields=["due_at"], condition=Q(overdue_at__isnull=True), name="deadline_not_passed")]

    def __str__(self) -> str:
        return f"{self.submission}: {self.step} until {self.due_at}"
