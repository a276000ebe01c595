"""Marks of slices in the charts over a run's time: the ends of slices, and the worst one."""

import json
import re

import pytest

from tests.webapp.register.runs.charts.test_telemetry import interval, make_run
from webapp.register.runs.charts.drawing import Linear
from webapp.register.runs.charts.slice_marks import SliceMarks, draw_slices, slice_marks
from webapp.register.runs.slices import slice_table

__all__ = ["make_run"]


def test_ends_of_slices_within_the_plot_are_lines():
    drawn = draw_slices(SliceMarks([0, 10, 20, 30], None), Linear(0, 20))
    assert re.findall(r'class="slice-edge" x1="([\d.]+)%"', drawn) == ["50"]
    assert "worst" not in drawn


@pytest.mark.parametrize(
    ("worst", "field", "name"),
    [
        ((1, 0, 10), ("0", "10"), ("0", "start")),
        ((5, 40, 50), ("40", "10"), ("45", "middle")),
        ((10, 90, 100), ("90", "10"), ("100", "end")),
        ((11, 90, 120), ("90", "10"), ("100", "end")),
    ],
)
def test_the_worst_slice_is_framed_and_its_name_stays_in_the_picture(worst, field, name):
    drawn = draw_slices(SliceMarks([], worst), Linear(0, 100))
    assert re.search(r'class="worst-slice" x="([\d.]+)%" width="([\d.]+)%"', drawn).groups() == field
    found = re.search(r'class="slice-name" x="([\d.]+)%".*?text-anchor="(\w+)">worst slice: (\d+)<', drawn).groups()
    assert found == (*name, str(worst[0]))


@pytest.mark.django_db
def test_the_worst_slice_is_that_with_the_largest_share_divided_by_its_limit(make_run):
    run = make_run(interval(1))
    table = slice_table(run, run.verdicts.first())
    marks = slice_marks(table)
    nearness = {
        row.slice.number: max(
            each.over_count * 100 / each.ops_count / float(limit.limit.limit_pct)
            for each, limit in zip(row.shares, table.limits, strict=True)
        )
        for row in table.rows
    }
    assert marks.worst[0] == max(nearness, key=nearness.get)
    assert list(marks.edges_s) == sorted({end for row in table.rows for end in (row.slice.start_s, row.slice.end_s)})


@pytest.mark.django_db
def test_telemetry_rate_and_latency_mark_the_same_slice(client, make_run):
    run = make_run(*(interval(second) for second in range(1, 41)))
    text = client.get(f"/runs/{run.public_id}/").text
    names = re.findall(r"worst slice: (\d+)", text)
    assert len(names) >= 3
    assert len(set(names)) == 1
    document = json.loads(re.search(r'data-slices="([^"]*)"', text)[1].replace("&quot;", '"'))
    assert str(document["worst"][0]) == names[0]
