"""What a packed series holds: the counts of every histogram of a run, interval by interval.

Source: docs/formats.md, "The series of a run". The bytes are our reader's, and what it read was hostile: they are
decoded as a stream, one chunk of intervals at a time, and what does not add up is refused.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

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
class Packed:
    """A series as it is stored: `count` intervals of `interval_s` seconds from `start_s` on."""

    interval_s: int
    start_s: int
    count: int
    encoding: str
    content: bytes


@dataclass(frozen=True)
class Interval:
    """One interval: for each histogram, by its ordinal, its counts by bucket; None where they are not known."""

    start_s: int
    end_s: int
    counts: list[Counts | None]


def intervals(series: Packed, from_s: int, to_s: int, ordinals: range | None = None) -> Iterator[Interval]:
    """Yield the whole intervals within [from_s, to_s), of all histograms or of those named, in their order.

    A histogram that a part of the series does not tell had not appeared there: its counts are None. Trailing zeros of
    counts are cut. Raises SeriesDamagedError.
    """
    if series.encoding != ENCODING:
        raise SeriesDamagedError(f"expected the encoding {ENCODING}, got {series.encoding}")
    first = max(0, -(-(from_s - series.start_s) // series.interval_s))
    end = min(series.count, (to_s - series.start_s) // series.interval_s)
    for number, counts in _numbered(series, range(first, end), ordinals):
        start_s = series.start_s + number * series.interval_s
        yield Interval(start_s, start_s + series.interval_s, counts)


def _numbered(series: Packed, window: range, ordinals: range | None) -> Iterator[tuple[int, list[Counts | None]]]:
    stream = _decompressed(series.content)
    number = 0
    while number < min(window.stop, series.count):
        length = _bounded(stream, series.count - number, "intervals")
        histograms = [_histogram(stream, length) for _ in range(_bounded(stream, HISTOGRAMS_MAX, "histograms"))]
        if not length:
            raise SeriesDamagedError("expected a chunk of at least one interval, got none")
        shown = _chosen(histograms, ordinals)
        for place in range(max(0, window.start - number), min(length, window.stop - number)):
            yield number + place, [histogram.at(place) if histogram else None for histogram in shown]
        number += length


def _chosen(histograms: list["_Histogram"], ordinals: range | None) -> list["_Histogram | None"]:
    """Only of these are counts made: a log of 128 devices has some 260 histograms, and a chart shows one."""
    if ordinals is None:
        return list(histograms)
    return [histograms[ordinal] if ordinal < len(histograms) else None for ordinal in ordinals]


@dataclass(frozen=True)
class _Histogram:
    """A histogram in one chunk: where each interval stands among the known ones, and the counts of each bucket."""

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
        columns[bucket] = _column([_exactly(stream, known) for _ in range(width)])
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


def _column(planes: list[bytes]) -> list[int]:
    """Return the values of which each plane holds one byte, the least first."""
    return [int.from_bytes(value, "little") for value in zip(*planes, strict=True)]


def _decompressed(content: bytes) -> BinaryIO:
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(content), READ_BYTES)


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
