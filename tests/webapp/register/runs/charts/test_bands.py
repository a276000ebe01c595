"""Rate and telemetry over a run: every point reaches from its minimum to its maximum."""

import json
import os
import re
import time
from decimal import Decimal

import pytest
import zstandard

from results import locks
from results.access import intervals as stored_logs
from results.models import Evidence
from tests.results.builders import other_session
from tests.webapp.register.runs.charts.test_telemetry import interval, make_run
from webapp.register.runs.charts import telemetry as telemetry_charts
from webapp.register.runs.charts.bands import rate_drawing, telemetry_drawings
from webapp.register.runs.charts.interval_files import LEFTOVER_AGE_S, path_of
from webapp.register.runs.charts.over_time import Column, OverTime, with_interval_rates
from webapp.register.runs.charts.page import NO_CHARTS_SENTENCES, charts_of
from webapp.register.runs.charts.telemetry import QUANTITIES, READS, Intervals, NoCharts, Quantity, for_page, reduced

__all__ = ["make_run"]


def column(start_s, least, greatest, length=60):
    return Column(start_s, start_s + length, [], least, greatest)


def intervals(*rates, first_s=1.0):
    rows = ((first_s + place, _row(rate)) for place, rate in enumerate(rates))
    return Intervals(rows)


def _row(rate):
    row = [None] * len(QUANTITIES)
    row[READS] = rate
    return row


def bars_of(picture):
    return [float(height) for height in re.findall(r'class="band"[^>]*height="([\d.]+)"', picture)]


def test_a_second_without_reads_is_visible_in_a_minute_at_the_requested_rate():
    data = OverTime([], range(0), [column(0, 1000.0, 1000.0), column(60, 1000.0, 1000.0)])
    seconds = [1000.0] * 120
    seconds[70], seconds[71] = 0.0, 1120.0
    first, second = with_interval_rates(data, for_page(intervals(*seconds))).columns
    assert (first.least_per_s, first.greatest_per_s) == (1000.0, 1000.0)
    assert (second.least_per_s, second.greatest_per_s) == (0.0, 1120.0)
    flat, stalled = bars_of(rate_drawing([first, second], Decimal(1000)))
    assert (flat, stalled > 90) == (0, True)


@pytest.mark.parametrize(("first_s", "least"), [(1.0, 7.0), (0.5, 7.0), (61.0, 100.0)])
def test_an_interval_counts_in_the_column_in_which_it_ends(first_s, least):
    data = OverTime([], range(0), [column(0, 100.0, 100.0)])
    (only,) = with_interval_rates(data, for_page(intervals(7.0, first_s=first_s))).columns
    assert only.least_per_s == least


def test_an_unknown_column_stays_unknown():
    data = OverTime([], range(0), [column(0, None, None)])
    assert with_interval_rates(data, for_page(intervals(5.0))).columns == data.columns


def test_the_axis_of_a_sustained_rate_shows_the_last_percent():
    picture = rate_drawing([column(0, 1000.0, 1000.0), column(60, 1000.0, 1001.0)], Decimal(1000))
    assert re.findall(r">(\d+) %<", picture) == ["98", "99", "100", "101"]


def test_a_rate_without_a_request_is_drawn_from_zero():
    picture = rate_drawing([column(0, 900.0, 1000.0), column(60, 950.0, 1000.0)], None)
    assert 'aria-label="Achieved rate of reads per second"' in picture
    assert ">0<" in picture
    assert 'class="limit"' not in picture


def test_the_pointer_shows_exact_rates_with_their_unit():
    picture = rate_drawing([column(0, 41_998.4, 42_012.0), column(60, 42_012.0, 42_012.0)], Decimal(42_012))
    assert "41,998.4 to 42,012 reads/s, 100 % of the requested rate" in picture
    assert "60-120\N{NO-BREAK SPACE}s: 42,012 reads/s, 100 % of the requested rate" in picture


def test_each_reported_quantity_has_a_picture_with_its_unit():
    drawn = telemetry_drawings(reduced(intervals(10.0, 30.0)))
    assert [quantity.label for quantity, _ in drawn] == ["Achieved reads"]
    assert "1 to 2 s: 30 reads/s" in drawn[0][1]


def test_telemetry_without_intervals_has_no_picture():
    assert telemetry_drawings(reduced(intervals())) == []


@pytest.mark.django_db
def test_the_page_draws_rate_and_telemetry_of_the_side_file_on_the_server(client, make_run):
    seconds = [json.loads(interval(second)) | {"achieved_reads_per_s": "600.0"} for second in range(1, 41)]
    seconds[24]["achieved_reads_per_s"] = "12.5"
    run = make_run(*map(json.dumps, seconds))
    text = client.get(f"/runs/{run.public_id}/").text
    assert "12.5 to 600 reads/s, 2.1 to 100 % of the requested rate" in text
    assert 'aria-label="Processors busy, %"' in text
    document = client.get(f"/runs/{run.public_id}/over-time.json").json()
    assert min(document["least_per_s"]) == 12.5


