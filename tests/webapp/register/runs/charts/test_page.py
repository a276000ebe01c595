"""The data of the charts of a run: reduced on the server without losing the extremes."""

import csv
import io

import pytest

from results.access.intervals import HistogramSlice
from results.models import Evidence, Histogram, Series, Slice, Visibility
from tests.results.builders import link_key
from tests.results.series_by_hand import packed
from tests.webapp.register.conftest import SLOW_DISK_FACTS
from webapp.register.runs.charts.over_time import has_minutes, over_time, pieces_of
from webapp.register.runs.charts.page import slice_chart
from webapp.register.runs.slices import read_limits, slice_table

pytestmark = pytest.mark.django_db

QUIET, STALL = {1: 990, 2: 10}, {1: 900, 17: 100}  # a tenth of one minute's reads took 65 ms or longer


def keep_minutes(run, minutes):
    series = packed([(len(minutes), [minutes])])
    Series.objects.create(
        run=run, interval_s=60, intervals_count=len(minutes), encoding=series.encoding, packed=series.packed
    )
    return run


def judged(run):
    return run.histograms.get()


def test_a_stall_of_one_minute_in_a_month_is_drawn_at_full_height(make_log_run):
    minutes = [QUIET] * 43_200
    minutes[30_000] = STALL
    run = keep_minutes(make_log_run(unit="us"), minutes)
    chart = over_time(run, judged(run))
    slow = [column.shares[17 - chart.buckets.start] for column in chart.columns]
    assert len(chart.columns) == 288
    assert [share for share in slow if share] == [10.0]
    assert chart.columns[slow.index(10.0)].start_s == 30_000 * 60


def test_a_pause_of_one_minute_is_the_lowest_rate_of_its_column(make_log_run):
    minutes = [{1: 6000}] * 1440
    minutes[700] = {1: 60}
    run = keep_minutes(make_log_run(), minutes)
    columns = over_time(run, judged(run)).columns
    assert {(column.least_per_s, column.greatest_per_s) for column in columns} == {(100.0, 100.0), (1.0, 100.0)}


def test_an_unknown_minute_is_neither_left_out_nor_zero(make_log_run):
    run = keep_minutes(make_log_run(), [QUIET, None])
    known, unknown = over_time(run, judged(run)).columns
    assert known.shares == [99.0, 1.0]
    assert (unknown.shares, unknown.least_per_s) == ([None, None], None)


def test_a_run_without_minutes_is_drawn_from_its_slices(make_log_run):
    run = make_log_run()
    pieces = pieces_of(run, judged(run))
    assert not has_minutes(run)
    assert [piece.ops_count for piece in pieces] == [6000, 6000, 6000, 6006]


def test_the_document_has_shares_by_bucket_and_column_and_the_requested_rate(client, make_log_run):
    document = client.get(f"/runs/{make_log_run().public_id}/over-time.json").json()
    assert document["buckets"][1] == {"bucket": 1, "from": "1\N{NO-BREAK SPACE}ms", "to": "2\N{NO-BREAK SPACE}ms"}
    assert document["columns"] == [[0, 10], [10, 20], [20, 30], [30, 40]]
    assert document["shares"][1][0] == 1.0  # 60 of 6,000
    assert (document["asked_per_s"], document["greatest_per_s"][3]) == (600.0, 600.6)
    assert [edge["bucket"] for edge in document["edges"]] == [1, 4, 7]


def test_the_requested_rate_includes_the_reads_of_updates(client, make_log_run):
    facts = SLOW_DISK_FACTS | {"derived": [["internal-read-reqs-per-sec", "900"]]}
    assert client.get(f"/runs/{make_log_run(facts=facts).public_id}/over-time.json").json()["asked_per_s"] == 900.0


def test_the_csv_has_a_line_for_each_column(client, make_log_run):
    text = client.get(f"/runs/{make_log_run().public_id}/over-time.csv").text
    first = next(iter(csv.DictReader(io.StringIO(text, newline=""))))
    assert (first["start_s"], first["end_s"], first["greatest_reads_per_s"]) == ("0", "10", "600.0")
    assert first["largest_pct_from_1000us"] == "1.0"


def test_unchanged_figures_are_not_sent_again(client, make_log_run):
    path = f"/runs/{make_log_run().public_id}/over-time.json"
    etag = client.get(path).headers["ETag"]
    assert client.get(path, headers={"if-none-match": etag}).status_code == 304


def test_minutes_of_a_withheld_log_are_not_shown(client, make_log_run):
    run = make_log_run()
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    assert client.get(f"/runs/{run.public_id}/over-time.json").status_code == 451
    assert "over-time" not in client.get(f"/runs/{run.public_id}/").text


@pytest.mark.parametrize(
    "path", ["over-time.json", "over-time.csv", "slice-chart.json", "histograms.csv", "again.conf"]
)
def test_charts_of_an_unreviewed_run_are_visible_to_those_who_may_see_it(client, make_log_run, path):
    facts = SLOW_DISK_FACTS | {"config": [["test-duration-sec", "40"]]}
    run = make_log_run(visibility=Visibility.UNREVIEWED, facts=facts)
    assert client.get(f"/runs/{run.public_id}/{path}").status_code == 404
    response = client.get(f"/runs/{run.public_id}/{path}?key={link_key(run.submission)}")
    assert response.headers["X-Robots-Tag"] == "noindex"
    response.close()


