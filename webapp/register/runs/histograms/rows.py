"""Every bucket of a run that anything came to, as rows: of the whole run, then slice by slice (docs/exports.md)."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import IO, Any

from results.models import Histogram, Run
from webapp.register.http.files import csv_cell
from webapp.register.runs.charts.over_time import span_of

SCHEMA = "drivecert.histograms/1"
COLUMNS = (
    *("part", "slice", "start_s", "end_s", "histogram", "name", "role", "device"),
    *("bucket", "lower_us", "upper_us", "count"),
)
LARGEST_US = 2**63 - 1  # of the numbers that all three forms hold
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


def write_csv(rows: Iterable[Row], file: IO[bytes]) -> None:
    """Write rows as CSV."""
    text = io.TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    text.detach()


def write_json(run: Run, rows: Iterable[Row], file: IO[bytes]) -> None:
    """Write rows as one JSON document, an object a row."""
    file.write(json.dumps({"schema": SCHEMA, "run": run.public_id}).removesuffix("}").encode() + b', "rows": [')
    parting = b"\n"
    for row in rows:
        file.write(parting + json.dumps(dict(zip(COLUMNS, row, strict=True))).encode())
        parting = b",\n"
    file.write(b"\n]}\n")


def write_parquet(rows: Iterable[Row], file: IO[bytes]) -> None:
    """Write rows as Parquet, compressed with zstd."""
    import pyarrow as pa  # noqa: PLC0415 - half a second and 50 MB that only these files are worth
    import pyarrow.parquet as pq  # noqa: PLC0415

    texts = {"part", "name", "role", "device"}
    schema = pa.schema([(name, pa.string() if name in texts else pa.int64()) for name in COLUMNS])
    schema = schema.with_metadata({"schema": SCHEMA})
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in _batches(rows):
            columns = [
                pa.array(column, field.type) for column, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _batches(rows: Iterable[Row]) -> Iterator[tuple[Row, ...]]:
    left = iter(rows)
    while batch := tuple(islice(left, ROWS_AT_ONCE)):
        yield batch


WRITERS: dict[str, Callable[[Run, Iterable[Row], IO[bytes]], None]] = {
    "csv": lambda _, rows, file: write_csv(rows, file),
    "json": write_json,
    "parquet": lambda _, rows, file: write_parquet(rows, file),
}
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
