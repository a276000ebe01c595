"""Devices: the drives of lab hosts, bound by their identity."""

from django.db import models

from runners.models.host import Host


class Device(models.Model):
    """A drive bound to a host by identity; the path is where it was last seen, never its name.

    `retired_at` is since when it is out of service (runners/retention/retirement.py), None while it is in service.
    """

    class IdentityKind(models.TextChoices):
        """Virtual devices never certify."""

        NVME = "nvme"
        SCSI = "scsi"
        CLOUD = "cloud"
        VIRTUAL = "virtual"

    host = models.ForeignKey(Host, models.PROTECT, related_name="devices")
    label = models.CharField(max_length=100)
    identity_kind = models.CharField(max_length=10, choices=IdentityKind)
    identity = models.JSONField()
    drive_key = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    size_bytes = models.BigIntegerField()
    retired_at = models.DateTimeField(null=True)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One row per drive and host."""

        constraints = [models.UniqueConstraint(fields=["host", "drive_key"], name="device_unique_on_host")]

    def __str__(self) -> str:
        return f"{self.label} on {self.host}"

    @property
    def is_away(self) -> bool:
        """Tell whether its host's last check did not find it under any name; a host that is not checked tells none."""
        seen = self.host.health.get("devices") or ()
        return any(told.get("drive_key") == self.drive_key and told.get("paths") == [] for told in seen)
