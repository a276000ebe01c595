"""Edges of histograms at which thresholds are evaluated."""

import pytest

from results.rules.act.bucket_edges import Edge, edge_not_below


@pytest.mark.parametrize(
    ("threshold_us", "unit", "at"),
    [
        (1023, "us", Edge(11, 1024)),
        (1024, "us", Edge(11, 1024)),
        (1025, "us", Edge(12, 2048)),
        (64_000, "us", Edge(17, 65_536)),
        (8_000, "ms", Edge(4, 8_000)),
        (8_001, "ms", Edge(5, 16_000)),
        (500, "ms", Edge(1, 1_000)),
        (0, "us", Edge(0, 0)),
    ],
)
def test_a_threshold_is_evaluated_at_the_next_edge(threshold_us, unit, at):
    assert edge_not_below(threshold_us, unit) == at


def test_the_first_version_has_no_edge_at_one_millisecond():
    assert edge_not_below(1000, "ms", is_first_version=True) == Edge(1, 2000)


@pytest.mark.parametrize(("unit", "is_first_version"), [("s", False), ("us", True)])
def test_an_unknown_unit_is_refused(unit, is_first_version):
    with pytest.raises(ValueError, match="expected us or ms"):
        edge_not_below(1, unit, is_first_version=is_first_version)


def test_thresholds_beyond_every_histogram_are_refused():
    assert edge_not_below(2**63, "us") == Edge(64, 2**63)
    with pytest.raises(ValueError, match="reaches"):
        edge_not_below(2**63 + 1, "us")
