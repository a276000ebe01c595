"""The comparison of shares with limits, against the answers that every implementation must give."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from results.rules import limits

VECTORS = Path(__file__).parents[1] / "data" / "verdict_vectors.jsonl"


def read_vectors():
    return [json.loads(line) for line in VECTORS.read_text().splitlines() if line.strip()]


@pytest.mark.parametrize("vector", read_vectors(), ids=lambda vector: vector["case"])
def test_a_share_is_within_its_limit_as_in_every_other_implementation(vector):
    answer = limits.is_count_within(vector["over_count"], vector["ops_count"], Decimal(vector["limit_pct"]))
    assert answer == vector["within"]


@pytest.mark.parametrize(
    ("over_count", "within"),
    [(49_999_999_999, True), (50_000_000_000, True), (50_000_000_001, False)],
)
def test_counts_decide_where_floats_would_round(over_count, within):
    assert limits.is_count_within(over_count, 10**12, Decimal("5")) is within


@pytest.mark.parametrize(("printed", "within"), [("4.99", True), ("5.00", True), ("5.01", False)])
def test_a_printed_share_equal_to_its_limit_is_within(printed, within):
    assert limits.is_share_within(Decimal(printed), Decimal("5")) is within


@pytest.mark.parametrize(
    ("over_count", "ops_count", "printed"),
    # Slices 1 and 4 of tests/data/act/6.6/slow-disk-ms.latency.txt; then halves, which ACT rounds as the
    # binary fractions they become: 0.005 % up, 0.015 % down.
    [(81, 6000, "1.35"), (350, 6006, "5.83"), (5, 100_000, "0.01"), (15, 100_000, "0.01"), (0, 7, "0.00")],
)
def test_shares_print_as_act_prints_them(over_count, ops_count, printed):
    assert str(limits.act_share_pct(over_count, ops_count)) == printed


def test_a_share_of_nothing_is_not_a_number():
    assert limits.act_share_pct(0, 0) is None


@pytest.mark.parametrize(("edge", "bucket"), [(1, 1), (8, 4), (64, 7), (1024, 11), (8192, 14), (65536, 17)])
def test_a_bucket_begins_at_each_power_of_two(edge, bucket):
    assert limits.first_bucket_at(edge) == bucket


@pytest.mark.parametrize("edge", [0, -4, 1000, 1023, 1025])
def test_an_edge_that_a_histogram_lacks_is_refused(edge):
    with pytest.raises(ValueError, match=f"expected a power of two, got {edge}"):
        limits.first_bucket_at(edge)


@pytest.mark.parametrize(("first_bucket", "expected"), [(0, 10), (1, 7), (2, 5), (3, 0), (9, 0)])
def test_operations_over_an_edge_are_those_in_its_bucket_and_above(first_bucket, expected):
    assert limits.over_count([3, 2, 5], 10, first_bucket) == expected


def test_limits_come_from_the_profile_by_rising_threshold():
    document = '{"limits": [{"threshold_us": 8000, "limit_pct": "1"}, {"threshold_us": 1000, "limit_pct": "0.10"}]}'
    parsed = limits.parse_limits(document)
    assert [(limit.threshold_us, str(limit.limit_pct)) for limit in parsed] == [(1000, "0.10"), (8000, "1")]