@pytest.mark.parametrize("path", ["over-time.json", "slice-chart.json"])
def test_a_run_without_reads_has_no_chart(client, make_log_run, path):
    run = make_log_run()
    run.histograms.all().delete()
    assert client.get(f"/runs/{run.public_id}/{path}").status_code == 404


def test_damaged_minutes_are_reported(client, make_log_run):
    run = make_log_run()
    Series.objects.create(run=run, interval_s=60, intervals_count=1, encoding="drivecert.series/1", packed=b"no zstd")
    response = client.get(f"/runs/{run.public_id}/over-time.json")
    assert (response.status_code, "cannot be read" in response.text) == (503, True)


def test_the_page_of_damaged_minutes_says_so_and_has_its_other_charts(client, make_log_run):
    run = make_log_run()
    Series.objects.create(run=run, interval_s=60, intervals_count=2, encoding="drivecert.series/1", packed=b"no zstd")
    text = client.get(f"/runs/{run.public_id}/").text
    assert "The per-minute counts of this run cannot be read" in text
    assert ("drawing slice-bars" in text, "drawing heat-map" in text) == (True, False)


def slices_of(run, shares):
    """One slice of a second for each share in percent of reads of 128 ms."""
    return [
        HistogramSlice(number, [100 - share, *([0] * 7), share], 100, number - 1, number, number, number)
        for number, share in enumerate(shares, start=1)
    ]


def test_a_bar_is_the_worst_of_neighbouring_seconds(make_log_run):
    run = make_log_run()
    shares = [0] * 86_400
    shares[50_000] = 7
    slices = slices_of(run, shares)
    chart = slice_chart(slices, len(slices), read_limits(judged(run), run.verdicts.first()))
    panel = chart["panels"][2]
    assert (len(panel["shares"]), max(panel["shares"]), sum(panel["over"])) == (288, 7.0, 1)
    assert panel["spans"][panel["shares"].index(7.0)] == "slice 50,001, 50,000-50,001\N{NO-BREAK SPACE}s"
    assert chart["sentence"] == "Each bar is the worst of 300 adjacent slices; the run has 86,400 slices."


def test_the_chart_has_a_panel_for_each_limit(make_log_run):
    run = make_log_run()
    table = slice_table(run, run.verdicts.first())
    chart = slice_chart([row.slice for row in table.rows], len(table.rows), table.limits)
    thresholds = [(panel["threshold"].replace("\N{NO-BREAK SPACE}", " "), panel["limit"]) for panel in chart["panels"]]
    assert thresholds == [("1 ms", 5.0), ("8 ms", 1.0), ("64 ms", 0.1)]
    assert chart["panels"][2]["shares"] == [0.0, 0.3333, 0.1667, 0.0]
    assert chart["panels"][2]["over"] == [False, True, True, False]


def test_a_page_with_more_slices_than_it_lists_loads_the_chart(client, make_log_run, monkeypatch):
    monkeypatch.setattr("webapp.register.runs.slices.slice_table.__kwdefaults__", {"shown": 3})
    run = make_log_run()
    text = client.get(f"/runs/{run.public_id}/").text
    assert 'id="slices-chart"' not in text
    assert f'data-source="/runs/{run.public_id}/slice-chart.json"' in text
    assert len(client.get(f"/runs/{run.public_id}/slice-chart.json").json()["panels"][0]["shares"]) == 4


def test_the_table_behind_the_heat_map_has_every_bucket_and_its_worst_slice(client, make_log_run):
    run = make_log_run()
    Histogram.objects.filter(run=run).update(counts=[23275, 332, 149, 83, 76, 33, 38, 0, 10, 0, 10], ops_count=24006)
    text = " ".join(client.get(f"/runs/{run.public_id}/").text.replace("\N{NO-BREAK SPACE}", " ").split())
    assert '<th scope="row">below 1 ms</th><td class="n">23,275</td><td class="n">96.95</td>' in text
    assert (
        '<th scope="row">64 ms to 128 ms</th><td class="n">0</td><td class="n">0.00</td><td class="n">0.00</td>' in text
    )
    assert '<td class="n">2.33</td><td class="n">3</td><td>over 1 ms</td>' in text  # 140 of 6,000 in slice 3


def test_a_single_device_is_not_shown_separately(client, make_log_run):
    assert 'id="devices"' not in client.get(f"/runs/{make_log_run().public_id}/").text


@pytest.fixture
def run_of_two_devices(make_log_run):
    run = make_log_run(slices=[(100, [100])])
    for ordinal, device in ((1, "/dev/a"), (2, "<script>alert(1)</script>")):
        Histogram.objects.create(
            run=run, ordinal=ordinal, name=f"{device}-reads", role="reads-of-device", device=device, unit="ms",
            ops_count=1000, counts=[990, 10],
        )  # fmt: skip
    Slice.objects.filter(run=run).update(counts=[[100, 0], [94, 6], [100, 0]])
    return run


