"""Serializers of the API, version 1: fields are added, never renamed or removed."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from results import models
from results.access.withholding import (
    visible_member,
    visible_reading_error,
    visible_reading_findings,
    visible_verdict,
    visible_ycsb,
)
from results.intake.submissions import COMPANIONS_MAX, CompanionUpload, SubmissionMetadata
from results.lifecycle.submission_states import SubmissionState
from results.models.evidence import PLACE_CHARS, SLICE_LENGTH_DEFAULT_S
from webapp.submissions.forms import EMPTY, FACT_FIELDS, SLICE_LENGTH_MAX_S


class LogSerializer(serializers.Serializer[Any]):
    """A log, its companion files (repeat the field), and the slice length for its reading."""

    log = serializers.FileField(error_messages={"empty": EMPTY})
    companions = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True, max_length=255),
        required=False,
        default=list,
        max_length=COMPANIONS_MAX,
    )
    slice_length_s = serializers.IntegerField(
        min_value=1, max_value=SLICE_LENGTH_MAX_S, required=False, default=SLICE_LENGTH_DEFAULT_S
    )


class UploadSerializer(LogSerializer):
    """A log and the sender's facts about the drive. A reviewer completes a missing identity."""

    vendor = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    model = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    part_number = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    capacity_gb = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, default=None, allow_null=True
    )
    category = serializers.ChoiceField(models.Category.choices, required=False, default="", allow_blank=True)
    firmware = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    over_provisioning_pct = serializers.DecimalField(
        max_digits=6, decimal_places=2, min_value=0, required=False, default=None, allow_null=True
    )
    region = serializers.CharField(max_length=PLACE_CHARS, required=False, default="", allow_blank=True)
    zone = serializers.CharField(max_length=PLACE_CHARS, required=False, default="", allow_blank=True)
    notes = serializers.CharField(max_length=5000, required=False, default="", allow_blank=True)
    # The valid end of an embargo depends on the bytes, so the one intake path checks it.
    embargo_until = serializers.DateTimeField(allow_null=True, required=False, default=None)

    def facts(self) -> SubmissionMetadata:
        """Return the sender's facts."""
        return SubmissionMetadata(**{name: self.validated_data[name] for name in FACT_FIELDS})

    def companion_uploads(self) -> list[CompanionUpload]:
        """Return the files that belong to the log."""
        return [CompanionUpload(each, each.name) for each in self.validated_data["companions"]]


