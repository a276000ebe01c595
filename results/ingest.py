"""From what `drivetest read --json` printed to rows; the caller holds the transaction."""

from collections.abc import Iterator
from decimal import Decimal

from results.drivetest import Document
from results.identity import match_product
from results.models import (
    Evidence,
    Finding,
    Histogram,
    Profile,
    Reading,
    Run,
    Share,
    Slice,
    Statistic,
    Submission,
    Tier,
    Verdict,
)

BATCH_ROWS = 2000
FACTS = [
    "config", "derived", "devices", "stop", "unit", "reached_s", "report_interval_s", "generator", "io_errors_count",
    "first_line", "last_line", "device_count", "asked_duration_s", "intervals_count", "record_bytes",
    "record_bytes_max", "trailing_partial_s", "arrivals",
]  # fmt: skip
HISTOGRAM_COLUMNS = ["ordinal", "unit", "ops_count", "counts"]


def record_input(evidence: Evidence, document: Document) -> None:
    """Note the hash and length of the decompressed bytes, once."""
    told = document["input"]
    if told["content_sha256"] is None:
        return  # the bytes could not be had to their end: neither is of the whole
    content = {key: told[key] for key in ["content_sha256", "content_size_bytes"]}
    Evidence.objects.filter(pk=evidence.pk, content_sha256="").update(**content)


def record_runs(reading: Reading, document: Document, profile: Profile) -> None:
    """Write each run of a document that this reading has not written yet, with everything below it."""
    submission = reading.evidence.submission
    submission.product = submission.product or match_product(submission)
    submission.save(update_fields=["product"])
    for read in document["runs"]:
        columns = _run_columns(submission, read)
        run, is_new = Run.objects.get_or_create(reading=reading, ordinal=read["ordinal"], defaults=columns)
        if is_new:
            _write_below(run, read, document["reader"]["version"], profile)


def _run_columns(submission: Submission, read: Document) -> Document:
    reads, writes = _decimal(read["asked_reads_per_s"]), _decimal(read["asked_writes_per_s"])
    return {
        "submission": submission,
        "product": submission.product,
        "source": submission.organisation.name,
        "tier": Tier.LAB_VERIFIED if submission.origin == Submission.Origin.DISPATCH else Tier.VENDOR_REPORTED,
        "is_virtual": submission.is_virtual,
        "statistic": Statistic.WORST_SLICE,
        "workload": read["workload"][:20],
        "tool": read["tool"][:40],
        "tool_version": read["tool_version"][:20],
        "reads_per_s": reads,
        "writes_per_s": writes,
        "tps": None if reads is None or writes is None else reads + writes,
        "nx_load": _decimal(read["nx_load"]),
        "duration_s": read["reached_s"],
        "slice_length_s": read["slice_length_s"],
        "firmware": submission.firmware,
        "over_provisioning_pct": submission.over_provisioning_pct,
        "compress_pct": read["compress_pct"],
        "device_count": read["device_count"],
        "facts": {name: read[name] for name in FACTS if name in read},
    }


def _write_below(run: Run, read: Document, reader_version: str, profile: Profile) -> None:
    histograms = Histogram.objects.bulk_create(
        Histogram(run=run, name=histogram["name"][:160], **{key: histogram[key] for key in HISTOGRAM_COLUMNS})
        for histogram in read["histograms"]
    )
    Slice.objects.bulk_create(_slices(histograms, read), batch_size=BATCH_ROWS)
    Finding.objects.bulk_create(_findings(run, read))
    if read["verdict"] is not None:
        _write_verdict(run, read["verdict"], reader_version, profile)


def _slices(histograms: list[Histogram], read: Document) -> Iterator[Slice]:
    by_ordinal = {histogram.ordinal: histogram for histogram in histograms}
    for piece in read["slices"]:
        place = {key: piece[key] for key in ["number", "start_s", "end_s", "first_line", "last_line"]}
        for part in piece["histograms"]:
            histogram = by_ordinal[part["ordinal"]]
            yield Slice(histogram=histogram, ops_count=part["ops_count"], counts=part["counts"], **place)


def _findings(run: Run, read: Document) -> Iterator[Finding]:
    for ordinal, finding in enumerate(read["findings"]):
        rest = {key: finding[key] for key in ["severity", "line", "sentence", "remedy"]}
        yield Finding(run=run, ordinal=ordinal, rule_id=finding["id"], **rest)


def _write_verdict(run: Run, verdict: Document, reader_version: str, profile: Profile) -> None:
    Verdict.objects.create(
        run=run,
        profile=profile,
        outcome=verdict["outcome"],
        headline=verdict["headline"],
        document=verdict,
        reader_version=reader_version,
    )
    Share.objects.bulk_create(_share(run, share) for share in verdict["shares"])


def _share(run: Run, share: Document) -> Share:
    return Share(
        run=run,
        statistic=share["statistic"],
        threshold_us=share["threshold_us"],
        read_at_us=share["read_at_us"],
        share_pct=Decimal(share["share_pct"]),
        printed=share["share_pct"],
        over_count=share["over_count"],
        ops_count=share["ops_count"],
        slice_number=share["slice"],
    )


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
