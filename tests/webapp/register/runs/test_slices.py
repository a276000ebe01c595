"""Slices against ACT's own analysis of the same log."""

from pathlib import Path

import pytest

from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from webapp.register.runs.slices import slice_table

pytestmark = pytest.mark.django_db

ACT_TABLE = Path(__file__).parents[3] / "data" / "act" / "6.6" / "slow-disk-ms.latency.txt"


def read_act_table():
    """Return the reads' percentages over 1, 8 and 64 ms of each slice, as ACT printed them."""
    lines = [line.split() for line in ACT_TABLE.read_text().splitlines()]
    rows = [cells for cells in lines if len(cells) == 19 and cells[0].isdigit()]
    return [(cells[1], cells[4], cells[7]) for cells in rows]


def table_of(run, **options):
    table = slice_table(run, run.verdicts.first(), **options)
    assert table is not None
    return table


def test_shares_equal_those_of_act(make_log_run):
    table = table_of(make_log_run())
    assert [tuple(share.text for share in row.shares) for row in table.rows] == read_act_table()


def test_a_slice_fails_if_the_count_of_any_limit_is_exceeded(make_log_run):
    table = table_of(make_log_run())
    assert [row.outcome for row in table.rows] == ["passes", "fails", "fails", "fails"]
    assert [[share.is_over for share in row.shares] for row in table.rows][3] == [True, True, False]
    assert table.passing_sentence == "1 of 4 slices is within every limit."


def test_a_share_next_to_its_limit_has_digits_that_show_on_which_side_it_is(make_log_run):
    slices = [(100_000, [100_000 - slow, slow]) for slow in (4_999, 5_000, 5_001)]
    rows = table_of(make_log_run(slices=slices)).rows
    shown = [(row.shares[0].text, row.outcome) for row in rows]
    assert shown == [("4.999", "passes"), ("5.00", "passes"), ("5.001", "fails")]


def test_a_slice_without_operations_neither_passes_nor_fails(make_log_run):
    (row,) = table_of(make_log_run(slices=[(0, [])])).rows
    assert (row.outcome, row.shares[0].text, row.shares[0].nearness) == ("no operations", "", None)


