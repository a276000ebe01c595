"""The append-only history: what was done to what, by whom, and why."""

from django.conf import settings
from django.db import models


class Event(models.Model):
    """One change, never altered afterwards: the database refuses to update or delete a row."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=40)
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=40)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        """Histories are asked for by subject."""

        ordering = ["at", "id"]
        indexes = [models.Index(fields=["subject_type", "subject_id", "at"], name="event_by_subject")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_type} {self.subject_id}"
