"""Stored bytes of a log, the organisation that sent them, its statements about them, and the queue of readings."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from results.models.categories import Category
from results.models.ids import new_submission_id
from results.models.product import Product
from results.models.querysets import ReadingQuerySet


class Organisation(models.Model):
    """A vendor, a lab or the register itself; evidence, submissions and tokens belong to one.

    Anyone may create one under any name. An operator confirms the name before a result of it becomes public.
    """

    class Kind(models.TextChoices):
        """The role of an organisation: a vendor, a lab, another one, or the register itself."""

        VENDOR = "vendor"
        LAB = "lab"
        OTHER = "other"
        REGISTER = "register"

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind)
    website = models.URLField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        """Confirmed names are unique. Others are not: a refusal would reveal who takes part in the register."""

        constraints = [
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(confirmed_at__isnull=False), name="confirmed_name_unique"
            )
        ]

    def __str__(self) -> str:
        return self.name


SHA256_HEX_CHARS = 64
SLICE_LENGTH_DEFAULT_S = 3600
PLACE_CHARS = 60  # of a region or zone, as "northamerica-northeast1-a"


class Evidence(models.Model):
    """One file as received, addressed by its hash; never deleted, never altered.

    A `sequestered` file is withheld for legal reasons. A `hidden` one is hidden on request of its sender
    (results/lifecycle/hidden_files.py).

    Rows are per organisation, so that a hash known from elsewhere reveals nothing; the bytes on disk are shared.
    """

    class Kind(models.TextChoices):
        """The subject of a file: a run or a preparation."""

        RUN = "run", "a run: its log, or a file beside it"
        PREP = "prep", "a preparation of a drive"

    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="evidence")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.RUN, db_default=Kind.RUN)
    sha256 = models.CharField(max_length=SHA256_HEX_CHARS)
    size_bytes = models.BigIntegerField()
    content_sha256 = models.CharField(max_length=SHA256_HEX_CHARS, blank=True)
    content_size_bytes = models.BigIntegerField(null=True)
    filename = models.CharField(max_length=255)
    received_at = models.DateTimeField(auto_now_add=True)
    sequestered = models.BooleanField(default=False)
    hidden = models.BooleanField(default=False, db_default=False)

    class Meta:
        """Recognise the same bytes from the same organisation."""

        constraints = [
            models.UniqueConstraint(fields=["organisation", "sha256"], name="evidence_unique_in_organisation")
        ]

    def __str__(self) -> str:
        return f"{self.filename} ({self.sha256[:12]})"

    @property
    def is_withheld(self) -> bool:
        """Return whether no reader gets its content: for legal reasons, or on request of its sender."""
        return self.sequestered or self.hidden


class Submission(models.Model):
    """A log from an organisation: its evidence, the stated facts about the product, and options of the reading.

    `is_virtual`: the lab ran it on a virtual device (Device.IdentityKind.VIRTUAL); such a run never certifies.
    `lab_record` is the lab's record of the drives (results/ingest/rows.py); it is empty for other senders.
    `embargo_until` is a whole minute: none of its runs is public before it (results/lifecycle/embargo.py).
    `link_digest` is the SHA-256 of the key in its secret link (results/access/links.py); it is empty without a link.
    `demo_run_id` is the fixed public id of an example run of the register (results/demonstration); empty for others.
    `has_runs`: the ingest has written a run of it. False means unknown: query the runs.
    """

    class Origin(models.TextChoices):
        """The way in which a submission reached the intake; the register itself sends its examples (demo)."""

        FORM = "form"
        API = "api"
        DISPATCH = "dispatch"
        DEMO = "demo"

    public_id = models.CharField(max_length=20, unique=True, default=new_submission_id)
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="submissions")
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    origin = models.CharField(max_length=10, choices=Origin)
    log = models.OneToOneField(Evidence, models.PROTECT, related_name="submission")
    side_file = models.ForeignKey(Evidence, models.PROTECT, null=True, related_name="+")
    vendor = models.CharField(max_length=200, blank=True)
    model = models.CharField(max_length=200, blank=True)
    part_number = models.CharField(max_length=200, blank=True)
    capacity_gb = models.PositiveIntegerField(null=True)
    firmware = models.CharField(max_length=100, blank=True)
    category = models.CharField(max_length=20, choices=Category, blank=True)
    over_provisioning_pct = models.DecimalField(max_digits=6, decimal_places=2, null=True)
    region = models.CharField(max_length=PLACE_CHARS, blank=True, default="", db_default="")
    zone = models.CharField(max_length=PLACE_CHARS, blank=True, default="", db_default="")
    slice_length_s = models.PositiveIntegerField(default=SLICE_LENGTH_DEFAULT_S)
    notes = models.TextField(blank=True)
    is_virtual = models.BooleanField(default=False)
    demo_run_id = models.CharField(max_length=20, blank=True, default="", db_default="")
    lab_record = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    product = models.ForeignKey(Product, models.PROTECT, null=True, related_name="submissions")
    received_at = models.DateTimeField(auto_now_add=True)
    embargo_until = models.DateTimeField(null=True)
    link_digest = models.CharField(max_length=SHA256_HEX_CHARS, blank=True, default="", db_default="")
    link_expires_at = models.DateTimeField(null=True)
    has_runs = models.BooleanField(default=False, db_default=False)

    class Meta:
        """A slice has a length. Submissions without runs are few, and some of them wait for a reviewer."""

        constraints = [models.CheckConstraint(condition=Q(slice_length_s__gt=0), name="slice_length_positive")]
        indexes = [models.Index(fields=["id"], condition=Q(has_runs=False), name="submission_without_runs")]

    def __str__(self) -> str:
        return self.public_id


class SubmissionKey(models.Model):
    """An Idempotency-Key under which a submission's bytes came; the same bytes may come under several."""

    submission = models.ForeignKey(Submission, models.PROTECT, related_name="keys")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="+")
    key = models.CharField(max_length=200)

    class Meta:
        """A sender's key names one submission."""

        constraints = [models.UniqueConstraint(fields=["organisation", "key"], name="one_submission_per_key")]

    def __str__(self) -> str:
        return f"{self.key} of {self.submission}"


