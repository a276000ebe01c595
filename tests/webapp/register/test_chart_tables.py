"""Data behind the charts of rate and telemetry: tables of their points, and every value as CSV."""

import csv
import io

import pytest

from results.models import Evidence, Series, Visibility
from tests.results.builders import link_key
from tests.results.series_by_hand import packed
from tests.webapp.register.runs.charts.test_telemetry import interval, make_run
from webapp.register.syndication.public_addresses import LEFT_OUT

__all__ = ["make_run"]
pytestmark = pytest.mark.django_db


def lines_of(response):
    return list(csv.DictReader(io.StringIO(response.text, newline="")))


def keep_minutes(run, minutes):
    series = packed([(len(minutes), [minutes])])
    Series.objects.create(
        run=run, interval_s=60, intervals_count=len(minutes), encoding=series.encoding, packed=series.packed
    )


def test_the_csv_of_rates_has_every_minute_when_the_chart_has_few(client, make_log_run):
    run = make_log_run()
    minutes = [{1: 6000}] * 700
    minutes[650] = {1: 60}
    keep_minutes(run, minutes)
    lines = lines_of(client.get(f"/runs/{run.public_id}/rates.csv"))
    assert len(lines) == 700
    assert lines[650] == {"start_s": "39000", "end_s": "39060", "reads": "60", "reads_per_s": "1.0"}
    assert len(lines_of(client.get(f"/runs/{run.public_id}/over-time.csv"))) < 288


def test_an_unknown_minute_is_empty_and_one_without_reads_is_0(client, make_log_run):
    run = make_log_run()
    keep_minutes(run, [{1: 600}, None, {}])
    lines = lines_of(client.get(f"/runs/{run.public_id}/rates.csv"))
    assert [line["reads"] for line in lines] == ["600", "", "0"]


def test_a_run_without_minutes_has_its_slices(client, make_log_run):
    lines = lines_of(client.get(f"/runs/{make_log_run().public_id}/rates.csv"))
    assert [(line["end_s"], line["reads"]) for line in lines] == [
        ("10", "6000"), ("20", "6000"), ("30", "6000"), ("40", "6006"),
    ]  # fmt: skip


def test_the_rates_of_a_withheld_log_are_not_shown(client, make_log_run):
    run = make_log_run()
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    assert client.get(f"/runs/{run.public_id}/rates.csv").status_code == 451


def test_the_rates_of_an_unreviewed_run_are_visible_to_those_who_may_see_it(client, make_log_run):
    run = make_log_run(visibility=Visibility.UNREVIEWED)
    assert client.get(f"/runs/{run.public_id}/rates.csv").status_code == 404
    assert client.get(f"/runs/{run.public_id}/rates.csv?key={link_key(run.submission)}").status_code == 200


def test_damaged_minutes_are_reported(client, make_log_run):
    run = make_log_run()
    Series.objects.create(run=run, interval_s=60, intervals_count=1, encoding="drivecert.series/1", packed=b"no zstd")
    assert client.get(f"/runs/{run.public_id}/rates.csv").status_code == 503


def test_the_csv_of_telemetry_has_every_interval_of_the_file(client, make_run):
    run = make_run(*(interval(second, f"{second % 7}.25") for second in range(1, 701)))
    lines = lines_of(client.get(f"/runs/{run.public_id}/telemetry.every.csv"))
    assert len(lines) == 700
    assert (lines[699]["end_s"], lines[699]["cpu_busy"], lines[699]["io_per_s"]) == ("700", "0.25", "301")
    assert "cpu_iowait" not in lines[0]
    document = client.get(f"/runs/{run.public_id}/telemetry.json").json()
    assert (document["intervals_count"], len(document["columns"]) <= 288) == (700, True)


def test_a_late_second_keeps_its_digits(client, make_run):
    run = make_run(interval(2_591_999), interval(2_592_000))
    assert [line["end_s"] for line in lines_of(client.get(f"/runs/{run.public_id}/telemetry.every.csv"))] == [
        "2591999", "2592000",
    ]  # fmt: skip
    assert lines_of(client.get(f"/runs/{run.public_id}/telemetry.csv"))[0]["end_s"] == "2591999"


@pytest.mark.parametrize("form", ["every.json", "everycsv", "xml"])
def test_another_format_of_telemetry_is_refused_by_name(client, make_run, form):
    answer = client.get(f"/runs/{make_run(interval(1)).public_id}/telemetry.{form}")
    assert answer.status_code == 404
    assert f"no telemetry as {form}: expected a run with a side file, and one of json, csv, every.csv" in answer.text


def test_the_page_has_a_table_and_both_files_of_the_rate(client, make_log_run):
    run = make_log_run()
    text = client.get(f"/runs/{run.public_id}/").text
    assert f'<details id="rate-table" class="on-screen" data-source="/runs/{run.public_id}/over-time.json"' in text
    assert f'<a href="/runs/{run.public_id}/rates.csv">CSV of every slice</a>' in text
    keep_minutes(run, [{1: 600}] * 3)
    assert "CSV of every minute" in client.get(f"/runs/{run.public_id}/").text


def test_the_file_of_minutes_is_not_in_snapshots_and_states_why():
    assert "every minute" in LEFT_OUT["run-rates-csv"]
