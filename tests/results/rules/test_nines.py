"""Slow reads at scale."""

from fractions import Fraction

import pytest

from results.rules.nines import Scale, chance_of_a_slow_read, slow_reads, slow_share


def test_the_figures_of_the_brief_are_ten_to_forty_thousand_slow_reads():
    steps = slow_reads(Scale(Fraction(1_000_000), nines=5, drives=10, servers=20, racks=20))
    assert [(step.thing, step.slow_per_s) for step in steps] == [
        ("drive", 10), ("server", 100), ("rack", 2_000), ("room", 40_000),
    ]  # fmt: skip


@pytest.mark.parametrize(("nines", "share"), [(1, Fraction(1, 10)), (2, Fraction(1, 100)), (4, Fraction(1, 10_000))])
def test_one_more_nine_leaves_a_tenth(nines, share):
    assert slow_share(nines) == share


def test_less_than_one_nine_is_refused():
    with pytest.raises(ValueError, match="expected 1 or more, got 0"):
        slow_share(0)


@pytest.mark.parametrize(("nines", "reads"), [(1, 1), (1, 3), (2, 100), (5, 1_000)])
def test_the_chance_is_that_of_not_all_reads_being_fast(nines, reads):
    exact = 1 - (1 - Fraction(1, 10**nines)) ** reads
    assert chance_of_a_slow_read(nines, reads) == pytest.approx(float(exact), rel=1e-12)


def test_a_request_without_reads_meets_no_slow_read():
    assert chance_of_a_slow_read(5, 0) == 0


def test_tiny_shares_keep_their_digits():
    assert chance_of_a_slow_read(12, 1) == pytest.approx(1e-12, rel=1e-9)


def test_a_negative_number_of_reads_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        chance_of_a_slow_read(5, -1)