class Companion(models.Model):
    """A file that belongs to the log of a submission; the reader reports its role."""

    submission = models.ForeignKey(Submission, models.PROTECT, related_name="companions")
    evidence = models.ForeignKey(Evidence, models.PROTECT, related_name="companion_of")
    filename = models.CharField(max_length=255)
    role = models.CharField(max_length=20, blank=True)

    class Meta:
        """The same bytes may belong to several logs, and to each of them once under a name."""

        ordering = ["filename", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "evidence", "filename"], name="companion_unique_in_submission"
            )
        ]

    def __str__(self) -> str:
        return f"{self.filename} of {self.submission}"


class QueuedReading(models.Model):
    """One row of the reading queue.

    `attempts` never decreases, so that a superseded attempt is recognised; `counted_attempts` count towards the limit.
    """

    class State(models.TextChoices):
        """The state in the queue. `reading` without a lock means that the reader died: the next sweep retries it."""

        PENDING = "pending"
        READING = "reading"
        DONE = "done"
        FAILED = "failed"

    # The columns of a reading that is queued again.
    AFRESH: ClassVar = {
        "state": State.PENDING,
        "counted_attempts": 0,
        "next_attempt_at": None,
        "error": None,
        "finished_at": None,
    }

    reader_version = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    counted_attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    error = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        """Columns only."""

        abstract = True


class Reading(QueuedReading):
    """The result or the error of `drivetest read` for a log. The rows of this table are the reading queue.

    `members` are the files of an archive as the reader reports them; empty for a log that is not in an archive.
    """

    evidence = models.ForeignKey(Evidence, models.PROTECT, related_name="readings")
    findings = models.JSONField(default=list)
    members = models.JSONField(default=list)

    objects = ReadingQuerySet["Reading"].as_manager()

    class Meta:
        """A second reading needs another reader version."""

        constraints = [
            models.UniqueConstraint(fields=["evidence", "reader_version"], name="one_reading_per_reader_version")
        ]
        indexes = [
            models.Index(
                fields=["created_at"], condition=models.Q(state__in=["pending", "reading"]), name="reading_unfinished"
            )
        ]

    def __str__(self) -> str:
        return f"reading of {self.evidence} by {self.reader_version}: {self.state}"