def test_devices_are_shown_side_by_side_with_their_worst_slice(client, run_of_two_devices):
    text = client.get(f"/runs/{run_of_two_devices.public_id}/").text
    assert 'id="devices"' in text
    assert '<span class="over">6.00</span>' in text  # 6 of 100 in slice 1, where the limit is 5
    assert "<script>alert" not in text


def test_the_worst_slice_of_each_device_is_not_searched_among_very_many(client, run_of_two_devices, monkeypatch):
    monkeypatch.setattr("webapp.register.runs.slices.ROWS_MAX", 2)
    text = client.get(f"/runs/{run_of_two_devices.public_id}/").text
    assert "too many slices to show each device" in text
    assert '<span class="over">6.00</span>' not in text


def page_of(client, run):
    return client.get(f"/runs/{run.public_id}/").text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_panel_without_shares_is_left_out_and_named(client, make_log_run):
    text = page_of(client, make_log_run(slices=[(60_000, [59_000, 1_000])] * 2))
    assert text.count('class="drawing slice-bars"') == 1
    assert "Not shown: 8 ms and 64 ms, because no slice has a read of 8 ms or longer." in text


def test_a_panel_of_small_shares_is_shown_under_limits_of_the_reader(client, make_log_run):
    slices = [(60_000, [59_000, 999, 0, 0, 1]), (60_000, [60_000])]
    text = page_of(client, make_log_run(slices=slices))
    assert "Not shown: 64 ms, because no slice has a read of 64 ms or longer." in text


def test_a_panel_that_is_left_out_names_the_bucket_edge_of_the_log(client, make_log_run):
    counts = [0] * 14 + [119_999, 0, 1]  # bucket 16 ends at 65,536 us
    text = page_of(client, make_log_run(slices=[(120_000, counts)] * 2, unit="us"))
    edge = "no slice has a read of 65,536 us or longer, the bucket edge at which the log is read."
    assert f"Not shown: 64 ms, because {edge}" in text


def test_a_bar_reaches_up_to_the_largest_share_that_the_log_allows(client, make_log_run):
    counts = [0] * 10 + [98_797, 0, 0, 543, 660]  # bucket 13 is [4,096, 8,192) us
    run = make_log_run(slices=[(100_000, counts), (100_000, [100_000])], unit="us")
    text = page_of(client, run)
    assert text.count('<rect class="may" data-place="0"') == 2  # for 1 ms and 8 ms
    assert "slice 1, 0-10 s: 0.66 to 1.20 % (660 to 1,203 of 100,000 reads)" in text
    assert "its buckets do not begin at 1 ms and 8 ms." in text


def test_a_log_with_edges_at_the_thresholds_has_no_open_bars(client, make_log_run):
    text = page_of(client, make_log_run())
    assert ('class="may"' in text, "The open part" in text) == (False, False)


def test_every_chart_of_the_page_is_a_picture_and_none_waits_for_a_script(client, make_log_run):
    run = make_log_run()
    Histogram.objects.filter(run=run).update(counts=[23275, 332, 149, 83, 76, 33, 38, 0, 10, 0, 10], ops_count=24006)
    text = page_of(client, run)
    kinds = [each.split('"')[0] for each in text.split('<svg class="drawing ')[1:]]
    assert kinds == ["slice-bars"] * 3 + ["heat-map", "distribution", "rate"]
    assert "not drawn yet" not in text
    assert "style=" not in text.split("<main")[1]


def test_the_pointer_shows_the_share_of_the_table_with_its_counts(client, make_log_run):
    run = make_log_run()
    text = page_of(client, run)
    assert "<title>slice 2, 10-20 s: 0.33 % (20 of 6,000 reads), over the limit of 0.1 %</title>" in text
    assert '<span class="over">0.33</span>' in text
    panel = client.get(f"/runs/{run.public_id}/slice-chart.json").json()["panels"][2]
    assert panel["texts"][1] == "0.33 % (20 of 6,000 reads)"


def test_more_slices_than_the_page_lists_have_a_picture_and_very_many_have_none(client, make_log_run, monkeypatch):
    monkeypatch.setattr("webapp.register.runs.slices.slice_table.__kwdefaults__", {"shown": 3})
    run = make_log_run()
    assert page_of(client, run).count('class="drawing slice-bars"') == 3
    monkeypatch.setattr("webapp.register.runs.charts.page.SLICES_MAX", 3)
    text = page_of(client, run)
    assert "drawing slice-bars" not in text
    assert "too many slices for a picture here" in text


def test_a_run_of_one_slice_has_a_sentence_instead_of_charts(client, make_log_run):
    text = page_of(client, make_log_run(slices=[(60_000, [59_000, 1_000])]))
    assert "data-plotly" not in text
    assert (
        "Charts not shown: slow reads by slice (there is only one slice); "
        "latency and rate over time (the log has only one slice)." in text
    )
