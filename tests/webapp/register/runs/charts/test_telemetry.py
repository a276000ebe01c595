"""Telemetry of a side file over the time of a run: read as untrusted input, drawn with its extremes."""

import io
import json

import pytest

from results import locks
from results.access import intervals
from results.evidence.store import StoreUnavailableError, store
from results.models import Evidence, Run, Submission
from tests.results.builders import other_session
from tests.results.stored_files import use_directory
from tests.webapp.register.conftest import SLOW_DISK_FACTS
from tests.webapp.register.runs.test_side_file import SIDE_FILE
from webapp.register.runs.charts import telemetry
from webapp.register.runs.charts.telemetry import QUANTITIES, Intervals, reduced

pytestmark = pytest.mark.django_db


def interval(label_s, busy="10.0", **more):
    disk = {
        "io": {"reads_per_s": "100.0", "writes_per_s": "50.5", "read_await_us": "80.0"},
        "temperature": {"celsius": "40"},
    }
    power = [{"sensor": "rapl", "boundary": "package", "watts": "55.5"}]
    quantities = {"cpu": {"busy_pct": busy, "iowait_pct": None}, "disks": [disk, disk], "power": power} | more
    return json.dumps({"record": "interval", "label_s": label_s, "telemetry": quantities})


@pytest.fixture
def make_run(make_log_run, organisation, settings, tmp_path):
    use_directory(settings, tmp_path)

    def make(*lines):
        content = "\n".join(['{"record": "start"}', *lines]).encode()
        stored = store(io.BytesIO(content))
        evidence = Evidence.objects.create(
            organisation=organisation, sha256=stored.sha256, size_bytes=len(content), filename="side.jsonl"
        )
        run = make_log_run(facts=SLOW_DISK_FACTS | {"side_file": SIDE_FILE})
        Submission.objects.filter(pk=run.submission.pk).update(side_file=evidence)
        return run

    return make


def telemetry_of(client, run):
    document = client.get(f"/runs/{run.public_id}/telemetry.json").json()
    return {series["name"]: series for series in document["series"]}


def test_unreported_quantities_have_no_chart(client, make_run):
    quantities = telemetry_of(client, make_run(interval(1), interval(2, "30.0")))
    assert quantities["Processors busy"]["greatest"] == [10.0, 30.0]
    assert quantities["Disk I/O"]["greatest"] == [301.0, 301.0]  # of both disks, reads and writes
    assert quantities["Processor power"]["unit"] == "W"
    assert not {"Processors waiting for I/O", "Drive power", "Write await, worst disk"} & quantities.keys()


def test_one_hot_second_of_a_day_is_drawn_at_full_height():
    busy = [[5.0] + [None] * (len(QUANTITIES) - 1) for _ in range(86_400)]
    busy[40_000][0] = 99.0
    quantities = reduced(Intervals((float(place + 1), row) for place, row in enumerate(busy)))
    assert (len(quantities.columns), max(quantities.drawn[0][2]), quantities.drawn[0][2].count(99.0)) == (288, 99.0, 1)


@pytest.mark.parametrize(
    "line",
    [
        '{"record": "interval", "label_s": 2, "telemetry"', '{"record": "interval", "label_s": "NaN"}',
        '{"record": "interval", "label_s": true}', '["interval"]', '{"record": "interval"' + "[" * 60_000,
        interval(2, "1e400"), interval(2, [1]), interval(2, "<script>"), interval(2, disks=7, power={"watts": 1}),
        '{"record": "interval", "label_s": 2, "telemetry": {"cpu": []}}', interval(0), "x" * 200_000,
    ],
)  # fmt: skip
def test_a_line_that_is_not_telemetry_is_ignored(client, make_run, line):
    quantities = telemetry_of(client, make_run(interval(1), line, interval(3)))
    known = [value for value in quantities["Processors busy"]["greatest"] if value is not None]
    assert (known[0], known[-1]) == (10.0, 10.0)
    assert len(known) in {2, 3}


def test_the_csv_has_the_lowest_and_the_highest_of_each(client, make_run):
    lines = client.get(f"/runs/{make_run(interval(1)).public_id}/telemetry.csv").text.splitlines()
    assert lines[0].startswith("start_s,end_s,least_cpu_busy,greatest_cpu_busy,")
    assert lines[1].startswith("0,1,10,10,")


def test_the_page_loads_it_when_it_is_scrolled_into_view(client, make_run):
    run = make_run(interval(1))
    assert f'data-source="/runs/{run.public_id}/telemetry.json"' in client.get(f"/runs/{run.public_id}/").text


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_run_without_a_side_file_has_no_telemetry(client, make_log_run, form):
    assert client.get(f"/runs/{make_log_run().public_id}/telemetry.{form}").status_code == 404


def test_telemetry_of_a_withheld_side_file_is_not_shown(client, make_run):
    run = make_run(interval(1))
    Evidence.objects.filter(filename="side.jsonl").update(sequestered=True)
    assert client.get(f"/runs/{run.public_id}/telemetry.json").status_code == 451


def test_a_side_file_that_is_too_large_for_a_page_is_named(client, make_run, monkeypatch):
    monkeypatch.setattr("webapp.register.runs.charts.telemetry.LARGEST_BYTES", 10)
    answer = client.get(f"/runs/{make_run(interval(1)).public_id}/telemetry.json")
    assert answer.status_code == 404
    assert "The side file has more than 512 MiB." in answer.text


@pytest.mark.parametrize("form", ["telemetry.json", "telemetry.csv", "telemetry.every.csv", "over-time.json"])
def test_a_busy_reader_states_when_to_retry(client, make_run, monkeypatch, form):
    monkeypatch.setattr("webapp.register.runs.charts.telemetry.PARSED_BYTES", 10)
    run = make_run(interval(1))
    with other_session() as other:
        for slot in range(intervals.SLOTS):
            other.execute("SELECT pg_advisory_lock(%s, %s)", [locks.SECONDS, slot])
        answer = client.get(f"/runs/{run.public_id}/{form}")
    assert (answer.status_code, answer.headers["Retry-After"], answer.headers["Cache-Control"]) == (
        503,
        "5",
        "no-store",
    )
    assert "Try again in a few seconds" in answer.text
    assert client.get(f"/runs/{run.public_id}/{form}").status_code == 200


def test_object_storage_that_does_not_answer_is_no_damaged_file(make_run, monkeypatch):
    """The page answers 503 and works later. An error of the disk is shown in the page."""
    run = Run.objects.get(pk=make_run(interval(1)).pk)

    def refuse(_):
        raise errors.pop()

    errors = [OSError(5, "Input/output error"), StoreUnavailableError("no answer")]
    monkeypatch.setattr(telemetry, "open_evidence", refuse)
    with pytest.raises(StoreUnavailableError):
        telemetry.page_intervals(run)
    assert telemetry.page_intervals(run) == telemetry.NoCharts.UNREADABLE
