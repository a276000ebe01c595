"""The physical drives of a run, and how each was prepared: known where a lab of the register ran it, else unknown."""

from django.db import models
from django.db.models import Q

from results.models.evidence import Evidence
from results.models.run import Run

DRIVE_KEY_CHARS = 300  # as drivetest identify prints it (docs/reference/formats.md)


class Preparation(models.Model):
    """One preparation of one drive, zeroed and then salted; `evidence` is the record that the program printed."""

    drive_key = models.CharField(max_length=DRIVE_KEY_CHARS)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    evidence = models.ForeignKey(Evidence, models.PROTECT, null=True, related_name="+")

    class Meta:
        """It ends after it began."""

        constraints = [
            models.CheckConstraint(
                condition=Q(started_at__isnull=True)
                | Q(finished_at__isnull=True)
                | Q(finished_at__gte=models.F("started_at")),
                name="preparation_ends_after_it_began",
            )
        ]

    def __str__(self) -> str:
        return f"preparation of {self.drive_key}"


class DriveInRun(models.Model):
    """One physical drive in one run, and its state before and after; null means not recorded.

    `reset_at_*` is the last format or trim; `never_reset_*` that the drive was never formatted or trimmed, or not since
    its preparation began, which is all that counts.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="drives")
    key = models.CharField(max_length=DRIVE_KEY_CHARS)
    preparation = models.ForeignKey(Preparation, models.PROTECT, null=True, related_name="drives")
    firmware_before = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null is unknown
    firmware_after = models.CharField(max_length=100, null=True)  # noqa: DJ001
    over_provisioning_pct_before = models.DecimalField(max_digits=6, decimal_places=2, null=True)
    over_provisioning_pct_after = models.DecimalField(max_digits=6, decimal_places=2, null=True)
    reset_at_before = models.DateTimeField(null=True)
    reset_at_after = models.DateTimeField(null=True)
    never_reset_before = models.BooleanField(null=True)
    never_reset_after = models.BooleanField(null=True)

    class Meta:
        """A drive occurs once in a run, even if it has several devices."""

        ordering = ["key"]
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="drive_unique_in_run")]

    def __str__(self) -> str:
        return f"{self.key} in {self.run}"
