"""The backups that this register made, so that `doctor` and alerts know the age of the last good one."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Backup(models.Model):
    """One call of `manage.py backup`: its repository, its name there, its outcome, and what it copied.

    `evidence_bytes` are all bytes of evidence that the backup contains; `copied_bytes` those that it added.
    """

    class Outcome(models.TextChoices):
        """Incomplete: some evidence was missing or damaged. Interrupted: its process ended before it did."""

        RUNNING = "running"
        GOOD = "good"
        INCOMPLETE = "incomplete"
        DISK_FULL = "disk_full"
        FAILED = "failed"
        INTERRUPTED = "interrupted"

    repository = models.CharField(max_length=500)
    name = models.CharField(max_length=40)
    outcome = models.CharField(max_length=12, choices=Outcome, default=Outcome.RUNNING)
    is_encrypted = models.BooleanField(default=False)
    evidence_count = models.PositiveBigIntegerField(default=0)
    evidence_bytes = models.PositiveBigIntegerField(default=0)
    copied_bytes = models.PositiveBigIntegerField(default=0)
    dump_bytes = models.PositiveBigIntegerField(default=0)
    damaged_count = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """The newest first."""

        ordering: ClassVar = ["-started_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} in {self.repository}: {self.outcome}"

    @classmethod
    def last_good(cls) -> "Backup | None":
        """Return the newest backup that contains everything."""
        return cls.objects.filter(outcome=cls.Outcome.GOOD).first()
