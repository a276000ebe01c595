"""Drafts: files that an organisation has sent and not submitted yet, and what the reader found in them.

A draft is no evidence. It is private to its organisation, can be deleted, and expires.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from results.models.evidence import SHA256_HEX_CHARS, SLICE_LENGTH_DEFAULT_S, Organisation, QueuedReading, Submission
from results.models.ids import new_draft_id, new_file_key
from results.models.querysets import ReadingQuerySet


class Draft(models.Model):
    """A log with its companion files before it is submitted.

    `submission` is set once it is submitted: a repeated request then leads to that submission. `other_submissions` are
    those of the further logs of an archive that was submitted log by log.
    """

    public_id = models.CharField(max_length=20, unique=True, default=new_draft_id)
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="drafts")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    slice_length_s = models.PositiveIntegerField(default=SLICE_LENGTH_DEFAULT_S)
    submission = models.ForeignKey(Submission, models.PROTECT, null=True, related_name="+")
    other_submissions = models.ManyToManyField(Submission, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        """A slice has a length; drafts are found by the end of their time."""

        constraints = [models.CheckConstraint(condition=Q(slice_length_s__gt=0), name="draft_slice_length_positive")]
        indexes = [models.Index(fields=["expires_at"], name="draft_by_expiry")]

    def __str__(self) -> str:
        return self.public_id


class DraftFile(models.Model):
    """One file of a draft: its bytes are in the staging area under `key`.

    `received_bytes` never exceeds what is safe on disk. `sha256` is empty until the file is complete.
    """

    class Role(models.TextChoices):
        """The log, or a file that belongs to it."""

        LOG = "log"
        COMPANION = "companion"

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="files")
    key = models.CharField(max_length=32, unique=True, default=new_file_key)
    role = models.CharField(max_length=10, choices=Role)
    filename = models.CharField(max_length=255)
    size_bytes = models.BigIntegerField()
    received_bytes = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=SHA256_HEX_CHARS, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """A draft has one log, and no file has more bytes than announced."""

        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["draft"], condition=Q(role="log"), name="one_log_per_draft"),
            models.CheckConstraint(
                condition=Q(received_bytes__gte=0) & Q(received_bytes__lte=F("size_bytes")), name="draft_file_received"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.filename} of {self.draft_id}"

    @property
    def is_complete(self) -> bool:
        """Return whether every announced byte has arrived."""
        return self.received_bytes == self.size_bytes


class DraftReading(QueuedReading):
    """The reading of a draft: the same queue, reader and limits as for a submission.

    `document` is what the preview shows of the result. The staging area has the whole result under `result_key`, and
    the submission takes it over.
    """

    draft = models.OneToOneField(Draft, models.CASCADE, related_name="reading")
    result_key = models.CharField(max_length=SHA256_HEX_CHARS)
    document = models.JSONField(null=True)

    objects = ReadingQuerySet["DraftReading"].as_manager()

    class Meta:
        """Unfinished readings are found in the order of their arrival."""

        indexes = [
            models.Index(
                fields=["created_at"],
                condition=Q(state__in=["pending", "reading"]),
                name="draft_reading_unfinished",
            )
        ]

    def __str__(self) -> str:
        return f"reading of {self.draft_id}: {self.state}"
