"""The bars of a trial: height is nearness to the limit, and a bar over it is marked."""

from decimal import Decimal
from itertools import pairwise

import pytest

from results.access.intervals import HistogramSlice
from results.rules.act.limits import Limit
from webapp.register.runs.slices import ReadLimit
from webapp.register.trial.chart import BOTTOM, LEFT, RIGHT, TOP, TOP_OF_LIMIT, panels_of

LIMIT = ReadLimit(Limit(1000, Decimal(5)), 1024, 1)
ZERO = ReadLimit(Limit(1000, Decimal(0)), 1024, 1)
FULL = BOTTOM - TOP


def slice_of(number, over_count, ops_count=100):
    return HistogramSlice(number, [ops_count - over_count, over_count], ops_count, number * 10 - 10, number * 10, 1, 2)


def panel_of(*overs, limit=LIMIT, ops_count=100):
    slices = [slice_of(number, over, ops_count) for number, over in enumerate(overs, start=1)]
    (panel,) = panels_of("run-1", slices, [limit])["panels"]
    return panel


def test_a_bar_is_as_high_as_its_share_of_the_limit():
    panel = panel_of(0, 1, 5)
    limit_height = BOTTOM - panel.limit_y
    assert limit_height == pytest.approx(FULL / TOP_OF_LIMIT, abs=0.1)
    assert [bar.height for bar in panel.bars] == pytest.approx([0, limit_height / 5, limit_height], abs=0.1)
    assert all(bar.y + bar.height == pytest.approx(BOTTOM, abs=0.02) for bar in panel.bars)


@pytest.mark.parametrize(
    ("over", "is_over", "is_cut"), [(5, False, False), (51, True, False), (60, True, False), (61, True, True)]
)
def test_a_bar_over_the_limit_is_marked_and_one_over_the_panel_is_cut(over, is_over, is_cut):
    (bar,) = panel_of(over, ops_count=100 if over == 5 else 1000).bars
    assert (bar.is_over, bar.is_cut) == (is_over, is_cut)
    assert bar.height <= FULL


@pytest.mark.parametrize("count", [1, 2, 24, 288])
def test_the_bars_fill_the_panel_without_touching(count):
    bars = panel_of(*[1] * count).bars
    assert len(bars) == count
    assert bars[0].x > LEFT
    assert bars[-1].x + bars[-1].width < RIGHT
    assert all(before.x + before.width < after.x for before, after in pairwise(bars))


def test_more_slices_than_bars_show_the_worst_of_each_few():
    chart = panels_of("run-1", [slice_of(number, 7 if number == 2 else 1) for number in range(1, 290)], [LIMIT])
    (panel,) = chart["panels"]
    assert len(panel.bars) == 145
    assert panel.bars[0].text.startswith("slice 2, 10-20")
    assert chart["sentence"] == "Each bar is the worst of 2 adjacent slices; the run has 289 slices."


def test_a_slice_without_operations_has_no_bar():
    slices = [slice_of(1, 1), slice_of(2, 0, ops_count=0), slice_of(3, 2)]
    (panel,) = panels_of("run-1", slices, [LIMIT])["panels"]
    assert [bar.text.partition(",")[0] for bar in panel.bars] == ["slice 1", "slice 3"]


def test_the_summary_says_what_the_picture_shows():
    assert panel_of(1, 7, 6).summary == (
        "The largest share over 1\N{NO-BREAK SPACE}ms is 7.00 %, slice 2, 10-20\N{NO-BREAK SPACE}s. "
        "The limit is 5 %. 2 bars are over it."
    )
    assert panel_of(0, 0).summary == "No slice has a read of 1,024\N{NO-BREAK SPACE}us or longer. The limit is 5 %."
    assert panel_of(1, ops_count=10**6).summary.startswith("The largest share over 1\N{NO-BREAK SPACE}ms is <0.01 %")


def test_a_share_that_may_be_over_the_limit_has_an_open_part_and_is_named():
    ranged = ReadLimit(Limit(1000, Decimal(5)), 1024, 2, 1)
    slices = [HistogramSlice(1, [94, 2, 4], 100, 0, 10, 1, 2), HistogramSlice(2, [100], 100, 10, 20, 3, 4)]
    (panel,) = panels_of("run-1", slices, [ranged])["panels"]
    assert [bar.may_height for bar in panel.bars] == pytest.approx([FULL / TOP_OF_LIMIT * 2 / 5, 0], abs=0.1)
    assert panel.bars[0].may_y < panel.limit_y < panel.bars[0].y
    assert panel.summary.endswith("No bar is over it. The log does not decide it for 1 bar.")


def test_a_share_is_truncated_as_in_the_table_of_slices():
    panel = panel_of(13_749, ops_count=10**6)
    assert panel.label.text == "1.37 %"
    assert panel.bars[0].text.endswith(": 1.37 % (13,749 of 1,000,000 reads)")
    assert "is 1.37 %, slice 1" in panel.summary


@pytest.mark.parametrize(("worst", "anchor"), [(0, "start"), (12, "middle"), (23, "end")])
def test_the_label_of_the_highest_bar_stays_in_the_panel(worst, anchor):
    label = panel_of(*[9 if place == worst else 1 for place in range(24)]).label
    assert (label.anchor, label.text) == (anchor, "9.00 %")
    assert LEFT <= label.x <= RIGHT


def test_a_limit_of_zero_is_the_base_line():
    panel = panel_of(0, 1, limit=ZERO)
    assert panel.limit_y == BOTTOM
    assert [bar.height for bar in panel.bars] == [0, FULL]
    assert [bar.is_over for bar in panel.bars] == [False, True]


def test_a_run_without_slices_has_no_panels():
    assert panels_of("run-1", [], [LIMIT]) == {"panels": []}
