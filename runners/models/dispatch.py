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

# The option of an order with the recognised data, in the host's words, that may be overwritten.
CONSENT_OPTION = "i_know_this_destroys_data"
# The option of a load that starts only while nothing else runs on its hosts, and that nothing else joins.
ALONE_OPTION = "alone_on_host"

# Lost, and neither its host nor a person has confirmed yet that nothing of it runs.
LOST_UNCONFIRMED = Q(state=State.LOST, ended_at__isnull=True)
# Dispatch.has_written as a query: its program was seen to have written a line.
HAS_WRITTEN = Q(log_bytes__gt=0) | (Q(progress__has_key="tail") & ~Q(progress__tail=[]))


def new_dispatch_id() -> str:
    """Return a new public id for a dispatch."""
    return new_public_id("d")


class Dispatch(models.Model):
    """One attempt to execute a run on a host.

    The order: `nx_load` and `duration_s` are null if a recipe has neither; prep ends when the whole drive is written.
    `facts` is what the orderer states about the product. `load_host` sends the requests, None if the drive's own host
    does. `purpose` and `campaign_step` are its purpose and number in a campaign. `retry_of` is the dispatch that it
    replaces.

    The program: `generation` counts starts, and the host refuses an older one. `stage` is the ordinal of the recipe's
    current or last stage. `boot_ids` identify the boots of its machines during which its program was seen running
    (LabHost.boot_ids). `is_never_started`: the host sealed its run directory before anything was started there.
    `end_requested_at` is when its program was first stopped because it exceeded its limit. `resets_drive_at` is
    when a stage began that formats or trims the drive. `progress` is for the live page only
    (runners/monitoring/progress.py).

    Connectivity: `silent_since` is the first poll that failed for lack of an answer. `outages` are those of its hosts
    meanwhile (HostOutage). `has_open_outage` is False if the scheduler found none on its hosts. `next_poll_at` uses the
    database's clock: the clocks of workers on several machines differ.

    `waits_for` is what a queued dispatch waits for, empty if only for the next poll.

    The end: `ended_at` of a lost dispatch is set when the host confirms that nothing of it runs; until then no other
    dispatch gets the drive. `collected_at` is when the register had all evidence from its run directories.
    `run_dirs_removed_at` is when its hosts confirmed that these directories are gone.
    """

    class WaitsFor(models.TextChoices):
        """What blocks the claim of a queued dispatch, as a worker last found it."""

        DRIVE = "drive"
        HOST = "host"
        CAMPAIGN = "campaign"
        WINDOW = "window"

    has_open_outage = True

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
    waits_for = models.CharField(max_length=10, choices=WaitsFor, blank=True, default="", db_default="")
    cancel_requested_at = models.DateTimeField(null=True)
    end_requested_at = models.DateTimeField(null=True, db_column="end_asked_at")
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
    next_poll_at = models.DateTimeField(db_default=Now(), db_column="next_look_at")
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
    collected_at = models.DateTimeField(null=True, db_column="taken_in_at")
    run_dirs_removed_at = models.DateTimeField(null=True)

    class Meta:
        """Never two loads on one drive: the database refuses the second live dispatch, for any client."""

        ordering = ["-ordered_at"]
        indexes = [
            models.Index(
                fields=["next_poll_at"],
                condition=~Q(state__in=sorted(state.value for state in FINAL - {State.LOST})),
                name="dispatch_due",
            ),
            models.Index(fields=["-ordered_at", "-id"], name="dispatch_newest"),
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
        """Whether its program was started and has written nothing yet, because drivetest checks the drive first.

        A drive that it then refuses was never loaded. In a recipe with several stages, only the first can be starting.
        """
        return self.state == State.RUNNING and self.stage == 0 and not self.has_written

    @property
    def has_written(self) -> bool:
        """Whether its program was seen to have written a line. HAS_WRITTEN is the same condition as a query."""
        return self.log_bytes > 0 or bool(self.progress.get("tail"))

    @property
    def shown_state(self) -> str:
        """The state for people: `starting` until the program has passed drivetest's own checks."""
        return "starting" if self.is_starting else str(self.state)

    @property
    def shows_progress(self) -> bool:
        """True if pages show how much of the ordered time has passed: once started, and at the end if reported."""
        is_active = self.started_at is not None and self.state not in FINAL
        return self.duration_s is not None and (is_active or self.last_label_s > 0)


class Step(models.Model):
    """One line of a dispatch's history: append-only, shown on its page.

    A transition leads from one state to another. The other kinds leave the state as it is. `reason` is text for people
    and is never read by code; `details` holds what code needs, for example `reason` of a cancel request or `stage` of
    telemetry that ended.
    """

    class Kind(models.TextChoices):
        """What the line records. `other` is for texts of earlier releases that no kind covers.

        Release 0.2 added lines for outages. Pages show the rows of HostOutage instead.
        """

        TRANSITION = "transition"
        CANCEL_REQUESTED = "cancel-requested"
        HOST_OUTAGE = "host-outage"
        OUTAGE_TOTAL = "outage-total"
        TELEMETRY_ENDED = "telemetry-ended"
        DECLARED_ENDED = "declared-ended"
        REGISTER_OUTAGE = "register-outage"
        OTHER = "other"

    dispatch = models.ForeignKey(Dispatch, models.CASCADE, related_name="steps")
    at = models.DateTimeField(auto_now_add=True)
    from_state = models.CharField(max_length=12, choices=State)
    to_state = models.CharField(max_length=12, choices=State)
    kind = models.CharField(max_length=20, choices=Kind, default=Kind.TRANSITION, db_default=Kind.TRANSITION)
    actor = models.CharField(max_length=100)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))

    class Meta:
        """In the order they happened."""

        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.from_state} -> {self.to_state}"


class StageEnd(models.Model):
    """How one stage of a dispatch ended: append-only. `exit_status` is null if the end was unobserved."""

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
    """A drive as its host reported it before or after a dispatch: append-only. Null means not reported, never 0.

    `document` is the whole drivecert.identity/1. It is empty if the host could not identify the device or found another
    drive; `reason` names the cause. `discards_count` counts the trims since the host booted (`boot_id`).
    """

    class Moment(models.TextChoices):
        """When the drive was identified."""

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
        """Newest last, one for each moment of a dispatch."""

        ordering = ["at", "id"]
        constraints = [models.UniqueConstraint(fields=["dispatch", "moment"], name="drive_state_once_a_moment")]

    def __str__(self) -> str:
        return f"{self.drive_key} {self.moment} {self.dispatch}"