@pytest.mark.django_db
@pytest.mark.parametrize("hidden", ["too large", "withheld", "missing"])
def test_a_side_file_that_a_page_cannot_read_leaves_the_minutes(client, make_run, monkeypatch, hidden):
    run = make_run(json.dumps(json.loads(interval(1)) | {"achieved_reads_per_s": "1.0"}))
    if hidden == "too large":
        monkeypatch.setattr(telemetry_charts, "LARGEST_BYTES", 10)
    elif hidden == "withheld":
        Evidence.objects.filter(filename="side.jsonl").update(sequestered=True)
    else:
        Evidence.objects.filter(filename="side.jsonl").update(sha256="0" * 64)
    text = client.get(f"/runs/{run.public_id}/").text
    assert 'aria-label="Achieved rate of reads, % of the requested rate"' in text
    assert 'aria-label="Processors busy, %"' not in text
    assert "A shorter stall shows only in the findings." in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        ("too large", "The side file has more than 512 MiB."),
        ("missing", "The register cannot read its copy of the side file"),
        ("empty", "The side file has no interval with a value that can be drawn."),
        (None, None),
    ],
)
def test_a_page_without_charts_of_the_side_file_gives_the_reason(client, make_run, monkeypatch, problem, sentence):
    run = make_run() if problem == "empty" else make_run(interval(1), interval(2))
    if problem == "too large":
        monkeypatch.setattr(telemetry_charts, "LARGEST_BYTES", 10)
    elif problem == "missing":
        Evidence.objects.filter(filename="side.jsonl").update(sha256="0" * 64)
    text = client.get(f"/runs/{run.public_id}/").text
    shown = [each for each in NO_CHARTS_SENTENCES.values() if each and each in text]
    assert len(shown) == (problem is not None)
    assert all(each.startswith(sentence) for each in shown)
    assert ('data-explore="telemetry"' in text) is (problem != "too large")  # neither script nor CSV reads it


@pytest.mark.django_db
def test_the_side_file_of_a_page_is_read_once_and_another_file_on_its_own(client, make_run, monkeypatch):
    read = []
    real = telemetry_charts._intervals
    monkeypatch.setattr(telemetry_charts, "_intervals", lambda file: read.append(file.name) or real(file))
    runs = [make_run(interval(1, busy), interval(2, busy)) for busy in ("11.5", "22.5")]
    for run, busy in zip([*runs, *runs], ("11.5", "22.5") * 2, strict=True):
        assert f"1 to 2 s: {busy} %" in client.get(f"/runs/{run.public_id}/").text
    assert len(read) == len(set(read)) == 2


@pytest.fixture
def parsed(monkeypatch):
    """Count every side file as large, and return the names of those that are parsed."""
    names = []
    real = telemetry_charts._intervals
    monkeypatch.setattr(telemetry_charts, "_intervals", lambda file: names.append(file.name) or real(file))
    monkeypatch.setattr(telemetry_charts, "PARSED_BYTES", 10)
    return names


def stored_intervals(run):
    run.submission.refresh_from_db()
    return path_of(run.submission.side_file.sha256, [quantity.code for quantity in QUANTITIES])


@pytest.mark.django_db
def test_a_large_side_file_is_drawn_without_script_and_parsed_once(client, make_run, parsed):
    seconds = [json.loads(interval(second)) | {"achieved_reads_per_s": "600.0"} for second in range(1, 41)]
    seconds[24]["achieved_reads_per_s"] = "12.5"
    run = make_run(*map(json.dumps, seconds))
    for _ in range(2):
        telemetry_charts._reduced.cache_clear()  # as in another process
        text = client.get(f"/runs/{run.public_id}/").text
        assert "12.5 to 600 reads/s, 2.1 to 100 % of the requested rate" in text
        assert 'aria-label="Processors busy, %"' in text
    assert min(client.get(f"/runs/{run.public_id}/over-time.json").json()["least_per_s"]) == 12.5
    assert client.get(f"/runs/{run.public_id}/telemetry.every.csv").status_code == 200
    assert len(parsed) == 1
    assert stored_intervals(run).stat().st_size < 2000


@pytest.mark.django_db
@pytest.mark.parametrize("content", [b"", b"damaged", zstandard.compress(b"12345678"), zstandard.compress(b"1" * 50)])
def test_damaged_intervals_are_parsed_again(client, make_run, parsed, content):
    run = make_run(interval(1, "11.5"), interval(2, "11.5"))
    client.get(f"/runs/{run.public_id}/")
    stored_intervals(run).write_bytes(content)
    telemetry_charts._reduced.cache_clear()  # as in another process
    assert "1 to 2 s: 11.5 %" in client.get(f"/runs/{run.public_id}/").text
    assert len(parsed) == 2
    telemetry_charts._reduced.cache_clear()
    assert "1 to 2 s: 11.5 %" in client.get(f"/runs/{run.public_id}/").text
    assert len(parsed) == 2


