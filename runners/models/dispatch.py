"""Dispatches: attempts to execute a run on a host, with their steps and stages."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from results.models import Organisation, Preparation, Submission
from results.models.ids import new_public_id
from runners.models.campaign import Campaign
from runners.models.host import Device, Host
from runners.models.states import FINAL, LIVE, State

# The option of an order that holds the data which somebody consented to have written over, in the host's words.
DESTROY = "i_know_this_destroys_data"

# Lost, and neither its host nor a person has said yet that nothing of it runs.
UNCONFIRMED = Q(state=State.LOST, ended_at__isnull=True)
# Its program was seen to have written a line: Dispatch.has_written, asked of the table.
HAS_WRITTEN = Q(log_bytes__gt=0) | (Q(progress__has_key="tail") & ~Q(progress__tail=[]))


def new_dispatch_id() -> str:
    """Return a new public id for a dispatch."""
    return new_public_id("d")


class Dispatch(models.Model):
    """One attempt to execute a run on a host. `generation` counts starts; the host refuses an older one.

    `nx_load` and `duration_s` are null for what has neither: prep ends when the whole drive is written.
    `facts` is what the orderer states about the product. `progress` is for the live page only
    (runners/monitoring/progress.py).
    `boot_ids` are the starts of its machines under which its program was seen to run (LabHost.boot_ids).
    `taken_in_at` is when nothing that its run directories hold as evidence was missing here; `run_dirs_removed_at`
    when its hosts said that nothing of these directories is left.
    `end_asked_at` is when its program was first asked to end for having run beyond its limit.
    `is_never_started`: the host has closed its run directory before anything was started there.
    `silent_since` is when a look failed for want of an answer; `silences` since when each machine that is silent has
    given none, by its name. `gaps_count` and `gaps_ms` are how often and for how long machines gave no answer while
    something of the dispatch was there (runners/monitoring/connectivity.py).
    `ended_at` of a lost dispatch is set once the host has said that nothing of it runs; until then the drive is not
    given to another. `load_host` is where the requests come from, None where that is the drive's own host.
    `stage` is the ordinal of the recipe's stage that runs, or ran last.
    `resets_drive_at` is when a stage was begun that formats or trims the drive. `next_look_at` is when a
    worker looks at it next, by the database's clock: those of workers on several machines differ.
    `purpose` is what a dispatch of a campaign is for, `campaign_step` its number there; `retry_of` is the one that this
    dispatch is made in place of.
    """

    public_id = models.CharField(max_length=20, unique=True, default=new_dispatch_id)
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="dispatches")
    ordered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    device = models.ForeignKey(Device, models.PROTECT, related_name="dispatches")
    drive_key = models.CharField(max_length=255)
    recipe = models.CharField(max_length=20, default="act-storage")
    load_host = models.ForeignKey(Host, models.PROTECT, null=True, related_name="+")
    nx_load = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    duration_s = models.PositiveIntegerField(null=True)
    options = models.JSONField(default=dict)
    facts = models.JSONField(default=dict)
    slice_length_s = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    reason = models.TextField(blank=True)
    cancel_requested_at = models.DateTimeField(null=True)
    end_asked_at = models.DateTimeField(null=True)
    generation = models.PositiveIntegerField(default=0)
    stage = models.PositiveSmallIntegerField(default=0, db_default=0)
    pid = models.PositiveIntegerField(null=True)
    is_never_started = models.BooleanField(default=False, db_default=False)
    boot_ids = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    log_bytes = models.BigIntegerField(default=0)
    last_label_s = models.PositiveIntegerField(default=0)
    progress = models.JSONField(default=dict)
    exit_status = models.SmallIntegerField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    silent_since = models.DateTimeField(null=True)
    gaps_count = models.PositiveIntegerField(default=0, db_default=0)
    gaps_ms = models.BigIntegerField(default=0, db_default=0)
    silences = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    next_look_at = models.DateTimeField(db_default=Now())
    submission = models.ForeignKey(Submission, models.PROTECT, null=True, related_name="dispatches")
    preparation = models.ForeignKey(Preparation, models.PROTECT, null=True, related_name="dispatches")
    resets_drive_at = models.DateTimeField(null=True)
    campaign = models.ForeignKey(Campaign, models.PROTECT, null=True, related_name="dispatches")
    campaign_step = models.PositiveIntegerField(null=True)
    purpose = models.CharField(max_length=12, blank=True, db_default="")
    retry_of = models.OneToOneField("self", models.PROTECT, null=True, related_name="retry")
    ordered_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    taken_in_at = models.DateTimeField(null=True)
    run_dirs_removed_at = models.DateTimeField(null=True)

    class Meta:
        """Never two loads on one drive: the database refuses the second live dispatch, whoever asks."""

        ordering = ["-ordered_at"]
        indexes = [
            models.Index(
                fields=["next_look_at"],
                condition=~Q(state__in=sorted(state.value for state in FINAL - {State.LOST})),
                name="dispatch_due",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["drive_key"],
                condition=Q(state__in=sorted(state.value for state in LIVE)),
                name="one_live_dispatch_per_drive",
            ),
            models.UniqueConstraint(fields=["campaign", "campaign_step"], name="campaign_step_ordered_once"),
            models.CheckConstraint(condition=Q(nx_load__gt=0), name="load_positive"),
            models.CheckConstraint(condition=Q(duration_s__gt=0), name="duration_positive"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_starting(self) -> bool:
        """Tell whether its program was started and has written nothing yet: drivetest looks at the drive first.

        A drive that it refuses then was never loaded. Of a recipe of several stages that is told of the first alone.
        """
        return self.state == State.RUNNING and self.stage == 0 and not self.has_written

    @property
    def has_written(self) -> bool:
        """Tell whether its program was seen to have written a line; HAS_WRITTEN asks the table the same."""
        return self.log_bytes > 0 or bool(self.progress.get("tail"))

    @property
    def shown_state(self) -> str:
        """Return the state for people: `starting` until the program has passed drivetest's own gate."""
        return "starting" if self.is_starting else str(self.state)


class Step(models.Model):
    """One move of a dispatch from state to state: append-only, shown on its page."""

    dispatch = models.ForeignKey(Dispatch, models.CASCADE, related_name="steps")
    at = models.DateTimeField(auto_now_add=True)
    from_state = models.CharField(max_length=12, choices=State)
    to_state = models.CharField(max_length=12, choices=State)
    actor = models.CharField(max_length=100)
    reason = models.TextField(blank=True)

    class Meta:
        """In the order they happened."""

        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.from_state} -> {self.to_state}"


class StageEnd(models.Model):
    """How one stage of a dispatch of several ended: append-only. `exit_status` is null where nobody saw it end."""

    dispatch = models.ForeignKey(Dispatch, models.CASCADE, related_name="stage_ends")
    ordinal = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=40)
    exit_status = models.SmallIntegerField(null=True)
    reason = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """In the order of the recipe, each once."""

        ordering = ["ordinal"]
        constraints = [models.UniqueConstraint(fields=["dispatch", "ordinal"], name="stage_ends_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.dispatch}"


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
