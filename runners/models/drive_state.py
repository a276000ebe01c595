"""Identity, wear and temperature of a drive, recorded before and after each dispatch."""

from django.db import models

from runners.models.dispatch import Dispatch


class DriveState(models.Model):
    """A drive as its host told it before or after a dispatch: append-only; null is what nobody tells, never 0.

    `document` is the whole drivecert.identity/1; empty where the host could not tell what the path names, or named
    another drive: `reason` says so. `discards_count` counts the trims since the host started (`boot_id`).
    """

    class Moment(models.TextChoices):
        """When it was seen."""

        BEFORE = "before"
        AFTER = "after"

    dispatch = models.ForeignKey(Dispatch, models.PROTECT, related_name="drive_states")
    moment = models.CharField(max_length=6, choices=Moment)
    drive_key = models.CharField(max_length=255, db_index=True)
    at = models.DateTimeField(auto_now_add=True)
    firmware = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null is unknown
    size_bytes = models.BigIntegerField(null=True)
    over_provisioning_pct = models.DecimalField(max_digits=6, decimal_places=2, null=True)
    temperature_c = models.SmallIntegerField(null=True)
    wear_pct = models.PositiveSmallIntegerField(null=True)
    throttled_s = models.BigIntegerField(null=True)
    boot_id = models.CharField(max_length=40, null=True)  # noqa: DJ001
    discards_count = models.BigIntegerField(null=True)
    document = models.JSONField(default=dict)
    reason = models.TextField(blank=True)

    class Meta:
        """Newest last; one for each moment of a dispatch."""

        ordering = ["at", "id"]
        constraints = [models.UniqueConstraint(fields=["dispatch", "moment"], name="drive_state_once_a_moment")]

    def __str__(self) -> str:
        return f"{self.drive_key} {self.moment} {self.dispatch}"
