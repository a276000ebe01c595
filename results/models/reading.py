"""One reading of one evidence by one reader version: the queue that the sweeper works through."""

from django.db import models

from results.models.evidence import Evidence
from results.models.querysets import ReadingQuerySet


class Reading(models.Model):
    """What `drivetest read` made of a log, or why it could not; the row is the queue.

    `attempts` only grows and tells an overtaken attempt from ours; `counted_attempts` are those that the limit is for.
    `members` are the files of an archive as the reader tells them; empty for a log that came as it is.
    """

    class State(models.TextChoices):
        """`reading` with nobody holding its lock is a reader that died: the sweeper takes it again."""

        PENDING = "pending"
        READING = "reading"
        DONE = "done"
        FAILED = "failed"

    evidence = models.ForeignKey(Evidence, models.PROTECT, related_name="readings")
    reader_version = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    counted_attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    error = models.JSONField(null=True)
    findings = models.JSONField(default=list)
    members = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = ReadingQuerySet.as_manager()

    class Meta:
        """A second reading needs another reader version."""

        constraints = [
            models.UniqueConstraint(fields=["evidence", "reader_version"], name="one_reading_per_reader_version")
        ]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(state__in=["pending", "reading"]),
                name="reading_unfinished",
            )
        ]

    def __str__(self) -> str:
        return f"reading of {self.evidence} by {self.reader_version}: {self.state}"
