"""A campaign and its history, as rows."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from results.models.ids import new_public_id


def new_campaign_id() -> str:
    """Return a new public id for a campaign."""
    return new_public_id("k")


class Campaign(models.Model):
    """Dispatches that raise the load on one drive until its highest passing load is found and confirmed.

    `terms` are its limits (runners/campaigns/terms.py). `options` and `facts` are those of each dispatch. `steps_count`
    is the number of dispatches ordered so far: a worker orders the next one only if the number has not changed.
    Outcomes ordered before `resumed_at` no longer count as attempts. `next_at` is the end of a rest. `confirmed_nx` is
    the result, null before the end and if no load was confirmed.
    """

    class State(models.TextChoices):
        """`cancelling`: the host has not yet confirmed that nothing of the campaign runs."""

        ACTIVE = "active"
        PAUSED = "paused"
        CANCELLING = "cancelling"
        CANCELLED = "cancelled"
        FINISHED = "finished"

    OPEN_STATES = (State.ACTIVE, State.PAUSED, State.CANCELLING)

    public_id = models.CharField(max_length=20, unique=True, default=new_campaign_id)
    organisation = models.ForeignKey("results.Organisation", models.PROTECT, related_name="campaigns")
    ordered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    device = models.ForeignKey("runners.Device", models.PROTECT, related_name="campaigns")
    drive_key = models.CharField(max_length=255)
    profile = models.ForeignKey("results.Profile", models.PROTECT, related_name="campaigns")
    recipe = models.CharField(max_length=20, default="act-storage")
    terms = models.JSONField()
    options = models.JSONField(default=dict)
    facts = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=State, default=State.ACTIVE)
    reason = models.TextField(blank=True)
    steps_count = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(null=True)
    resumed_at = models.DateTimeField(null=True)
    end = models.CharField(max_length=20, blank=True)
    confirmed_nx = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    missing = models.JSONField(default=list)
    ordered_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """One open campaign per drive: the rest of one would be the load of the other."""

        ordering = ["-ordered_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["drive_key"],
                condition=Q(state__in=["active", "paused", "cancelling"]),
                name="one_open_campaign_per_drive",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class CampaignEntry(models.Model):
    """One line of a campaign's history: append-only, shown on its page. `actor` is a person's name, or worker."""

    class Kind(models.TextChoices):
        """What happened."""

        STARTED = "started"
        ORDERED = "ordered"
        RESTED = "rested"
        PAUSED = "paused"
        RESUMED = "resumed"
        CHANGED = "changed"
        CANCEL_REQUESTED = "cancel-asked", "cancel requested"
        CANCELLED = "cancelled"
        FINISHED = "finished"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="entries")
    dispatch = models.ForeignKey("runners.Dispatch", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    kind = models.CharField(max_length=12, choices=Kind)
    actor = models.CharField(max_length=150)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        """In the order they happened."""

        ordering = ["at", "id"]
        verbose_name_plural = "campaign entries"

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"
