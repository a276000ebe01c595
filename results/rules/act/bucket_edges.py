"""Bucket edges of histograms, and the edge of a log for a threshold.

A limit applies at the least edge that is not below the threshold (1024 us for 1 ms in a microsecond log), as in ACT.
The true share over the threshold is between the share at that edge and the share at the greatest edge not above it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

US_PER_UNIT = {"us": 1, "ms": 1000}
BUCKETS_COUNT = 65  # aerospike/act histogram.h: 0 to 64


@dataclass(frozen=True)
class Edge:
    """The lower end of a bucket."""

    bucket: int
    us: int


def edge_not_below(threshold_us: int, unit: str, *, is_first_version: bool = False) -> Edge:
    """Return the edge at which a threshold is read. `is_first_version`: ACT 1.x, bucket b begins at 2^b ms.

    Raises ValueError if the unit is neither us nor ms, or no bucket begins so late.

    >>> edge_not_below(1000, "us"), edge_not_below(1000, "ms")
    (Edge(bucket=11, us=1024), Edge(bucket=1, us=1000))
    """
    for edge in _edges(unit, is_first_version):
        if edge.us >= threshold_us:
            return edge
    raise ValueError(f"threshold: expected one that a histogram in {unit} reaches, got {threshold_us} us")


def edge_not_above(threshold_us: int, unit: str, *, is_first_version: bool = False) -> Edge:
    """Return the greatest edge that is not above a threshold: operations below it are certainly not over it.

    >>> edge_not_above(1000, "us"), edge_not_above(1000, "ms"), edge_not_above(1000, "ms", is_first_version=True)
    (Edge(bucket=10, us=512), Edge(bucket=1, us=1000), Edge(bucket=0, us=0))
    """
    return max((edge for edge in _edges(unit, is_first_version) if edge.us <= threshold_us), key=lambda edge: edge.us)


@cache
def bucket_span_us(bucket: int, unit: str, *, is_first_version: bool = False) -> tuple[int, int]:
    """Return the edges of a bucket in us: it holds what took as long as the first or longer, and less than the second.

    >>> bucket_span_us(0, "us"), bucket_span_us(11, "us"), bucket_span_us(1, "ms", is_first_version=True)
    ((0, 1), (1024, 2048), (2000, 4000))
    """
    edges = [edge.us for edge in _edges(unit, is_first_version)]
    return edges[bucket], edges[bucket + 1] if bucket + 1 < len(edges) else edges[bucket] * 2


def _edges(unit: str, is_first_version: bool) -> Iterator[Edge]:
    """Source: aerospike/act histogram.c; at fcb708a (1.x) bits_find_last_set() of whole milliseconds."""
    if unit not in US_PER_UNIT or (is_first_version and unit != "ms"):
        raise ValueError(f"unit: expected us or ms (ms in ACT 1.x), got {unit!r}")
    yield Edge(0, 0)
    for bucket in range(1, BUCKETS_COUNT):
        yield Edge(bucket, (1 << (bucket if is_first_version else bucket - 1)) * US_PER_UNIT[unit])
