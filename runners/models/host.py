"""Lab hosts and their devices: the drives, bound by identity."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from results.models.evidence import PLACE_CHARS


class Host(models.Model):
    """A lab machine.

    `machine_id` is the machine of the host `local` (runners/hosts/machine.py), empty until a worker
    assigns it. The register identifies an SSH host by its pinned key, and an agent host by the secret of its agent
    (runners/models/agent.py). It runs there the program with the pinned SHA-256. `health` is the report of the last
    check, `objections` are the reasons against work since then. runners/inventory/health.py decides whether a check is
    too old.

    `silent_checks` counts the latest checks in a row that got no answer. `next_check_at` uses the database's clock.
    `region` and `zone` locate a cloud instance, in its provider's terms; runs there report them. `retired_at` is None
    while the host is in service (runners/retention/retirement.py).
    """

    class Kind(models.TextChoices):
        """How the register reaches the host."""

        LOCAL = "local", "this machine"
        SSH = "ssh", "over SSH"
        AGENT = "agent", "by its agent"

    REMOTE_KINDS = (Kind.SSH, Kind.AGENT)

    name = models.SlugField(unique=True)
    kind = models.CharField(max_length=10, choices=Kind)
    machine_id = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=255, blank=True, db_default="")
    port = models.PositiveIntegerField(default=22, db_default=22)
    user = models.CharField(max_length=32, blank=True, db_default="")
    host_key = models.TextField(blank=True, db_default="")
    program_sha256 = models.CharField(max_length=64, blank=True, db_default="")
    health = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    objections = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    checked_at = models.DateTimeField(null=True)
    next_check_at = models.DateTimeField(db_default=Now())
    silent_checks = models.PositiveSmallIntegerField(default=0, db_default=0)
    region = models.CharField(max_length=PLACE_CHARS, blank=True, default="", db_default="")
    zone = models.CharField(max_length=PLACE_CHARS, blank=True, default="", db_default="")
    retired_at = models.DateTimeField(null=True)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """An SSH host has all of its pins."""

        constraints = [
            models.CheckConstraint(
                condition=~Q(kind="ssh") | ~(Q(address="") | Q(user="") | Q(host_key="") | Q(program_sha256="")),
                name="ssh_host_is_pinned",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_remote(self) -> bool:
        """Whether `drivetest host` serves the requests: the host is checked on schedule and has a list of drives."""
        return self.kind in self.REMOTE_KINDS


class Device(models.Model):
    """A drive bound to a host by identity. The path is where it was last found, and is not its name.

    `retired_at` is None while the device is in service (runners/retention/retirement.py).
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
    def may_certify(self) -> bool:
        """Whether runs on this device can count towards a certificate: a virtual device is not a drive."""
        return self.identity_kind != self.IdentityKind.VIRTUAL

    @property
    def is_missing(self) -> bool:
        """Whether the last check of its host found the drive under no path. False for hosts without checks."""
        seen = self.host.health.get("devices") or ()
        return any(each.get("drive_key") == self.drive_key and each.get("paths") == [] for each in seen)
