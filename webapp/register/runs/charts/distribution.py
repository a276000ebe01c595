"""Pictures of how long the reads of a run took: the heat map over its time, and the distribution of all reads.

The heat map has a row for each bucket of the log, and the distribution a bar. Both mark the bucket edges at which the
limits are evaluated.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from math import floor, log10

from django.utils.safestring import SafeString

from results.models import Histogram
from webapp.register.runs.charts.drawing import (
    FULL,
    Linear,
    Tick,
    drawing,
    element,
    joined,
    percent,
    stretched,
    time_ticks,
)
from webapp.register.runs.charts.over_time import Column, OverTime
from webapp.register.runs.charts.slice_marks import SliceMarks, draw_slices
from webapp.register.runs.slices import ReadLimit, bucket_text, span_of
from webapp.templatetags import units

SHADE_EDGES_PCT = (0.001, 0.01, 0.1, 1, 2, 5, 10, 25)  # a shade for each step, narrow around the limits; h0 is zero
EDGE_TEXTS_MAX = 12  # along a bottom axis
ROW_TEXTS_MAX = 24  # along the upright axis of the heat map, which is twice as high as other charts
LEAST_PCT = 1e-5  # of the logarithmic axis, unless a share is smaller


def shade_of(share: float) -> int:
    """Return the number of the shade of a share in percent. Each shade includes its lower edge.

    >>> [shade_of(share) for share in (0, 1e-7, 0.001, 0.5, 1, 1.99, 2, 5, 10, 25, 100)]
    [0, 1, 2, 4, 5, 5, 6, 7, 8, 9, 9]
    """
    return bisect_right(SHADE_EDGES_PCT, share) + 1 if share else 0


def shade_key() -> list[tuple[int, str]]:
    """Return each shade with the shares that it shows, for the key.

    >>> shade_key()[:3], shade_key()[-2:]
    ([(0, 'none'), (1, 'under 0.001'), (2, '0.001 to 0.01')], [(8, '10 to 25'), (9, '25 or more')])
    """
    between = (f"{low:g} to {high:g}" for low, high in pairwise(SHADE_EDGES_PCT))
    texts = ("none", f"under {SHADE_EDGES_PCT[0]:g}", *between, f"{SHADE_EDGES_PCT[-1]:g} or more")
    return list(enumerate(texts))


def heat_map(
    histogram: Histogram, data: OverTime, limits: Sequence[ReadLimit], slices: SliceMarks | None = None
) -> SafeString:
    """Return the heat map of a run; a run without reads has an empty one."""
    columns, buckets = data.columns, data.buckets
    x_ticks, x_title = time_ticks(columns[0].start_s, columns[-1].end_s)
    time = Linear(columns[0].start_s, columns[-1].end_s)
    shades = [[_shade(column, row) for column in columns] for row in range(len(buckets))]
    marks = [*_cells(shades), *_columns(histogram, data)]
    return drawing(
        "Distribution of the reads over the run: one row for each bucket of the log",
        stretched(max(1, len(columns)), max(1, len(buckets)), marks),
        x_ticks=x_ticks,
        y_ticks=_edge_ticks(histogram, buckets, limits, ROW_TEXTS_MAX),
        x_title=x_title,
        above=joined([_edge_lines(buckets, limits), draw_slices(slices, time)]),
        kind="heat-map",
    )


def _shade(column: Column, row: int) -> int | None:
    share = column.shares[row]
    return None if share is None else shade_of(share)


def _cells(shades: Sequence[Sequence[int | None]]) -> Iterator[SafeString]:
    """Yield a path for each shade. Equal neighbours in a row are one rectangle of it."""
    paths: dict[int, list[str]] = {}
    for row, line in enumerate(reversed(shades)):  # the fastest bucket is at the bottom
        start = 0
        for shade, same in groupby(line):
            length = len(list(same))
            if shade:
                paths.setdefault(shade, []).append(f"M{start} {row}h{length}v1h-{length}z")
            start += length
    return (element("path", class_=f"h{shade}", d="".join(paths[shade])) for shade in sorted(paths))


def _columns(histogram: Histogram, data: OverTime) -> Iterator[SafeString]:
    """Yield a transparent bar for each column, which shows its text next to the pointer."""
    for place, column in enumerate(data.columns):
        text = element("title", _slowest(histogram, data.buckets, column))
        yield element("rect", text, class_="pointer", x=place, y=0, width=1, height=max(1, len(data.buckets)))


def _slowest(histogram: Histogram, buckets: range, column: Column) -> str:
    span = units.span(column.start_s, column.end_s)
    slow = next((place for place in reversed(range(len(buckets))) if column.shares[place]), None)
    if slow is None:
        return f"{span}: no data"
    return (
        f"{span}: the slowest reads took {bucket_text(histogram, buckets[slow])}, {column.shares[slow]:.3g} % of reads"
    )


def _edge_ticks(
    histogram: Histogram, buckets: range, limits: Sequence[ReadLimit], most: int = EDGE_TEXTS_MAX
) -> list[Tick]:
    """Return the edges of the buckets, with the edges of limits and the last upper edge among them."""
    if not buckets:
        return []
    read_at = {limit.first_bucket for limit in limits}
    always = read_at | {buckets.stop}
    step = -(-(len(buckets) + 1) // most)
    edges = [span_of(histogram, bucket)[0] for bucket in buckets] + [span_of(histogram, buckets[-1])[1]]
    return [
        Tick((bucket - buckets.start) / len(buckets), units.threshold(edge), is_strong=bucket in read_at)
        for bucket, edge in enumerate(edges, buckets.start)
        if bucket in always or ((bucket - buckets.start) % step == 0 and (step == 1 or not _near(bucket, always, step)))
    ]


def _near(bucket: int, always: set[int], step: int) -> bool:
    """Return whether the text of an edge would be too near to one that is always shown."""
    return any(abs(bucket - other) < step for other in always)


def _edge_lines(buckets: range, limits: Sequence[ReadLimit]) -> SafeString:
    parts = (percent(1 - (limit.first_bucket - buckets.start) / len(buckets))
             for limit in limits if limit.first_bucket in buckets)  # fmt: skip
    return joined(element("line", class_="limit", x1=0, x2=FULL, y1=y, y2=y) for y in parts)


def distribution(histogram: Histogram, rows: Sequence[Mapping[str, object]], limits: Sequence[ReadLimit]) -> SafeString:
    """Return the distribution of all reads of a run: a bar for each row of bucket_rows(), on a logarithmic axis."""
    counts = [count for count in histogram.counts if count]
    least = min([LEAST_PCT, *(_axis_start(count * 100 / histogram.ops_count) for count in counts)])
    used = [bucket for bucket, count in enumerate(histogram.counts) if count]
    buckets = range(used[0], used[-1] + 1)
    return drawing(
        f"Distribution of all reads: % of {histogram.name} in each bucket of the log, on a logarithmic axis",
        stretched(len(buckets), 100, _share_bars(histogram, buckets, rows, least)),
        x_ticks=[Tick(tick.part, tick.text, tick.is_strong) for tick in _edge_ticks(histogram, buckets, limits)],
        y_ticks=_decades(least),
        x_title="took at least",
        above=_upright_lines(buckets, limits),
        kind="distribution",
    )


def _axis_start(share: float) -> float:
    """Return the power of ten at which the axis starts so that the bar of a share has a height."""
    return float(10.0 ** (floor(log10(share)) - 1))


def _log_part(share: float, least: float) -> float:
    """Return the height of a share between the least one and 100 %."""
    return 0.0 if share < least else 1 - log10(share / 100) / log10(least / 100)


def _share_bars(
    histogram: Histogram, buckets: range, rows: Iterable[Mapping[str, object]], least: float
) -> Iterator[SafeString]:
    for place, (bucket, row) in enumerate(zip(buckets, rows, strict=True)):
        count = histogram.counts[bucket]
        height = 100 * _log_part(count * 100 / histogram.ops_count, least) if count else 0.0
        text = f"{row['span']}: {count:,d} reads, {row['share']} %"
        text += f"; at most {row['largest']} % in a slice" if row["largest"] else ""
        yield element(
            "rect", element("title", text), class_="bar", x=place + 0.1, width=0.8, y=100 - height, height=height
        )


def _decades(least: float) -> list[Tick]:
    """Return ticks at every second power of ten."""
    lowest = round(log10(least))
    powers = range(2, lowest - 1, -2)
    return [Tick((power - lowest) / (2 - lowest), f"{10.0**power:.10f}".rstrip("0").rstrip(".")) for power in powers]


def _upright_lines(buckets: range, limits: Sequence[ReadLimit]) -> SafeString:
    parts = (percent((limit.first_bucket - buckets.start) / len(buckets))
             for limit in limits if limit.first_bucket in buckets)  # fmt: skip
    return joined(element("line", class_="limit", x1=x, x2=x, y1=0, y2=FULL) for x in parts)
