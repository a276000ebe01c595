"""The table of host outages. runners/monitoring/connectivity.py opens and closes them when hosts do not answer."""

from django.db import models
from django.db.models import Q

from runners.models.dispatch import Dispatch
from runners.models.host import Host


class HostOutage(models.Model):
    """A period in which a host could not be used while dispatches depended on it. One outage raises one alarm.

    `since` is the last answer of the host. `until` is its next answer, or the end of the last dispatch that depended on
    it; then `is_answered` is False. `until` is null while the outage lasts. `count` is 1, except for a row that adds up
    outages of release 0.2: it counted them, but stored no time for each.
    """

    class Cause(models.TextChoices):
        """Why the host could not be used. Pages compose the sentence; no code reads it back."""

        NO_ANSWER = "no-answer"  # the connection failed or timed out
        HOST_ERROR = "host-error"  # the host answered that it could not do it now, for example with a full disk
        LATE_ANSWER = "late-answer"  # the answer came, but later than the host's own work explains

    host = models.ForeignKey(Host, models.PROTECT, related_name="outages")
    dispatches = models.ManyToManyField(Dispatch, related_name="outages")
    cause = models.CharField(max_length=12, choices=Cause)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    is_answered = models.BooleanField(default=False, db_default=False)
    count = models.PositiveIntegerField(default=1, db_default=1)

    class Meta:
        """The earliest first; the database refuses a second open outage of a host."""

        ordering = ["since", "id"]
        constraints = [
            models.UniqueConstraint(fields=["host"], condition=Q(until__isnull=True), name="one_open_outage_per_host")
        ]

    def __str__(self) -> str:
        return f"{self.host} {self.cause}"
