"""Histograms of a run: which one was judged and compared, the table of buckets, and the rows of all counts as files."""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, Any

from results.access.withholding import is_withheld
from results.models import Histogram, Run, Share, Verdict
from results.rules.act.limits import Limit, act_share_pct, exact_share_pct
from webapp.register.http import files
from webapp.register.runs.slices import ReadLimit, SliceRow, bucket_text, cut_sentence, span_of
from webapp.register.runs.verdict import figure_of
from webapp.templatetags import units

SHOWN_HISTOGRAMS = 200  # a log of 128 devices has some 260
QUEUE = "queue-and-service"
TIME_LABELS = {QUEUE: "time in queue and service", "service": "service time", "": "not reported"}
ROLE_LABELS = {
    "reads": "read requests of the program",
    "writes": "write requests of the program",
    "device-reads": "reads at the devices",
    "device-writes": "writes at the devices",
    "reads-of-device": "reads of one device",
    "writes-of-device": "writes of one device",
    "large-block-reads": "large-block reads",
    "large-block-writes": "large-block writes",
}
QUEUED = "Times start when a request was due and include the program's queue, as in ACT up to 5.3."
NOT_COMPARED = "This log has no histogram of service times, so its times cannot be compared with those of ACT 6.x."
WITHHELD = "Histograms of single devices are withheld with the log."


def times_view(run: Run, verdict: Verdict | None, limits: Sequence[Limit]) -> dict[str, Any]:
    """Return which histogram was judged, which one comparisons use, and what each histogram counts.

    Histograms of single devices have the names of the devices, which are withheld with the log.
    """
    every = run.histograms.defer("counts")
    # Early readings have no device for a histogram; its name then begins with the device's path.
    histograms = every.filter(device="").exclude(name__contains="/") if is_withheld(run) else every
    document: Mapping[str, Any] = verdict.document if verdict else {}
    compared = document.get("compared") or {"histogram": "", "shares": []}
    rows, total = [_row(each, run) for each in histograms[:SHOWN_HISTOGRAMS]], histograms.count()
    return {
        "judged_sentence": judged_sentence(document),
        "compared_name": compared["histogram"],
        "compared": [figure_of(_share(each), limits) for each in compared["shares"]],
        "rows": rows,
        "cut_sentence": cut_sentence(len(rows), total, "The table has the first {shown} of {total} histograms."),
        "withheld_sentence": WITHHELD if is_withheld(run) and total < every.count() else "",
    }


def judged_sentence(document: Mapping[str, Any]) -> str:
    """Return the sentence on the judged histogram and its time; empty for early readings, which do not report them."""
    if not document.get("time"):
        return ""
    time = TIME_LABELS.get(document["time"], document["time"])
    judged = f"The verdict uses the histogram {document['histogram']}, {time}."
    if document["time"] != QUEUE:
        return judged
    compared = document.get("compared")
    note = (
        f"Comparisons with ACT 6.x use the histogram {compared['histogram']}, service time."
        if compared
        else NOT_COMPARED
    )
    return f"{judged} {QUEUED} {note}"


def _share(each: Mapping[str, Any]) -> Share:
    """Return a share of a verdict's document as a row that is not stored."""
    exact = exact_share_pct(each["over_count"], each["ops_count"])
    columns = {name: each[name] for name in ("statistic", "threshold_us", "over_count", "ops_count")}
    return Share(**columns, printed=each["share_pct"], share_pct=exact)


def _row(histogram: Histogram, run: Run) -> dict[str, Any]:
    return {
        "histogram": histogram,
        "counts": ROLE_LABELS.get(histogram.role, "not reported"),
        "time": TIME_LABELS.get(histogram.time, histogram.time),
        "use": _use(histogram, run),
    }


def _use(histogram: Histogram, run: Run) -> str:
    uses = {"judged": run.facts.get("judged_ordinal"), "compared": run.facts.get("compared_ordinal")}
    labels = [label for label, ordinal in uses.items() if ordinal == histogram.ordinal]
    if histogram.is_meaningless:
        labels.append("meaningless: every write went to one place")
    return ", ".join(labels)


def bucket_rows(histogram: Histogram, rows: Sequence[SliceRow], limits: Sequence[ReadLimit]) -> list[dict[str, Any]]:
    """Return the buckets from the first to the last with operations; none for a run without operations."""
    used = [bucket for bucket, count in enumerate(histogram.counts) if count]
    if not used:
        return []
    begins = {limit.first_bucket: units.threshold(limit.limit.threshold_us) for limit in limits}
    return [_bucket_row(histogram, rows, bucket, begins.get(bucket, "")) for bucket in range(used[0], used[-1] + 1)]


