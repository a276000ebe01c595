"""Slices against ACT's own analysis of the same log."""

from pathlib import Path

import pytest

from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from webapp.register.slices import chart_of, nearest_edge_us, slice_table

pytestmark = pytest.mark.django_db

ACT_TABLE = Path(__file__).parents[2] / "data" / "act" / "6.6" / "slow-disk-ms.latency.txt"


def read_act_table():
    """Return the reads' percentages over 1, 8 and 64 ms of each slice, as ACT printed them."""
    lines = [line.split() for line in ACT_TABLE.read_text().splitlines()]
    rows = [cells for cells in lines if len(cells) == 19 and cells[0].isdigit()]
    return [(cells[1], cells[4], cells[7]) for cells in rows]


def table_of(run, **options):
    table = slice_table(run, run.verdicts.first(), **options)
    assert table is not None
    return table


def test_shares_are_those_of_act(make_log_run):
    table = table_of(make_log_run())
    assert [tuple(share.text for share in row.shares) for row in table.rows] == read_act_table()


def test_a_slice_fails_by_the_counts_of_any_limit(make_log_run):
    table = table_of(make_log_run())
    assert [row.outcome for row in table.rows] == ["passes", "fails", "fails", "fails"]
    assert [[share.is_over for share in row.shares] for row in table.rows][3] == [True, True, False]
    assert table.passing_sentence == "1 of 4 slices keep within every limit."


def test_a_share_that_prints_as_its_limit_may_be_over_it(make_log_run):
    at, over = (100_000, [95_000, 5_000]), (100_000, [94_999, 5_001])
    rows = table_of(make_log_run(slices=[at, over])).rows
    assert [(row.shares[0].text, row.outcome) for row in rows] == [("5.00", "passes"), ("5.00", "fails")]


def test_a_slice_without_operations_neither_passes_nor_fails(make_log_run):
    (row,) = table_of(make_log_run(slices=[(0, [])])).rows
    assert (row.outcome, row.shares[0].text, row.shares[0].nearness) == ("no operations", "", None)


def test_a_microsecond_log_is_read_at_its_own_edges(make_log_run):
    shares = [share | {"read_at_us": share["threshold_us"] * 1024 // 1000} for share in SLOW_DISK_VERDICT["shares"]]
    counts = [0] * 10 + [60, 30, 10]  # bucket 10 is [512, 1024) us
    run = make_log_run(slices=[(100, counts)], unit="us", document=SLOW_DISK_VERDICT | {"shares": shares})
    table = table_of(run)
    assert [limit.read_at_us for limit in table.limits] == [1024, 8192, 65536]
    assert [share.over_count for share in table.rows[0].shares] == [40, 0, 0]
    assert "read at 1,024, 8,192, 65,536 us, as ACT does" in table.edges_sentence


@pytest.mark.parametrize(
    ("threshold_us", "unit", "edge_us"),
    [
        (1000, "us", 1024),
        (1024, "us", 1024),
        (1025, "us", 2048),
        (64000, "us", 65536),
        (1000, "ms", 1000),
        (64000, "ms", 64000),
    ],
)
def test_without_a_verdict_limits_are_read_at_the_next_edge(threshold_us, unit, edge_us):
    assert nearest_edge_us(threshold_us, unit) == edge_us


def test_a_run_that_is_not_judged_still_shows_its_slices(make_log_run):
    run = make_log_run()
    run.verdicts.all().delete()
    assert [row.outcome for row in table_of(run).rows] == ["passes", "fails", "fails", "fails"]


def test_a_log_without_the_histogram_has_no_table(make_log_run):
    run = make_log_run()
    run.histograms.all().delete()
    assert slice_table(run, run.verdicts.first()) is None


def test_a_page_of_very_many_slices_says_what_it_leaves_out(make_log_run):
    table = table_of(make_log_run(), shown=3)
    assert (len(table.rows), table.total) == (3, 4)
    assert table.cut_sentence == "The first 3 of 4 slices; the CSV has them all."


def test_the_chart_has_a_panel_for_each_limit(make_log_run):
    chart = chart_of(table_of(make_log_run()))
    assert [(panel["threshold"], panel["limit"]) for panel in chart["panels"]] == [
        ("1\N{NO-BREAK SPACE}ms", 5.0),
        ("8\N{NO-BREAK SPACE}ms", 1.0),
        ("64\N{NO-BREAK SPACE}ms", 0.1),
    ]
    assert chart["panels"][2]["shares"] == [0.0, 0.33, 0.17, 0.0]
    assert chart["panels"][2]["over"] == [False, True, True, False]
