"""Maintenance windows: periods in which no run starts on a host, or on all hosts."""

from django.db import models
from django.db.models import F, Q

from runners.models.host import Host


class MaintenanceWindow(models.Model):
    """A period in which no run starts on a host; on no host if `host` is null.

    Before it, no run starts whose ordered duration would reach into it. `ends_at` is the planned or the real end; null
    means that a person has to end it. Events record who planned and ended it
    (runners/inventory/maintenance_windows.py).
    """

    host = models.ForeignKey(Host, models.PROTECT, null=True, related_name="maintenance_windows")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    reason = models.TextField()
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """The earliest first."""

        ordering = ["starts_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at=None) | Q(ends_at__gte=F("starts_at")), name="window_ends_after_its_start"
            )
        ]

    def __str__(self) -> str:
        return f"maintenance of {self.host or 'all hosts'}"