def _bucket_row(histogram: Histogram, rows: Sequence[SliceRow], bucket: int, limit: str) -> dict[str, Any]:
    """Return one bucket: its operations in the whole run and its largest share in a slice; "" if not known."""
    count = histogram.counts[bucket]
    largest = max((_bucket_share(row, bucket) for row in rows if row.slice.ops_count), default=None)
    return {
        "span": bucket_text(histogram, bucket),
        "ops_count": count,
        "share": units.share(str(act_share_pct(count, histogram.ops_count)), count),
        "largest": "" if largest is None else units.share(f"{largest[0]:.2f}", int(largest[0] > 0)),
        "slice_number": None if largest is None or not largest[0] else -largest[1],
        "limit": limit,
    }


def _bucket_share(row: SliceRow, bucket: int) -> tuple[float, int]:
    """Return the share of a bucket in a slice, and the negated slice number: the first of equal shares wins."""
    counts = row.slice.counts
    count = counts[bucket] if bucket < len(counts) else 0
    return count * 100 / row.slice.ops_count, -row.slice.number


HISTOGRAMS_SCHEMA = "drivecert.histograms/1"
COLUMNS = (
    *("part", "slice", "start_s", "end_s", "histogram", "name", "role", "device"),
    *("bucket", "lower_us", "upper_us", "count"),
)
LARGEST_US = 2**63 - 1  # the largest integer that all three formats can store
ROWS_AT_ONCE = 10_000

Row = tuple[str | int | None, ...]


def rows_of(run: Run) -> Iterator[Row]:
    """Yield the rows of a run, in the order of COLUMNS."""
    histograms = {histogram.ordinal: histogram for histogram in run.histograms.all()}
    for histogram in histograms.values():
        yield from _buckets(("run", None, 0, run.duration_s), histogram, histogram.counts)
    for number, start_s, end_s, counts in _slices(run):
        for ordinal, own in enumerate(counts):
            if own and own[0] is not None and ordinal in histograms:
                yield from _buckets(("slice", number, start_s, end_s), histograms[ordinal], own)


def _slices(run: Run) -> Iterator[tuple[int, int, int, list[Any]]]:
    return run.slices.values_list("number", "start_s", "end_s", "counts").iterator(chunk_size=500)


def _buckets(place: Row, histogram: Histogram, counts: Iterable[int]) -> Iterator[Row]:
    named = (histogram.ordinal, histogram.name, histogram.role, histogram.device)
    for bucket, count in enumerate(counts):
        if count:
            edges = (edge if edge <= LARGEST_US else None for edge in span_of(histogram, bucket))
            yield (*place, *named, bucket, *edges, count)


def write_csv(_run: Run, rows: Iterable[Row], file: IO[bytes]) -> None:
    """Write rows as CSV."""
    text = io.TextIOWrapper(file, "utf-8", newline="")
    files.write_csv(text, COLUMNS, rows)
    text.detach()


def write_json(run: Run, rows: Iterable[Row], file: IO[bytes]) -> None:
    """Write rows as one JSON document with one object for each row."""
    head = json.dumps({"schema": HISTOGRAMS_SCHEMA, "run": run.public_id}).removesuffix("}")
    file.write(head.encode() + b', "rows": [')
    separator = b"\n"
    for row in rows:
        file.write(separator + json.dumps(dict(zip(COLUMNS, row, strict=True))).encode())
        separator = b",\n"
    file.write(b"\n]}\n")


def write_parquet(_run: Run, rows: Iterable[Row], file: IO[bytes]) -> None:
    """Write rows as Parquet, compressed with zstd."""
    import pyarrow as pa  # noqa: PLC0415 - 0.5 s and 50 MB that only these files need
    import pyarrow.parquet as pq  # noqa: PLC0415

    texts = {"part", "name", "role", "device"}
    schema = pa.schema([(name, pa.string() if name in texts else pa.int64()) for name in COLUMNS])
    schema = schema.with_metadata({"schema": HISTOGRAMS_SCHEMA})
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        remaining = iter(rows)
        while batch := tuple(islice(remaining, ROWS_AT_ONCE)):
            columns = [
                pa.array(column, field.type) for column, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema))


# Of each form: its content type, and the function that writes it.
WRITERS: dict[str, tuple[str, Callable[[Run, Iterable[Row], IO[bytes]], None]]] = {
    "csv": (files.CSV_TYPE, write_csv),
    "json": ("application/json", write_json),
    "parquet": ("application/vnd.apache.parquet", write_parquet),
}
