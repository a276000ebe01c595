"""Rows of a run from the JSON of `drivetest read`, its lab record, and the product that matches its stated identity.

A submission stores the lab record of its drives. Each run that is read from its log gets a copy.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict, cast

from django.db.models import Q

from results.ingest.ycsb import decimal_of, duration_s, write_ycsb
from results.models import (
    YCSB,
    DriveInRun,
    Evidence,
    Finding,
    Histogram,
    Product,
    Profile,
    Reading,
    Run,
    Series,
    Share,
    Slice,
    Statistic,
    Submission,
    Tier,
    Verdict,
)
from results.models.row_operations import copy_rows
from results.naming.addresses import current_product, locked_for_runs
from results.naming.aliases import aliased_product
from results.reader.process import Document
from results.rules.act.limits import exact_share_pct


class Identity(TypedDict):
    """The five facts that name a product, as the columns of Product."""

    category: str
    vendor: str
    model: str
    part_number: str
    capacity_gb: int | None


def match_product(submission: Submission) -> Product | None:
    """Return the product with exactly the stated identity, or the one that a reviewer decided it to mean.

    None means that the submission awaits identity.

    A product that is not public matches only for the organisations that have submissions of it. The response must not
    reveal to others that it exists. If a reviewer creates it for them, the existing product is used.
    """
    public = Product.objects.public().values("pk")
    own = Submission.objects.filter(organisation=submission.organisation_id, product__isnull=False).values("product")
    identity = identity_of(submission)
    stated = Product.objects.filter(**identity).select_related("merged_into").first()
    meant = aliased_product(identity) or (current_product(stated) if stated else None)
    return Product.objects.filter(Q(pk__in=public) | Q(pk__in=own)).filter(pk=meant.pk).first() if meant else None


def identity_of(submission: Submission) -> Identity:
    """Return what a submission states of a product's identity."""
    return cast("Identity", {name: getattr(submission, name) for name in Identity.__annotations__})


SLICE_COLUMNS = ["run", "number", "start_s", "end_s", "first_line", "last_line", "counts"]
MEMBER_CHARS = 500
NAME_CHARS = 160
YCSB_FACTS = ("first_line", "last_line", "stop", "telemetry")
YCSB_TOOLS = frozenset({"ycsb", "go-ycsb"})  # results/reader/schemas
VIRTUAL = "virtual"  # the kind of a device that is no drive, in identities and side files
FACTS = [
    "config", "derived", "devices", "stop", "unit", "reached_s", "report_interval_s", "generator", "io_errors_count",
    "first_line", "last_line", "device_count", "asked_duration_s", "intervals_count", "record_bytes",
    "record_bytes_max", "trailing_partial_s", "arrivals", "coalesce_us", "family", "service_threads",
    "requests_queued_count", "judged_ordinal", "compared_ordinal", "is_virtual_device", "side_file",
]  # fmt: skip


def record_input(evidence: Evidence, document: Document) -> None:
    """Record hash and length of the decompressed bytes, once, and the roles of the companion files."""
    source = document["input"]
    for companion in source.get("companions", []):
        evidence.submission.companions.filter(evidence__sha256=companion["sha256"]).update(role=companion["role"][:20])
    if source["content_sha256"] is None:
        return  # the bytes could not be had to their end: neither is of the whole
    content = {key: source[key] for key in ["content_sha256", "content_size_bytes"]}
    Evidence.objects.filter(pk=evidence.pk, content_sha256="").update(**content)


def record_runs(reading: Reading, document: Document, profile: Profile) -> int:
    """Write each run of a document that this reading has not written yet, and return how many the document has.

    Runs of YCSB are numbered after those of ACT: an archive may hold both.
    """
    submission = reading.evidence.submission
    meant = submission.product or match_product(submission)
    submission.product = locked_for_runs(meant) if meant else None
    act_runs, ycsb_runs = document["runs"], document.get("ycsb_runs", [])
    submission.has_runs = submission.has_runs or bool(act_runs or ycsb_runs)
    submission.save(update_fields=["product", "has_runs"])
    for read in act_runs:
        run = _new_run(reading, read["ordinal"], _act_columns(read), read)
        if run is not None:
            _write_below(run, read, document["reader"]["version"], profile)
    for read in ycsb_runs:
        run = _new_run(reading, len(act_runs) + read["ordinal"], _ycsb_columns(read), read)
        if run is not None:
            write_ycsb(run, read)
            Finding.objects.bulk_create(findings_of(run, read))
    return len(act_runs) + len(ycsb_runs)


