"""The register's own marks."""

from decimal import Decimal

import pytest

from results.models import Run
from webapp.register.tables.marks import nearness_mark, run_tier_mark, tier_mark


@pytest.mark.parametrize(
    ("share", "limit", "fill"),
    [
        ("0", "5", ""),
        ("0.005", "5", ""),
        ("0.01", "5", "0.1"),
        ("2.50", "5", "22.0"),
        ("5", "5", "44.0"),
        ("9", "5", "44.0"),
    ],
)
def test_a_track_fills_towards_its_limit_and_no_further(share, limit, fill):
    assert nearness_mark(Decimal(share), Decimal(limit), is_over=False).fill_units == fill


@pytest.mark.parametrize(("share", "is_strong"), [("4.49", False), ("4.50", True), ("5.00", True)])
def test_a_mark_is_strong_from_nine_tenths_of_the_limit(share, is_strong):
    assert nearness_mark(Decimal(share), Decimal(5), is_over=False).is_strong is is_strong


def test_a_share_over_by_counts_is_strong_and_boxed_whatever_it_prints():
    mark = nearness_mark(Decimal("0.10"), Decimal("0.1"), is_over=True)
    assert (mark.is_over, mark.is_strong, mark.fill_units) == (True, True, "44.0")


@pytest.mark.parametrize(("share", "fill"), [("0", ""), ("0.001", "44.0")])
def test_a_limit_of_zero_is_reached_by_any_share(share, fill):
    assert nearness_mark(Decimal(share), Decimal(0), is_over=False).fill_units == fill


@pytest.mark.parametrize(
    ("tier", "filled"), [("published", 1), ("vendor-reported", 2), ("reviewed", 3), ("lab-verified", 4)]
)
def test_a_tier_fills_as_many_bars_as_it_is_sure(tier, filled):
    assert sum(bar.is_filled for bar in tier_mark(tier).bars) == filled


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("Aerospike", "published, Aerospike"),
        ("Micron", "published, maker"),
        ("", "published, source not stated"),
    ],
)
def test_a_published_run_says_who_tested(source, word):
    assert run_tier_mark(Run(tier="published", source=source)).word == word


def test_other_tiers_are_their_own_word():
    assert run_tier_mark(Run(tier="reviewed", source="Aerospike")).word == "reviewed"
