"""The history of the status page: one row for each part and day."""

from django.db import models
from django.db.models import Q


class Part(models.TextChoices):
    """What readers and senders use, in the order of the page."""

    PAGES = "pages"
    UPLOADS = "uploads"
    READINGS = "readings"
    LAB = "lab"


class PartState(models.TextChoices):
    """The state of a part. `unrecorded`: the register could not record it, usually because it was down itself."""

    WORKING = "working"
    DEGRADED = "degraded"
    DOWN = "down"
    UNRECORDED = "unrecorded"


class PartDay(models.Model):
    """The minutes of a day (UTC) in which a part had each state, and its last state."""

    part = models.CharField(max_length=10, choices=Part)
    day = models.DateField()
    working_minutes = models.PositiveSmallIntegerField(default=0)
    degraded_minutes = models.PositiveSmallIntegerField(default=0)
    down_minutes = models.PositiveSmallIntegerField(default=0)
    last_state = models.CharField(max_length=10, choices=PartState)
    last_at = models.DateTimeField()

    class Meta:
        """A part has one row a day."""

        verbose_name = "status of a part"
        constraints = [
            models.UniqueConstraint(fields=["part", "day"], name="one_status_of_a_part_each_day"),
            models.CheckConstraint(condition=~Q(last_state="unrecorded"), name="status_was_recorded"),
        ]

    def __str__(self) -> str:
        return f"{self.part} on {self.day}: {self.last_state}"
