"""Generator of tests/data/verdict_vectors.jsonl: the required results for shares, limits and edges.

`python tests/make_verdict_vectors.py > tests/data/verdict_vectors.jsonl`. All comparisons are of exact fractions. A
printed percentage is the exact value of ACT's double, rounded half to even. The generator does not use the tested
programs. docs/reference/formats.md describes the lines.
"""

import json
import sys
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

Line = dict[str, object]

LIMITS_PCT = {"5": 1000, "1": 10_000, "0.1": 100_000, "0.10": 7_200_000, "3.005": 20_000, "0.001": 1_000_000}
"""Limits, and operation counts of which each limit allows a whole number."""

THRESHOLDS_US = (1000, 8000, 64_000)
DOUBLE_WHOLE_MAX = 2**53
COUNT_MAX = 2**63 - 1


def main() -> None:
    """Print every line."""
    for line in lines():
        sys.stdout.write(json.dumps(line) + "\n")


def lines() -> Iterator[Line]:
    """Return the lines in the order of the file."""
    yield from limit_edges()
    yield from rounding()
    yield from nothing_and_everything()
    yield from great_counts()
    yield from real_shares()
    yield from bucket_edges()
    yield from first_version_buckets()
    yield from queue_time()


def share(case: str, over_count: int, ops_count: int, limit_pct: str) -> Line:
    """Return the line of one share and one limit."""
    return {
        "case": case,
        "over_count": over_count,
        "ops_count": ops_count,
        "limit_pct": limit_pct,
        "within": is_within(over_count, ops_count, limit_pct),
        "share_pct": printed_pct(over_count, ops_count),
    }


def is_within(over_count: int, ops_count: int, limit_pct: str) -> bool:
    """Compare exact fractions; no operations are within any limit."""
    return ops_count == 0 or Fraction(over_count, ops_count) * 100 <= Fraction(limit_pct)


def printed_pct(over_count: int, ops_count: int) -> str | None:
    """Return the percentage that ACT prints; None without operations, or if doubles cannot represent the counts.

    Source: aerospike/act analysis/act_latency.py, bucket_percentages_over(): round(over * 100.0 / total, 2).
    """
    if ops_count == 0 or over_count * 100 > DOUBLE_WHOLE_MAX or ops_count > DOUBLE_WHOLE_MAX:
        return None
    return str(Decimal(over_count * 100.0 / ops_count).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN))


def limit_edges() -> Iterator[Line]:
    for limit_pct, ops_count in LIMITS_PCT.items():
        equal = int(Fraction(limit_pct) / 100 * ops_count)
        for word, over_count in (("one under", equal - 1), ("equal to", equal), ("one over", equal + 1)):
            yield share(f"{word} {limit_pct} %", over_count, ops_count, limit_pct)
    yield share("a limit that no whole count meets, below", 33, 1000, "3.33")
    yield share("a limit that no whole count meets, above", 34, 1000, "3.33")
    yield share("a third is over 33.33", 1, 3, "33.33")
    yield share("a third is within 33.34", 1, 3, "33.34")


def rounding() -> Iterator[Line]:
    for word, over_count in (("under", 49_999), ("equal", 50_000), ("over", 50_001)):
        yield share(f"prints as 5.00 and is {word}", over_count, 1_000_000, "5")
    yield share("prints as 0.10 and is over 0.1", 1049, 1_000_000, "0.1")
    yield share("prints as 0.10 and is under 0.1", 951, 1_000_000, "0.1")
    yield share("prints as 0.00 and is over 0", 1, 1_000_000, "0")
    yield share("prints as 3.00 and is over 3", 601, 20_000, "3")
    # Quotients of eighths are exact doubles, so the half is exact and is rounded to the even digit.
    for over_count in (1, 3, 5, 7, 9, 11):
        yield share(f"{over_count} of 800: a true half", over_count, 800, "1")
    # These halves are not doubles: the double decides the direction, not the decimal.
    for over_count in (5, 15, 25, 35, 1005, 2675):
        yield share(f"{over_count} of 100000: a half that no double is", over_count, 100_000, "5")


def nothing_and_everything() -> Iterator[Line]:
    yield share("none over 0", 0, 1_000_000, "0")
    yield share("no operations", 0, 0, "5")
    yield share("no operations, nothing allowed", 0, 0, "0")
    yield share("all over", 100, 100, "5")
    yield share("all over, all allowed", 100, 100, "100")
    yield share("one operation, over", 1, 1, "99.999999999")
    yield share("one operation, not over", 0, 1, "0.1")


def great_counts() -> Iterator[Line]:
    half = (COUNT_MAX + 1) // 2
    yield share("greatest counts, half over 50", half, COUNT_MAX, "50")
    yield share("greatest counts, half under 50", half - 1, COUNT_MAX, "50")
    yield share("greatest counts, all over 99.999999999", COUNT_MAX, COUNT_MAX, "99.999999999")
    yield share("greatest counts, one over 0", 1, COUNT_MAX, "0")
    yield share("greatest counts, one over the least limit", 1, COUNT_MAX, "0.000000001")
    beyond = DOUBLE_WHOLE_MAX + 1
    yield share("beyond what a double holds, equal", beyond, beyond * 20, "5")
    yield share("beyond what a double holds, one over", beyond + 1, beyond * 20, "5")
    yield share("a product beyond 64 bits, equal", 5 * 10**16, 10**18, "5")
    yield share("a product beyond 64 bits, one over", 5 * 10**16 + 1, 10**18, "5")


