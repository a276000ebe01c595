"""Scrubs: passes over the evidence store that hash every stored file again, and the faults that they found."""

from django.db import models
from django.db.models import Q

from results.models.evidence import SHA256_HEX_CHARS


class Scrub(models.Model):
    """One pass. Files whose hash is after `cursor` are not checked yet.

    `unreferenced_count` counts the files to which no row refers, for example of an intake that was interrupted.
    """

    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    cursor = models.CharField(max_length=SHA256_HEX_CHARS, blank=True, default="")
    files_count = models.BigIntegerField(default=0)
    bytes_count = models.BigIntegerField(default=0)
    unreferenced_count = models.BigIntegerField(default=0)

    class Meta:
        """Newest first. One pass at a time."""

        ordering = ["-started_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["ended_at"], condition=Q(ended_at__isnull=True), nulls_distinct=False, name="one_current_scrub"
            )
        ]

    def __str__(self) -> str:
        return f"scrub of {self.started_at}"


class ScrubFault(models.Model):
    """A stored file that is not what was received. A pass that finds its bytes as received closes the fault.

    `found_bytes` is the length that the file had; null if it is missing or cannot be read. `announced_at` is when the
    operators were notified.
    """

    class Kind(models.TextChoices):
        """What differs from what was stored."""

        MISSING = "missing", "missing"
        SHORTER = "shorter", "shorter than stored"
        ALTERED = "altered", "altered"
        UNREADABLE = "unreadable", "cannot be read"

    sha256 = models.CharField(max_length=SHA256_HEX_CHARS)
    size_bytes = models.BigIntegerField()
    kind = models.CharField(max_length=12, choices=Kind)
    found_bytes = models.BigIntegerField(null=True)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    announced_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        """Oldest first. A file has one open fault at most."""

        ordering = ["first_seen_at", "sha256"]
        constraints = [
            models.UniqueConstraint(
                fields=["sha256"], condition=Q(closed_at__isnull=True), name="one_open_fault_of_a_file"
            )
        ]

    def __str__(self) -> str:
        return f"{self.sha256[:12]}: {self.kind}"
