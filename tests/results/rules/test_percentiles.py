"""Percentiles and slow reads at scale."""

from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.percentiles import (
    Scale,
    chance_of_a_slow_read,
    has_enough_samples,
    percentile,
    percentile_of_counts,
    slow_reads,
    slow_share,
    tail_count,
)


def test_p9999_of_a_million_samples_is_the_smallest_of_the_100_largest():
    assert percentile(range(1, 1_000_001), Decimal("99.99")) == 999_901


@pytest.mark.parametrize(
    ("ops_count", "percentile_pct", "count"),
    [
        (9_999, "99.99", 0),
        (10_000, "99.99", 1),
        (19_999, "99.99", 1),
        (20_000, "99.99", 2),
        (1000, "99.9", 1),
        (5, "0", 5),
    ],
)
def test_the_tail_is_counted_exactly(ops_count, percentile_pct, count):
    assert tail_count(ops_count, Decimal(percentile_pct)) == count


@pytest.mark.parametrize("percentile_pct", ["-1", "100", "100.1"])
def test_what_is_no_percentile_is_refused(percentile_pct):
    with pytest.raises(ValueError, match="expected 0 to below 100"):
        tail_count(10, Decimal(percentile_pct))


@pytest.mark.parametrize(("samples", "expected"), [([7], None), ([], None), ([5, 9], 9), ([9, 5, 7, 8], 8)])
def test_too_few_samples_have_no_median_of_this_rule(samples, expected):
    assert percentile(samples, Decimal("50")) == expected


@pytest.mark.parametrize("percentile_pct", ["0", "50", "90", "99", "99.9", "99.99"])
@pytest.mark.parametrize("counts", [[], [(3, 1)], [(7, 500), (1, 9_400), (90, 99), (400, 1)], [(2, 10_000)]])
def test_counts_and_samples_give_one_answer(counts, percentile_pct):
    samples = [value for value, count in counts for _ in range(count)]
    assert percentile_of_counts(counts, Decimal(percentile_pct)) == percentile(samples, Decimal(percentile_pct))


@pytest.mark.parametrize(("ops_count", "enough"), [(99_999, False), (100_000, True)])
def test_a_percentile_needs_ten_samples_beyond_it(ops_count, enough):
    assert has_enough_samples(ops_count, Decimal("99.99")) is enough


def test_the_brief_goes_from_ten_slow_reads_to_forty_thousand():
    steps = slow_reads(Scale(Fraction(1_000_000), nines=5, drives=10, servers=20, racks=20))
    assert [(step.thing, step.slow_per_s) for step in steps] == [
        ("drive", 10), ("server", 100), ("rack", 2_000), ("room", 40_000),
    ]  # fmt: skip


@pytest.mark.parametrize(("nines", "share"), [(1, Fraction(1, 10)), (2, Fraction(1, 100)), (4, Fraction(1, 10_000))])
def test_a_nine_more_leaves_a_tenth(nines, share):
    assert slow_share(nines) == share


def test_less_than_one_nine_is_refused():
    with pytest.raises(ValueError, match="expected 1 or more, got 0"):
        slow_share(0)


@pytest.mark.parametrize(("nines", "reads"), [(1, 1), (1, 3), (2, 100), (5, 1_000)])
def test_the_chance_is_that_of_not_all_reads_being_fast(nines, reads):
    exact = 1 - (1 - Fraction(1, 10**nines)) ** reads
    assert chance_of_a_slow_read(nines, reads) == pytest.approx(float(exact), rel=1e-12)


def test_a_request_without_reads_meets_none():
    assert chance_of_a_slow_read(5, 0) == 0


def test_tiny_shares_keep_their_digits():
    assert chance_of_a_slow_read(12, 1) == pytest.approx(1e-12, rel=1e-9)


def test_a_negative_number_of_reads_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        chance_of_a_slow_read(5, -1)
