"""Comparisons of shares with limits, checked against the results that every implementation must return."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from results.rules.act import limits
from results.rules.act.bucket_edges import edge_not_below
from results.rules.act.limits import CountedShare, Limit

VECTORS = Path(__file__).parents[3] / "data" / "verdict_vectors.jsonl"


def read_vectors():
    return [json.loads(line) for line in VECTORS.read_text().splitlines() if line.strip()]


@pytest.mark.parametrize("vector", read_vectors(), ids=lambda vector: vector["case"])
def test_a_share_is_within_its_limit_as_in_every_other_implementation(vector):
    answer = limits.is_count_within(vector["over_count"], vector["ops_count"], Decimal(vector["limit_pct"]))
    assert answer == vector["within"]


def of_histograms():
    return [vector for vector in read_vectors() if "buckets" in vector]


def with_comparison():
    return [vector for vector in read_vectors() if "compared" in vector]


@pytest.mark.parametrize("vector", read_vectors(), ids=lambda vector: vector["case"])
def test_a_share_prints_as_in_every_other_implementation(vector):
    if vector["share_pct"] is not None:
        assert str(limits.act_share_pct(vector["over_count"], vector["ops_count"])) == vector["share_pct"]


@pytest.mark.parametrize("vector", of_histograms(), ids=lambda vector: vector["case"])
def test_a_histogram_is_read_at_its_edges_as_in_every_other_implementation(vector):
    is_first_version = vector["buckets"] == "1.x"
    at = edge_not_below(vector["threshold_us"], vector["unit"], is_first_version=is_first_version)
    over_count = limits.over_count(vector["counts"], vector["ops_count"], at.bucket)
    assert (at.us, over_count) == (vector["read_at_us"], vector["over_count"])


@pytest.mark.parametrize("vector", with_comparison(), ids=lambda vector: vector["case"])
def test_the_share_that_comparisons_take_is_within_as_in_every_other_implementation(vector):
    compared = vector["compared"]
    limit_pct = Decimal(compared["limit_pct"])
    assert limits.is_count_within(compared["over_count"], compared["ops_count"], limit_pct) == compared["within"]


def test_there_are_vectors_of_every_kind():
    assert len(read_vectors()) > 100
    assert len(of_histograms()) > 20
    assert len(with_comparison()) >= 4


@pytest.mark.parametrize(
    ("over_count", "excess", "margin"),
    [(0, 0, 1), (25, "0.5", "0.5"), (50, 1, 0), (51, "1.02", "-0.02"), (1000, 20, -19)],
)
def test_excess_and_margin_are_exact_shares_of_the_limit(over_count, excess, margin):
    assert limits.excess_ratio(over_count, 1000, Decimal("5")) == Fraction(excess)
    assert limits.margin_ratio(over_count, 1000, Decimal("5")) == Fraction(margin)


@pytest.mark.parametrize(("ops_count", "limit_pct"), [(0, "5"), (1000, "0")])
def test_there_is_no_margin_without_operations_or_to_a_limit_of_zero(ops_count, limit_pct):
    assert limits.excess_ratio(0, ops_count, Decimal(limit_pct)) is None
    assert limits.margin_ratio(0, ops_count, Decimal(limit_pct)) is None


LIMITS = [Limit(1000, Decimal("5")), Limit(8000, Decimal("1")), Limit(64_000, Decimal("0.1"))]


@pytest.mark.parametrize(
    ("over_counts", "threshold_us", "margin"),
    [((40, 2, 0), 1000, "0.2"), ((10, 9, 0), 8000, "0.1"), ((60, 9, 2), 64_000, -1), ((25, 5, 0), 1000, "0.5")],
)
def test_the_nearest_limit_is_the_one_with_the_smallest_margin(over_counts, threshold_us, margin):
    shares = [CountedShare(limit.threshold_us, over, 1000) for limit, over in zip(LIMITS, over_counts, strict=True)]
    share, found = limits.nearest_limit(shares[::-1], LIMITS)
    assert (share.threshold_us, found) == (threshold_us, Fraction(margin))


@pytest.mark.parametrize("shares", [[], [CountedShare(1000, 0, 0)], [CountedShare(256, 1, 10)]])
def test_without_shares_there_is_no_nearest_limit(shares):
    assert limits.nearest_limit(shares, LIMITS) is None


@pytest.mark.parametrize(
    ("over_count", "within"),
    [(49_999_999_999, True), (50_000_000_000, True), (50_000_000_001, False)],
)
def test_counts_decide_if_floats_would_round(over_count, within):
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


def test_a_share_without_operations_is_not_a_number():
    assert limits.act_share_pct(0, 0) is None


@pytest.mark.parametrize(("first_bucket", "expected"), [(0, 10), (1, 7), (2, 5), (3, 0), (9, 0)])
def test_operations_over_an_edge_are_those_in_its_bucket_and_above(first_bucket, expected):
    assert limits.over_count([3, 2, 5], 10, first_bucket) == expected


def test_limits_of_the_profile_are_sorted_by_threshold():
    document = '{"limits": [{"threshold_us": 8000, "limit_pct": "1"}, {"threshold_us": 1000, "limit_pct": "0.10"}]}'
    parsed = limits.parse_limits(document)
    assert [(limit.threshold_us, str(limit.limit_pct)) for limit in parsed] == [(1000, "0.10"), (8000, "1")]