@pytest.mark.django_db
def test_a_disk_without_room_leaves_the_charts(client, make_run, parsed, settings, tmp_path, caplog):
    settings.TELEMETRY_DIR = tmp_path / "file"
    settings.TELEMETRY_DIR.write_text("a file in place of the directory")
    run = make_run(interval(1, "11.5"), interval(2, "11.5"))
    for _ in range(2):
        assert "1 to 2 s: 11.5 %" in client.get(f"/runs/{run.public_id}/").text
    assert "cannot be written" in caplog.text
    assert len(parsed) == 1


def take_all_slots(other, run):
    for slot in range(stored_logs.SLOTS):
        other.execute("SELECT pg_advisory_lock(%s, %s)", [locks.SECONDS, slot])


def parse_the_same_file(other, run):
    run.submission.refresh_from_db()
    key = int(run.submission.side_file.sha256[:8], 16)
    other.execute("SELECT pg_advisory_lock(%s, %s)", locks.keys_of(locks.SIDE_FILE, key))


@pytest.mark.django_db
@pytest.mark.parametrize("activity", [take_all_slots, parse_the_same_file])
def test_a_page_parses_no_large_side_file_while_others_do(client, make_run, parsed, activity):
    run = make_run(interval(1, "11.5"), interval(2, "11.5"))
    with other_session() as other:
        activity(other, run)
        busy = client.get(f"/runs/{run.public_id}/")
    assert NO_CHARTS_SENTENCES[NoCharts.BUSY] in busy.text
    assert busy.headers["Cache-Control"] == "no-store"
    assert parsed == []
    assert "1 to 2 s: 11.5 %" in client.get(f"/runs/{run.public_id}/").text


@pytest.mark.django_db
def test_intervals_that_another_process_has_just_stored_are_not_parsed(client, make_run, parsed, monkeypatch):
    run = make_run(interval(1, "11.5"), interval(2, "11.5"))
    client.get(f"/runs/{run.public_id}/")
    telemetry_charts._reduced.cache_clear()
    real, answers = telemetry_charts._loaded, iter([None])
    monkeypatch.setattr(telemetry_charts, "_loaded", lambda sha256: next(answers, real(sha256)))
    assert "1 to 2 s: 11.5 %" in client.get(f"/runs/{run.public_id}/").text
    assert len(parsed) == 1


@pytest.mark.django_db
def test_the_same_page_again_needs_no_stored_intervals(client, make_run, parsed, monkeypatch):
    run = make_run(interval(1, "11.5"), interval(2, "11.5"))
    client.get(f"/runs/{run.public_id}/")
    monkeypatch.delattr(telemetry_charts.interval_files, "load")
    monkeypatch.delattr(telemetry_charts, "reduced")
    for name in ("", "over-time.json", "over-time.csv", "telemetry.json", "telemetry.csv"):
        assert client.get(f"/runs/{run.public_id}/{name}").status_code == 200


@pytest.mark.django_db
def test_another_quantity_is_read_from_the_side_file(client, make_run, parsed, monkeypatch):
    run = make_run(interval(1, "11.5"), interval(2, "11.5"))
    client.get(f"/runs/{run.public_id}/")
    telemetry_charts._reduced.cache_clear()
    other = Quantity("seconds", "Seconds", "s", lambda telemetry: 7.0)
    monkeypatch.setattr(telemetry_charts, "QUANTITIES", (other, *QUANTITIES[1:]))
    assert "1 to 2 s: 7 s" in client.get(f"/runs/{run.public_id}/").text


@pytest.mark.django_db
def test_files_of_killed_processes_and_of_other_quantities_are_removed(client, make_run, parsed, settings):
    old, new = (settings.TELEMETRY_DIR / "00" / f"{'0' * 64}.{suffix}" for suffix in ("1", "0123456789abcdef"))
    current = stored_intervals(make_run(interval(1, "22.5"))).with_stem("1" * 64)
    for path in (old, new, current):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    age = time.time() - LEFTOVER_AGE_S - 1
    for path in (old, current):
        os.utime(path, (age, age))
    client.get(f"/runs/{make_run(interval(1, '11.5')).public_id}/")
    assert [path.exists() for path in (old, new, current)] == [False, True, True]


@pytest.mark.django_db
@pytest.mark.parametrize(("lines", "reason"), [([interval(1)], None), ([], NoCharts.NO_INTERVAL)])
def test_a_page_has_a_reason_only_without_charts(make_run, lines, reason):
    run = make_run(*lines)
    run.submission.refresh_from_db()
    context = charts_of(run, None)
    assert (bool(context["telemetry_charts"]), context["no_telemetry_reason"]) == (reason is None, reason)


def test_each_reason_has_one_sentence():
    assert set(NO_CHARTS_SENTENCES) == set(NoCharts)


def test_stored_intervals_are_those_of_the_side_file():
    rows = [(1.0, [1.5, None, *range(len(QUANTITIES) - 2)]), (2.5, [None] * len(QUANTITIES))]
    read = Intervals.unpacked(Intervals(rows).packed())
    assert list(read.ends) == [1.0, 2.5]
    assert [list(read.values(place)) for place in range(len(QUANTITIES))] == [
        list(each) for each in zip(*(row for _, row in rows), strict=True)
    ]