def _without_name_and_hashes(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a file; name and hashes are empty if it is hidden."""
    return row | {name: "" for name in ("filename", "sha256", "content_sha256") if name in row and row["is_hidden"]}


class EvidenceSerializer(serializers.ModelSerializer[models.Evidence]):
    """Stored bytes. Name and hashes are empty if the file is hidden on request of its sender (`is_hidden`)."""

    is_hidden = serializers.BooleanField(source="hidden")

    class Meta:
        """Fields without the storage location."""

        model = models.Evidence
        fields = [
            "filename", "sha256", "size_bytes", "content_sha256", "content_size_bytes", "received_at", "is_hidden",
        ]  # fmt: skip

    def to_representation(self, instance: models.Evidence) -> dict[str, Any]:
        return _without_name_and_hashes(super().to_representation(instance))


class CompanionSerializer(serializers.ModelSerializer[models.Companion]):
    """A companion file of the log. `role` is the role that the reader recognised, empty before the reading.

    Name and hash are empty if the file is hidden on request of its sender (`is_hidden`).
    """

    is_hidden = serializers.BooleanField(source="evidence.hidden")
    sha256 = serializers.CharField(source="evidence.sha256")
    size_bytes = serializers.IntegerField(source="evidence.size_bytes")

    class Meta:
        """Fields without the storage location."""

        model = models.Companion
        fields = ["filename", "role", "sha256", "size_bytes", "is_hidden"]

    def to_representation(self, instance: models.Companion) -> dict[str, Any]:
        return _without_name_and_hashes(super().to_representation(instance))


class ReadingSerializer(serializers.ModelSerializer[models.Reading]):
    """The state and result of the reading. `error` is the reader's object (docs/reference/formats.md)."""

    class Meta:
        """Fields without the internal columns of the queue."""

        model = models.Reading
        fields = ["state", "reader_version", "attempts", "error", "findings", "members", "started_at", "finished_at"]


class ProductSerializer(serializers.ModelSerializer[models.Product]):
    """A rated product: a drive, a cloud instance or a networked storage system."""

    id = serializers.CharField(source="slug")

    class Meta:
        """Identity, and the facts from the source."""

        model = models.Product
        fields = [
            "id", "category", "historical", "vendor", "model", "part_number", "capacity_gb", "pcie_gen",
            "endurance_dwpd", "form_factor", "part_numbers",
        ]  # fmt: skip


class ShareSerializer(serializers.ModelSerializer[models.Share]):
    """The percentage of reads over a threshold, with its digits as printed."""

    class Meta:
        """Fields. Show `printed`, and compute with the counts."""

        model = models.Share
        fields = ["statistic", "threshold_us", "read_at_us", "printed", "over_count", "ops_count", "slice_number"]


class VerdictSerializer(serializers.ModelSerializer[models.Verdict]):
    """The verdict on a run. `document` is the reader's own output (docs/reference/formats.md)."""

    document = serializers.JSONField()

    class Meta:
        """Fields. The document contains outcome and headline, too."""

        model = models.Verdict
        fields = ["outcome", "headline", "reader_version", "document"]


class YcsbOperationSerializer(serializers.ModelSerializer[models.YcsbOperation]):
    """One kind of operation with one outcome; times in us, `percentiles` with the digits as printed."""

    class Meta:
        """Fields. `time` is service or response; `taken_from` is rows, hdr or raw."""

        model = models.YcsbOperation
        fields = [
            "name", "outcome", "time", "ops_count", "mean_us", "min_us", "max_us", "percentiles", "returns",
            "taken_from",
        ]  # fmt: skip


class YcsbRunSerializer(serializers.ModelSerializer[models.YcsbRun]):
    """The part of a run that only YCSB runs have. Its status lines are at runs/<id>/intervals/."""

    operations = YcsbOperationSerializer(many=True)

    class Meta:
        """Fields. Null means that the output does not report the value."""

        model = models.YcsbRun
        fields = [
            "phase", "workload", "binding", "measurement", "times", "command_line", "properties", "threads_count",
            "target_ops_per_s", "record_count", "operation_count", "time_limit_s", "runtime_ms", "throughput_ops_per_s",
            "done_ops_count", "failed_ops_count", "validity", "reasons", "sweep_key", "operations",
        ]  # fmt: skip


class RunSerializer(serializers.ModelSerializer[models.Run]):
    """One execution of one workload. `tier` is the level of trust, `visibility` the current state."""

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()
    product = serializers.SlugRelatedField[models.Product](slug_field="slug", read_only=True, allow_null=True)
    superseded_by = serializers.SlugRelatedField[models.Run](slug_field="public_id", read_only=True, allow_null=True)
    member = serializers.SerializerMethodField()
    shares = ShareSerializer(many=True)
    ycsb = serializers.SerializerMethodField()
    verdict = serializers.SerializerMethodField()

    class Meta:
        """Fields. Rates are for all devices together."""

        model = models.Run
        fields = [
            "id", "url", "product", "tier", "visibility", "statistic", "source", "workload", "tool", "tool_version",
            "reads_per_s", "writes_per_s", "tps", "nx_load", "duration_s", "slice_length_s", "firmware",
            "over_provisioned_to_gb", "over_provisioning_pct", "compress_pct", "device_count", "device_gb",
            "backing_device", "protocol", "sole_tenant", "region", "zone", "started_at", "notes", "published_at",
            "member", "superseded_by", "is_on_no_drive",
            "shares", "verdict", "ycsb",
        ]  # fmt: skip

    def get_url(self, run: models.Run) -> str:
        return f"/runs/{run.public_id}/"

    def get_member(self, run: models.Run) -> str:
        return visible_member(run)

    @extend_schema_field(YcsbRunSerializer(allow_null=True))
    def get_ycsb(self, run: models.Run) -> Any:
        return YcsbRunSerializer(visible_ycsb(run)).data if hasattr(run, "ycsb") else None

    @extend_schema_field(VerdictSerializer(allow_null=True))
    def get_verdict(self, run: models.Run) -> Any:
        verdict = next(iter(run.verdicts.all()), None)
        return None if verdict is None else VerdictSerializer(visible_verdict(run, verdict)).data


class SubmissionSerializer(serializers.ModelSerializer[models.Submission]):
    """A submission with its state, its reading and its runs."""

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()
    state = serializers.ChoiceField(SubmissionState.choices)
    organisation = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    product = serializers.SlugRelatedField[models.Product](slug_field="slug", read_only=True, allow_null=True)
    log = EvidenceSerializer()
    companions = CompanionSerializer(many=True)
    reading = serializers.SerializerMethodField()
    runs = RunSerializer(many=True)

    class Meta:
        """Fields without the link key, which only the page of the owners shows."""

        model = models.Submission
        fields = [
            "id", "url", "state", "origin", "organisation", "received_at", *FACT_FIELDS, "product", "log", "companions",
            "reading", "runs",
        ]  # fmt: skip

    def get_url(self, submission: models.Submission) -> str:
        return f"/submissions/{submission.public_id}/"

    @extend_schema_field(ReadingSerializer(allow_null=True))
    def get_reading(self, submission: models.Submission) -> Any:
        readings = sorted(submission.log.readings.all(), key=lambda reading: reading.pk)
        if not readings:
            return None
        newest = readings[-1]
        visible = {
            "findings": visible_reading_findings(submission, newest),
            "error": visible_reading_error(submission, newest),
        }
        if submission.log.hidden:
            visible["members"] = []
        return ReadingSerializer(newest).data | visible