def real_shares() -> Iterator[Line]:
    yield share("the published 5.00 %, as counts of an hour at 30x", 10_800_000, 216_000_000, "5")
    yield share("slow-disk, 64 ms in slice 2", 20, 6000, "0.1")
    yield share("slow-disk, 1 ms in slice 4", 350, 6006, "5")
    yield share("slow-disk, 1 ms in slice 3", 229, 6000, "5")


def bucket_edges() -> Iterator[Line]:
    """Yield both sides of each threshold's edge: one operation in the last bucket below it or in the first above."""
    for unit in ("ms", "us"):
        for threshold_us in THRESHOLDS_US:
            edge = threshold_us // 1000 * (1024 if unit == "us" else 1)
            first = edge.bit_length()
            for word, bucket in (("under", first - 1), ("at", first), ("far over", 64)):
                counts = [0] * (bucket + 1)
                counts[0] += 99
                counts[bucket] += 1
                case = f"{unit} log, one operation {word} the edge for {threshold_us} us"
                yield histogram(case, "2.0", unit, counts, threshold_us, "1")
                yield histogram(f"{case}, of which less is allowed", "2.0", unit, counts, threshold_us, "0.999999999")
    between = [90, *[0] * 9, 5, 5]
    yield histogram("us log within at 1024 us, over at 512 us", "2.0", "us", between, 1000, "5")
    yield histogram("us log within at both edges", "2.0", "us", between, 1000, "10")
    yield histogram("us log over at both edges", "2.0", "us", between, 1000, "4.9")


def first_version_buckets() -> Iterator[Line]:
    """Yield lines of 1.x: bucket 0 is [0, 2) ms, bucket b [2^b, 2^(b+1)) ms. 1 ms is no edge: every verdict is void.

    Source: aerospike/act fcb708a, histogram.c: bits_find_last_set() of whole milliseconds.
    """
    for threshold_us in THRESHOLDS_US:
        for bucket in (2, 3, 5, 6):
            counts = [99, *[0] * (bucket - 1), 1]
            case = f"1.x log, one operation in bucket {bucket}, {threshold_us} us"
            yield histogram(case, "1.x", "ms", counts, threshold_us, "1") | {"outcome": "void"}


def histogram(case: str, buckets: str, unit: str, counts: list[int], threshold_us: int, limit_pct: str) -> Line:
    """Return the line of a histogram: the share at the edge used for the threshold, and its upper bound."""
    edges = [edge_us(buckets, unit, bucket) for bucket in range(len(counts))]
    read_at_us = read_at(buckets, unit, threshold_us)
    # The true share over the threshold is at most that over the greatest edge not above it.
    below_us = max(edge for edge in (edge_us(buckets, unit, bucket) for bucket in range(65)) if edge <= threshold_us)
    over_count = sum(count for count, edge in zip(counts, edges, strict=True) if edge >= read_at_us)
    at_most_count = sum(count for count, edge in zip(counts, edges, strict=True) if edge >= below_us)
    ops_count = sum(counts)
    return share(case, over_count, ops_count, limit_pct) | {
        "buckets": buckets,
        "unit": unit,
        "counts": counts,
        "threshold_us": threshold_us,
        "read_at_us": read_at_us,
        "over_at_most_count": at_most_count,
        "at_most_within": is_within(at_most_count, ops_count, limit_pct),
    }


def edge_us(buckets: str, unit: str, bucket: int) -> int:
    """Return the lower edge of a bucket in microseconds."""
    if bucket == 0:
        return 0
    power = bucket if buckets == "1.x" else bucket - 1
    return (1 << power) * (1000 if unit == "ms" else 1)


def read_at(buckets: str, unit: str, threshold_us: int) -> int:
    """Return the edge used for a threshold: the smallest one that is not below it."""
    return min(edge for edge in (edge_us(buckets, unit, bucket) for bucket in range(65)) if edge >= threshold_us)


def queue_time() -> Iterator[Line]:
    """Yield lines of logs up to 5.3: `reads` is judged with its queue time; comparisons use the device's reads."""
    for case, version, names, judged, compared in (
        ("waiting alone is over", "5.3", ("reads", "device-reads"), (51, 1000), (10, 1000)),
        ("equal with waiting, none without", "5.0", ("reads", "device-reads"), (50, 1000), (0, 1000)),
        ("both over", "4.0", ("READS", "RAW READS"), (60, 1000), (51, 1000)),
        ("snapshots a few operations apart", "2.0", ("READS", "RAW READS"), (49, 1000), (50, 1003)),
    ):
        yield share(f"queue time, {case}", *judged, "5") | {
            "version": version,
            "histogram": names[0],
            "time": "with-queue",
            "compared": share(f"{case}, compared", *compared, "5") | {"histogram": names[1], "time": "service"},
        }


if __name__ == "__main__":
    main()