def test_a_microsecond_log_is_read_at_its_own_bucket_edges(make_log_run):
    shares = [share | {"read_at_us": share["threshold_us"] * 1024 // 1000} for share in SLOW_DISK_VERDICT["shares"]]
    counts = [0] * 10 + [60, 30, 10]  # bucket 10 is [512, 1024) us
    run = make_log_run(slices=[(100, counts)], unit="us", document=SLOW_DISK_VERDICT | {"shares": shares})
    table = table_of(run)
    assert [limit.read_at_us for limit in table.limits] == [1024, 8192, 65536]
    assert [share.over_count for share in table.rows[0].shares] == [40, 0, 0]
    assert "evaluated at 1,024, 8,192, 65,536 us, as ACT does" in table.edges_sentence


@pytest.mark.parametrize(
    ("unit", "edges", "read_at_us", "over"),
    [
        ("us", "act", [1024, 8192, 65536], [90, 60, 30]),
        ("ms", "act", [1000, 8000, 64000], [190, 160, 130]),
        ("ms", "act-1", [2000, 8000, 64000], [190, 170, 140]),
    ],
)
def test_limits_are_read_at_the_bucket_edges_of_the_histogram(make_log_run, unit, edges, read_at_us, over):
    counts = [10] * 20  # bucket b begins at 2^(b-1) units, in ACT 1.x at 2^b ms: counts are at or over an edge
    run = make_log_run(slices=[(200, counts)], unit=unit)
    run.histograms.update(edges=edges)
    table = slice_table(run, run.verdicts.first())
    assert table is not None
    assert [limit.read_at_us for limit in table.limits] == read_at_us
    assert [share.over_count for share in table.rows[0].shares] == over


@pytest.mark.parametrize(
    ("role", "name", "is_shown"), [("", "reads", True), ("reads", "READS", True), ("writes", "reads", False)]
)
def test_the_judged_histogram_is_identified_by_its_role(make_log_run, role, name, is_shown):
    run = make_log_run()
    run.histograms.update(role=role, name=name)
    assert (slice_table(run, run.verdicts.first()) is not None) is is_shown


def test_a_run_without_a_verdict_shows_its_slices(make_log_run):
    run = make_log_run()
    run.verdicts.all().delete()
    assert [row.outcome for row in table_of(run).rows] == ["passes", "fails", "fails", "fails"]


def test_a_log_without_the_histogram_has_no_table(make_log_run):
    run = make_log_run()
    run.histograms.all().delete()
    assert slice_table(run, run.verdicts.first()) is None


def test_a_page_of_very_many_slices_states_what_it_leaves_out(make_log_run):
    table = table_of(make_log_run(), shown=3)
    assert (len(table.rows), table.total) == (3, 4)
    assert table.cut_sentence == "The table has the first 3 of 4 slices; the CSV has them all."
    assert table.passing_sentence == "Of the first 3 of 4 slices, 1 is within every limit."


@pytest.mark.parametrize(
    ("slices", "said"),
    [(1, "1 of 1 slice is within every limit."), (2, "2 of 2 slices are within every limit.")],
)
def test_the_number_of_slices_is_written_in_singular_or_plural(make_log_run, client, slices, said):
    run = make_log_run(slices=[(100, [100])] * slices)
    page = client.get(f"/runs/{run.public_id}/").text
    assert said in page
    assert ("The one slice" in page, "All 2 slices" in page) == (slices == 1, slices == 2)


def us_document(*, between=None):
    """A verdict of slices of RANGED with a limit of 1 % on 8 ms; `between` reads took 8 ms to 8,192 us."""
    whole = {"statistic": "overall", "threshold_us": 8000, "read_at_us": 8192, "share_pct": "0.33", "slice": None}
    whole |= {"over_count": 660, "over_at_most_count": 1203, "ops_count": 200_000, "at_most_pct": "0.60"}
    document = SLOW_DISK_VERDICT | {"shares": [whole]}
    exact = whole | {"over_count": 660 + (between or 0), "over_at_most_count": 660 + (between or 0)}
    return document if between is None else document | {"exact": [exact]}


RANGED = [(100_000, [98_797] + [0] * 12 + [543, 660]), (100_000, [100_000])]  # bucket 13 is [4,096, 8,192) us


def test_a_slice_that_may_be_over_a_limit_is_not_counted_as_within(client, make_log_run):
    run = make_log_run(slices=RANGED, unit="us", document=us_document())
    table = table_of(run)
    assert [row.outcome for row in table.rows] == ["may fail", "passes"]
    sentence = (
        "1 of 2 slices is within every limit; slice 1 may be over the limit for 8 ms (0.66 to 1.20 %), "
        "because the log's buckets do not begin at 8 ms."
    )
    assert table.passing_sentence.replace("\N{NO-BREAK SPACE}", " ") == sentence
    text = client.get(f"/runs/{run.public_id}/").text
    assert "slice 1 may be over the limit for 8" in text
    assert ">0.66 to 1.20<" in text


def test_the_upper_end_of_a_range_has_digits_that_show_on_which_side_of_the_limit_it_is(make_log_run):
    counts = [98_999] + [0] * 12 + [341, 660]
    table = table_of(make_log_run(slices=[(100_000, counts)] * 2, unit="us"))
    assert [row.shares[1].range_text for row in table.rows] == ["0.66 to 1.001"] * 2
    assert "; slices 1 and 2 may be over a limit, because the log's buckets" in table.passing_sentence
    three = table_of(make_log_run(slices=[(100_000, counts)] * 3, unit="us"))
    assert "; slices 1, 2 and 3 may be over a limit, because the log's buckets" in three.passing_sentence


@pytest.mark.parametrize(
    ("between", "outcome", "reads"), [(340, "passes", "340 reads"), (341, "may fail", ""), (0, "passes", "0 reads")]
)
def test_a_side_file_decides_what_the_buckets_leave_open(make_log_run, between, outcome, reads):
    table = table_of(make_log_run(slices=RANGED, unit="us", document=us_document(between=between)))
    assert table.rows[0].outcome == outcome
    sentence = table.side_file_sentence.replace("\N{NO-BREAK SPACE}", " ")
    alone = "Slice 1 is within the limit for 8 ms: at most"
    assert sentence.startswith(alone) is bool(reads)
    assert (f"only {reads} took from 8 ms to 8,192 us." in sentence) is bool(reads)


@pytest.mark.parametrize("changed", [{"ops_count": 199_999}, {"over_count": 659}, {"over_count": 1204}])
def test_a_side_file_with_other_counts_than_the_log_decides_nothing(make_log_run, changed):
    document = us_document(between=0)
    document["exact"] = [document["exact"][0] | changed]
    assert table_of(make_log_run(slices=RANGED, unit="us", document=document)).rows[0].outcome == "may fail"


def test_limits_of_the_reader_do_not_change_the_official_count(client, make_log_run):
    text = client.get(f"/runs/{make_log_run().public_id}/?limit_1ms=0").text
    official, _, below = text.partition('aria-label="On this page"')
    assert "1 of 4 slices is within every limit." in official
    assert "With your limits: 0 of 4 slices are within every limit. With those of the profile: 1 of 4" in below


def test_no_slice_is_the_worst_if_all_have_no_slow_read(client, make_log_run):
    share = {"statistic": "worst-slice", "threshold_us": 1000, "read_at_us": 1000, "share_pct": "0.00", "slice": 1}
    document = SLOW_DISK_VERDICT | {"shares": [share | {"over_count": 0, "ops_count": 100}]}
    text = client.get(f"/runs/{make_log_run(slices=[(100, [100])] * 2, document=document).public_id}/").text
    assert "%, limit 5, in every slice</small>" in text
    assert "in slice 1" not in text
