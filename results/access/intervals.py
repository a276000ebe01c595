"""Intervals and slices of a run: minutes from the database, seconds read again from the stored log."""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

import zstandard
from django.db import connection

from results import locks
from results.access.mirrored_runs import is_mirrored, missing_log_message
from results.access.withholding import refuse_withheld
from results.evidence.store import EvidenceDamagedError, local_files
from results.ingest.rows import MEMBER_CHARS, series_of
from results.models import Run, Series, Slice
from results.models.querysets import SliceQuerySet
from results.reader import process as reader_process
from results.rules.act.latency_table import SliceCounts

ENCODING = "drivecert.series/1"
READ_BYTES = 64 * 1024
NUMBER_BYTES = 10  # of an unsigned LEB128 of 64 bits
WIDTH_MAX = 8
BUCKETS_MAX = 65
HISTOGRAMS_MAX = 100_000

Counts = list[int]


class SeriesDamagedError(Exception):
    """The bytes are no series of the encoding: the row is damaged, read the log again."""


@dataclass(frozen=True)
class Interval:
    """One interval: for each histogram, by its ordinal, its counts by bucket; None if they are not known."""

    start_s: int
    end_s: int
    counts: list[Counts | None]


def intervals(series: Series, from_s: int, to_s: int, ordinals: range | None = None) -> Iterator[Interval]:
    """Yield the whole intervals within [from_s, to_s), of all histograms or of those named, in their order.

    A histogram that is missing in a part of the series has the counts None there. Trailing zeros of
    counts are cut. Raises SeriesDamagedError.
    """
    if series.encoding != ENCODING:
        raise SeriesDamagedError(f"expected the encoding {ENCODING}, got {series.encoding}")
    first = max(0, -(-(from_s - series.start_s) // series.interval_s))
    end = min(series.intervals_count, (to_s - series.start_s) // series.interval_s)
    stream: BinaryIO = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(series.packed), READ_BYTES)
    number = 0
    while number < end:
        length = _bounded(stream, series.intervals_count - number, "intervals")
        histograms = [_histogram(stream, length) for _ in range(_bounded(stream, HISTOGRAMS_MAX, "histograms"))]
        if not length:
            raise SeriesDamagedError("expected a chunk of at least one interval, got none")
        # A log of 128 devices has some 260 histograms, and a chart shows one.
        chosen = range(len(histograms)) if ordinals is None else ordinals
        shown = [histograms[ordinal] if ordinal < len(histograms) else None for ordinal in chosen]
        for place in range(max(0, first - number), min(length, end - number)):
            start_s = series.start_s + (number + place) * series.interval_s
            counts = [histogram.at(place) if histogram else None for histogram in shown]
            yield Interval(start_s, start_s + series.interval_s, counts)
        number += length


@dataclass(frozen=True)
class _Histogram:
    """A histogram in one chunk: the index of each interval among the known ones, and the counts of each bucket."""

    places: list[int | None]
    columns: dict[int, list[int]]

    def at(self, interval: int) -> Counts | None:
        place = self.places[interval]
        if place is None:
            return None
        counts = [0] * (1 + max((bucket for bucket, column in self.columns.items() if column[place]), default=-1))
        for bucket, column in self.columns.items():
            if column[place]:
                counts[bucket] = column[place]
        return counts


def _histogram(stream: BinaryIO, length: int) -> _Histogram:
    places = _places(stream, length)
    known = sum(place is not None for place in places)
    columns = {}
    for _ in range(_bounded(stream, BUCKETS_MAX, "columns")):
        bucket = _bounded(stream, BUCKETS_MAX - 1, "bucket")
        width = _bounded(stream, WIDTH_MAX, "width")
        planes = [_exactly(stream, known) for _ in range(width)]  # each holds one byte of all values, the least first
        columns[bucket] = [int.from_bytes(value, "little") for value in zip(*planes, strict=True)]
    return _Histogram(places, columns)


def _places(stream: BinaryIO, length: int) -> list[int | None]:
    is_known = [True] * length
    for _ in range(_bounded(stream, length, "gaps")):
        first = _bounded(stream, length - 1, "first of a gap")
        gap = _bounded(stream, length - first, "length of a gap")
        is_known[first : first + gap] = [False] * gap
    place = 0
    places: list[int | None] = []
    for known in is_known:
        places.append(place if known else None)
        place += known
    return places


def _bounded(stream: BinaryIO, most: int, what: str) -> int:
    number = _number(stream)
    if number > most:
        raise SeriesDamagedError(f"expected {what} of at most {most}, got {number}")
    return number


def _number(stream: BinaryIO) -> int:
    number = 0
    for place in range(NUMBER_BYTES):
        byte = _exactly(stream, 1)[0]
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return number
    raise SeriesDamagedError(f"expected a number of at most {NUMBER_BYTES} bytes, got more")


def _exactly(stream: BinaryIO, size: int) -> bytes:
    try:
        got = stream.read(size)
    except zstandard.ZstdError as error:
        raise SeriesDamagedError(f"expected one zstd frame, got: {error}") from error
    if len(got) != size:
        raise SeriesDamagedError(f"expected {size} bytes more, got {len(got)}")
    return got


AT_ONCE = 1_000  # slices in memory at one time
COUNTED_BEFORE = """
SELECT coalesce(sum(bucket.counted), 0)::bigint, count(bucket.counted)
FROM results_slice slice, unnest(slice.counts[%(row)s:%(row)s]) WITH ORDINALITY AS bucket (counted, place)
WHERE slice.run_id = %(run)s AND slice.number < %(number)s
GROUP BY bucket.place ORDER BY bucket.place
"""


@dataclass(frozen=True)
class HistogramSlice(SliceCounts):
    """One slice of one histogram, and where in the run and in its log it is."""

    start_s: int
    end_s: int
    first_line: int
    last_line: int


def histogram_slices(slices: SliceQuerySet | Iterable[Slice]) -> list[HistogramSlice]:
    """Return the slices of one histogram (SliceQuerySet.of_histogram) with its counts."""
    return [_of_histogram(each) for each in slices]


def each_slice(slices: SliceQuerySet) -> Iterator[HistogramSlice]:
    """Yield the same slices one by one: a day in slices of a second has 86,400, too many to keep in memory."""
    return map(_of_histogram, slices.iterator(chunk_size=AT_ONCE))


def counted_before(run_pk: int, ordinal: int, number: int) -> tuple[list[int], int]:
    """Return by bucket what came to a histogram in the slices before one, and how many of these have its counts.

    They are added up where they are stored.
    """
    with connection.cursor() as cursor:
        cursor.execute(COUNTED_BEFORE, {"run": run_pk, "row": ordinal + 1, "number": number})
        found = cursor.fetchall()
    return [counted for counted, _ in found], found[0][1] if found else 0


def _of_histogram(each: Slice) -> HistogramSlice:
    (counts,) = each.own_counts  # type: ignore[attr-defined]
    place = (each.start_s, each.end_s, each.first_line, each.last_line)
    return HistogramSlice(each.number, counts, sum(counts), *place)


SLOTS = 2  # readings for onlookers at one time: each takes a processor for as long as the log is long


class NoIntervalsError(Exception):
    """The run has no intervals of that length; the sentence has the reason."""


class BusyError(Exception):
    """All slots for reading again are taken; ask again."""


def minutes_of(run: Run) -> Series:
    """Return the intervals that are stored with a run. Raises NoIntervalsError and WithheldError."""
    refuse_withheld(run)
    series = Series.objects.filter(run=run).first()
    if series is not None:
        return series
    if is_mirrored(run):
        raise NoIntervalsError(missing_log_message(run))
    raise NoIntervalsError(
        f"Run {run.public_id} has no stored minutes. Its log reports none, or an older reader read it."
    )


def seconds_of(run: Run, from_s: int, to_s: int) -> Series:
    """Read the intervals of a window again, each one second long, or as long as the log's report interval.

    The row is not stored. Raises NoIntervalsError, WithheldError, BusyError, EvidenceDamagedError, and what
    reader.process.read_intervals() raises.
    """
    if run.reading is None:
        raise NoIntervalsError(missing_log_message(run))
    refuse_withheld(run)
    evidence = run.reading.evidence
    with reading_slot(), local_files(evidence) as files:
        document = reader_process.read_intervals(files.log, from_s, to_s, files.companions)
    if document["input"]["sha256"] not in {None, evidence.sha256}:
        raise EvidenceDamagedError(f"{evidence}: its bytes have another hash now; restore a backup")
    place = (run.member, run.facts["first_line"])  # newer readers may number runs differently
    found = (
        each.get("series")
        for each in document["runs"]
        if ((each.get("member") or "")[:MEMBER_CHARS], each["first_line"]) == place
    )
    if (series := next(found, None)) is None:
        raise NoIntervalsError(f"Run {run.public_id} has no intervals: its log holds no report.")
    return series_of(run, series)


@contextmanager
def reading_slot() -> Iterator[None]:
    """Hold one of the slots for reading stored files on behalf of page readers. Raises BusyError if none is free."""
    for slot in range(SLOTS):
        with locks.try_lock(locks.SECONDS, slot) as is_ours:
            if is_ours:
                yield
                return
    raise BusyError
