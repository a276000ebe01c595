"""The register's own marks."""

import re
from decimal import Decimal

import pytest

from results.models import Run
from webapp.register.tables import columns
from webapp.register.tables.marks import nearness_mark, run_tier_mark, tier_mark
from webapp.register.tables.tables import word_cell


def drawn(share, limit, is_over=False):
    """Return class and width of the rectangle that fills a mark, both empty if none does."""
    mark = nearness_mark(Decimal(share), Decimal(limit), is_over=is_over).html
    found = re.search(r'<rect class="(fill|strong)" y="3" width="([0-9.]+)"', mark)
    return found.groups() if found else ("", "")


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
def test_a_track_fills_up_to_its_limit(share, limit, fill):
    assert drawn(share, limit)[1] == fill


@pytest.mark.parametrize(("share", "is_strong"), [("4.49", False), ("4.50", True), ("5.00", True)])
def test_a_mark_is_strong_from_90_per_cent_of_the_limit_on(share, is_strong):
    assert (drawn(share, "5")[0] == "strong") is is_strong


def test_a_share_over_its_limit_by_counts_is_strong_and_boxed_for_any_printed_value():
    assert drawn("0.10", "0.1", is_over=True) == ("strong", "44.0")
    assert 'class="beyond"' in nearness_mark(Decimal("0.10"), Decimal("0.1"), is_over=True).html


@pytest.mark.parametrize(("share", "fill"), [("0", ""), ("0.001", "44.0")])
def test_any_share_reaches_a_limit_of_zero(share, fill):
    assert drawn(share, "0")[1] == fill


@pytest.mark.parametrize(
    ("tier", "filled"), [("published", 1), ("vendor-reported", 2), ("reviewed", 3), ("lab-verified", 4)]
)
def test_a_tier_fills_bars_by_its_confidence(tier, filled):
    assert tier_mark(tier).html.count('class="on"') == filled


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("Aerospike", "published, Aerospike"),
        ("Micron", "published, maker"),
        ("", "published, source not stated"),
    ],
)
def test_a_published_run_shows_who_tested(source, word):
    assert run_tier_mark(Run(tier="published", source=source)).word == word


def test_other_tiers_are_shown_by_name():
    assert run_tier_mark(Run(tier="reviewed", source="Aerospike")).word == "reviewed"


def test_the_cell_of_a_missing_tier_shows_not_reported():
    assert "not reported" in word_cell(columns.TIER, "")