def _new_run(reading: Reading, ordinal: int, columns: Document, read: Document) -> Run | None:
    """Create a run, or return None if this reading has it already."""
    submission = reading.evidence.submission
    shared = {
        "submission": submission,
        "product": submission.product,
        "source": submission.organisation.name,
        "tier": Tier.LAB_VERIFIED if submission.origin == Submission.Origin.DISPATCH else Tier.VENDOR_REPORTED,
        **{name: getattr(submission, name) for name in ("firmware", "over_provisioning_pct", "region", "zone")},
        "started_at": started_at(submission.lab_record),
        **_log_columns(read),
        "is_virtual": submission.is_virtual or has_virtual_drive(read),
        **_example_columns(submission),
    }
    run, is_new = Run.objects.get_or_create(reading=reading, ordinal=ordinal, defaults=shared | columns)
    if is_new:
        write_drives(run, submission.lab_record)
    return run if is_new else None


def unsaved_run(read: Document) -> Run:
    """Return a run of a reading as a row that is not stored: with the facts of its log, and without a submission."""
    columns = _ycsb_columns(read) if read["tool"] in YCSB_TOOLS else _act_columns(read)
    return Run(tier=Tier.VENDOR_REPORTED, is_virtual=has_virtual_drive(read), **_log_columns(read), **columns)


def has_virtual_drive(read: Document) -> bool:
    """Return whether the side file reports a device that is no drive. A name alone is a finding for the reviewer."""
    side_file = read.get("side_file") or {}
    return any(drive["kind"] == VIRTUAL for drive in side_file.get("drives", []))


def _log_columns(read: Document) -> Document:
    return {
        "member": (read.get("member") or "")[:MEMBER_CHARS],
        "tool": read["tool"][:40],
        "tool_version": (read["tool_version"] or "")[:20],
    }


def _example_columns(submission: Submission) -> Document:
    """Return the flag and the fixed id of an example run; empty for other runs.

    A later reading writes a second row for a moment (results/reevaluation/recompute.py), which gets an id of its own.
    """
    fixed_id = submission.demo_run_id
    if not fixed_id:
        return {}
    is_taken = Run.objects.filter(public_id=fixed_id).exists()
    return {"is_demo": True} | ({} if is_taken else {"public_id": fixed_id})


def _act_columns(read: Document) -> Document:
    reads, writes = decimal_of(read["asked_reads_per_s"]), decimal_of(read["asked_writes_per_s"])
    return {
        "statistic": Statistic.WORST_SLICE,
        "workload": read["workload"][:20],
        "reads_per_s": reads,
        "writes_per_s": writes,
        "tps": None if reads is None or writes is None else reads + writes,
        "nx_load": decimal_of(read["nx_load"]),
        "duration_s": read["reached_s"],
        **{name: read[name] for name in ("slice_length_s", "compress_pct", "device_count")},
        "facts": {name: read[name] for name in FACTS if name in read},
    }


def _ycsb_columns(read: Document) -> Document:
    return {
        "statistic": Statistic.OVERALL,
        "workload": YCSB,
        "duration_s": duration_s(read),
        "facts": {name: read[name] for name in YCSB_FACTS if read.get(name) is not None},
    }


@dataclass(frozen=True)
class ReadRows:
    """The rows of an ACT run that its log determines, without slices and intervals; none of them is stored yet."""

    histograms: list[Histogram]
    findings: list[Finding]
    verdict: Verdict | None
    shares: list[Share]


def read_rows(run: Run, read: Document, reader_version: str, profile: Profile) -> ReadRows:
    """Return the rows of an ACT run."""
    verdict, document = None, read["verdict"]
    if document:
        columns = {"outcome": document["outcome"], "headline": document["headline"], "reader_version": reader_version}
        verdict = Verdict(run=run, profile=profile, document=document, **columns)
    return ReadRows(
        histograms=[_histogram(run, histogram) for histogram in read["histograms"]],
        findings=findings_of(run, read),
        verdict=verdict,
        shares=[_share(run, share) for share in document["shares"]] if document else [],
    )


