"""Files that are hidden on request of the organisation that sent them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from results.models.evidence import Evidence, Submission


class HiddenFile(models.Model):
    """A stored file that only operators see since `requested_at`; its bytes stay.

    `submission` is the one on whose page an owner requested it. `note` is for operators only. Everyone who sees the
    page of a result reads the reason. Evidence.hidden is true as long as the row has no end
    (results/lifecycle/hidden_files.py).
    """

    class Reason(models.TextChoices):
        """Why the file must not be read."""

        PERSONAL_DATA = "personal-data", "personal data"
        CONFIDENTIAL = "confidential", "confidential content"
        WRONG_FILE = "wrong-file", "wrong file"

    evidence = models.ForeignKey(Evidence, models.PROTECT, related_name="hidings")
    submission = models.ForeignKey(Submission, models.PROTECT, related_name="hidings")
    reason = models.CharField(max_length=20, choices=Reason)
    note = models.TextField(blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    requested_at = models.DateTimeField()
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)
    end_reason = models.TextField(blank=True)

    class Meta:
        """Newest first. A file is hidden once at a time; an end has an operator and a reason."""

        ordering = ["-requested_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["evidence"], condition=Q(ended_at__isnull=True), name="file_hidden_once"),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, ended_by__isnull=True, end_reason="")
                | Q(ended_at__isnull=False, ended_by__isnull=False) & ~Q(end_reason=""),
                name="end_of_hiding_has_operator_and_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"hidden file of {self.submission}"