def _write_below(run: Run, read: Document, reader_version: str, profile: Profile) -> None:
    rows = read_rows(run, read, reader_version, profile)
    Histogram.objects.bulk_create(rows.histograms)
    copy_rows(Slice, SLICE_COLUMNS, _slices(run, read))
    if series := read.get("series"):
        series_of(run, series).save()
    Finding.objects.bulk_create(rows.findings)
    if rows.verdict is not None:
        rows.verdict.save()
    Share.objects.bulk_create(rows.shares)


def _histogram(run: Run, source: Document) -> Histogram:
    return Histogram(
        run=run,
        name=source["name"][:NAME_CHARS],
        role=source["role"],
        device=(source["device"] or "")[:NAME_CHARS],
        time=source["time"] or "",
        **{column: source[column] for column in ("ordinal", "unit", "edges", "is_meaningless", "ops_count", "counts")},
    )


def _slices(run: Run, read: Document) -> Iterator[list[Any]]:
    rows_count = 1 + max((histogram["ordinal"] for histogram in read["histograms"]), default=-1)
    for piece in read["slices"]:
        place = [piece[column] for column in SLICE_COLUMNS[1:-1]]
        if parts := piece["histograms"]:
            yield [run.pk, *place, _counts_by_ordinal(rows_count, parts)]


def _counts_by_ordinal(rows_count: int, parts: list[Document]) -> list[list[int | None]]:
    """Return a row for each ordinal, all of one length as PostgreSQL has them; nulls if no part contains it."""
    length = max([1, *(len(part["counts"]) for part in parts)])
    # One for each: psycopg refuses a list that occurs twice.
    rows: list[list[int | None]] = [[None] * length for _ in range(rows_count)]
    for part in parts:
        rows[part["ordinal"]] = part["counts"] + [0] * (length - len(part["counts"]))
    return rows


def series_of(run: Run, series: Document) -> Series:
    """Return the packed intervals of a reading as a row that is not stored yet."""
    return Series(
        run=run,
        interval_s=series["interval_s"],
        start_s=series["start_s"],
        intervals_count=series["count"],
        encoding=series["encoding"],
        packed=base64.b64decode(series["data"], validate=True),
    )


def findings_of(run: Run, read: Document) -> list[Finding]:
    """Return the findings of a run as rows that are not stored yet."""
    columns = ("severity", "line", "sentence", "remedy")
    return [
        Finding(run=run, ordinal=ordinal, rule_id=finding["id"], **{name: finding[name] for name in columns})
        for ordinal, finding in enumerate(read["findings"])
    ]


def _share(run: Run, share: Document) -> Share:
    return Share(
        run=run,
        share_pct=exact_share_pct(share["over_count"], share["ops_count"]),
        printed=share["share_pct"],
        slice_number=share["slice"],
        **{name: share[name] for name in ("statistic", "threshold_us", "read_at_us", "over_count", "ops_count")},
    )


MOMENTS = ("before", "after")


@dataclass(frozen=True)
class RecordedState:
    """A drive before or after a run; None means not recorded. `never_reset`: not since its preparation began."""

    firmware: str | None = None
    over_provisioning_pct: Decimal | None = None
    reset_at: datetime | None = None
    never_reset: bool | None = None


@dataclass(frozen=True)
class RecordedDrive:
    """One physical drive, the preparation it had (its row's number), and its states."""

    key: str
    preparation_id: int | None
    before: RecordedState
    after: RecordedState


@dataclass(frozen=True)
class LabRecord:
    """The start time of the run by the register's own clock, and the drives that it ran on."""

    started_at: datetime | None
    drives: tuple[RecordedDrive, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the record as the submission stores it: times as ISO 8601, decimals as text."""
        document: dict[str, Any] = json.loads(json.dumps(asdict(self), default=_as_text))
        return document


def _as_text(value: datetime | Decimal) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def started_at(record: Mapping[str, Any]) -> datetime | None:
    """Return when the run was started, None of a log that no lab of the register ran."""
    at = record.get("started_at")
    return None if at is None else datetime.fromisoformat(at)


def write_drives(run: Run, record: Mapping[str, Any]) -> None:
    """Write the drives of a run; the caller holds the transaction."""
    DriveInRun.objects.bulk_create(_row(run, drive) for drive in record.get("drives", []))


def _row(run: Run, drive: Mapping[str, Any]) -> DriveInRun:
    # The columns convert the texts of times and decimals.
    states = {f"{name}_{moment}": value for moment in MOMENTS for name, value in drive[moment].items()}
    return DriveInRun(run=run, key=drive["key"], preparation_id=drive["preparation_id"], **states)
