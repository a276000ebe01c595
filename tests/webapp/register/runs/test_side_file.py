"""The side file on the page of a run."""

import copy

import pytest

from results.models import Evidence
from tests.webapp.register.conftest import SLOW_DISK_FACTS
from tests.webapp.register.pages import read_rows
from webapp.register.runs.side_file import side_file_view

pytestmark = pytest.mark.django_db

TIMES = {"min": "60.100", "mean": "81.250", "p50": "80.000", "p90": "99.900", "p99": "300.123", "p999": None}
TIMES |= {"p9999": None, "p99999": None, "max": "9001.000"}
SPAN = {"min": "3.0", "mean": "12.5", "max": "40.1"}
SIDE_FILE = {
    "program": {"name": "drivetest", "version": "0.2.0", "revision": "abc"},
    "engine": "io_uring", "engine_reason": "requests come back later", "workers": 1, "service_threads": 10,
    "arrivals": "even", "seed": "42", "started_at": "2026-08-01T12:00:00.000Z",
    "host": {"hostname": "lab1", "kernel": "6.18", "cpu_model": "EPYC", "cpus_count": 2, "memory_bytes": 8 * 10**9}
    | {"virtual_machine": None},
    "drives_count": 1,
    "drives": [
        {"name": "/dev/nvme0n1", "kind": "nvme", "drive_key": "nvme:M:S", "model": "M", "serial": "S", "firmware": "F"}
        | {"size_bytes": 960197124096}
    ],
    "warnings": [{"id": "governor", "sentence": "The governor is powersave."}],
    "is_rate_held": False, "rate_word": "not held", "rate_sentence": "reads: 52000 of 60000 a second.",
    "operations": [
        {"name": "reads", "asked_per_s": "2000.000000", "achieved_per_s": "1999.998", "done_count": 120000}
        | {"failed_count": 0, "service_us": TIMES, "response_us": TIMES, "lateness_us": None}
    ],
    "over": [{"threshold_us": 1000, "over_count": 51, "ops_count": 120000, "share_pct": "0.04"}],
    "telemetry": {
        "intervals_count": 60, "cpu_busy_count": 3, "cpu_stolen_count": 0, "cpu_busy_pct": SPAN, "cpu_iowait_pct": None,
        "cpu_steal_pct": None, "generator_cpu_pct": None, "disks_count": 1,
        "disks": [
            {"disk": "nvme0n1", "devices": ["/dev/nvme0n1"], "temperature_c": SPAN, "temperature_limit_c": "81.8"}
            | {"busy_pct": None, "read_await_us": None, "write_await_us": None, "read_bytes_per_s": None}
            | {"write_bytes_per_s": None}
        ],
    },
    "end_reason": "finished", "end_text": "",
}  # fmt: skip


@pytest.fixture
def make_run(make_log_run):
    def make(**changes):
        return make_log_run(facts=SLOW_DISK_FACTS | {"side_file": copy.deepcopy(SIDE_FILE) | changes})

    return make


@pytest.mark.parametrize(
    "said",
    [
        '<span class="fail">The requested rates were not sustained.</span> reads: 52000 of 60000 a second.',
        "0.04\N{NO-BREAK SPACE}% over 1\N{NO-BREAK SPACE}ms (51 of 120,000)",
        "The governor is powersave.",
        "io_uring, requests come back later",
        "nvme, M, S, firmware F, 960\N{NO-BREAK SPACE}GB",
        "12.5\N{NO-BREAK SPACE}% on average, 3.0 to 40.1",
        "nvme0n1: temperature",
        "3 of 60",
    ],
)
def test_the_page_shows_generator_host_drives_and_telemetry(client, make_run, said):
    assert said in client.get(f"/runs/{make_run().public_id}/").text


def test_coalescing_and_setup_are_shown_if_the_reading_has_them(client, make_run):
    setup = {"ring_mode": "plain", "has_registered_buffers": False, "has_cpu_latency_request": False}
    setup |= {"is_memory_locked": True, "rings_reason": "1 ring: configured", "numa_node": 0}
    run = make_run(coalesce_us=50, setup=setup | {"sentences": ["idle processors may sleep: no such file"]})
    text = client.get(f"/runs/{run.public_id}/").text
    assert "Requests within 50 us are submitted together" in text
    assert "1 ring: configured; ring mode plain; memory is locked; rings run on NUMA node 0; idle processors" in text


@pytest.mark.parametrize(("is_counted", "is_shown"), [(False, True), (True, False), (None, False)])
def test_threads_whose_waits_for_a_processor_are_not_counted_are_named(client, make_run, is_counted, is_shown):
    run = make_run(setup={"is_processor_wait_counted": is_counted, "sentences": []})
    text = client.get(f"/runs/{run.public_id}/").text
    assert ("the kernel does not count waits for a processor" in text) is is_shown


def test_without_coalescing_and_setup_the_page_has_no_rows_for_them(client, make_run):
    text = client.get(f"/runs/{make_run(coalesce_us=0).public_id}/").text
    assert "Coalescing" not in text
    assert "Generator setup" not in text


def test_both_times_of_an_operation_are_shown_and_missing_ones_are_empty(client, make_run):
    rows = read_rows(client.get(f"/runs/{make_run().public_id}/"))
    service, response = (row for row in rows if len(row) == 10 and row[0] == "reads")
    assert (service[1], response[1]) == ("service", "response")
    assert service[2:] == ["80", "99.9", "300.1", "", "", "", "9001", "81.2"]


def test_backlog_and_generator_lateness_are_shown_if_the_reading_has_them(client, make_run):
    def shown(**times):
        operation = SIDE_FILE["operations"][0] | {"lateness_us": TIMES} | times
        rows = read_rows(client.get(f"/runs/{make_run(operations=[operation]).public_id}/"))
        return {row[1]: row[2] for row in rows if len(row) == 10 and row[0] == "reads"}

    own = TIMES | {"p50": "13.000"}
    new = shown(backlog_us=TIMES | {"p50": "0.000"}, generator_lateness_us=own)
    assert new == {"service": "80", "response": "80", "lateness": "80", "backlog": "0", "generator lateness": "13"}
    assert list(shown()) == ["service", "response", "lateness"]
    assert list(shown(backlog_us=None, generator_lateness_us=None)) == ["service", "response", "lateness"]


@pytest.mark.parametrize(
    ("is_held", "said"), [(True, "The requested rates were sustained."), (None, "the side file has no end record")]
)
def test_the_page_shows_if_the_rates_were_sustained(client, make_run, is_held, said):
    assert said in client.get(f"/runs/{make_run(is_rate_held=is_held, rate_sentence=None).public_id}/").text


def test_a_killed_run_is_marked(make_run):
    view = side_file_view(make_run(end_reason=None, end_text=None, telemetry=None, host=None, program=None))
    assert ("Ended", "no end record; the cause is not known") in view["setup"]
    assert view["telemetry"] == []


def test_very_many_drives_are_counted(make_run):
    view = side_file_view(make_run(drives=SIDE_FILE["drives"] * 17, drives_count=100))
    assert ("Further drives", "84") in view["setup"]


def test_a_run_without_a_side_file_shows_no_details_of_one(client, make_log_run):
    assert "Side file <span" not in client.get(f"/runs/{make_log_run().public_id}/").text


def test_the_side_file_of_a_withheld_log_is_not_shown(client, make_run):
    run = make_run()
    type(run.reading.evidence).objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    assert "Side file <span" not in client.get(f"/runs/{run.public_id}/").text


def test_a_withheld_side_file_is_not_shown(client, make_run):
    run = make_run(host=SIDE_FILE["host"] | {"hostname": "lab-host-17"})
    stated = {"organisation": run.submission.organisation, "size_bytes": 1, "filename": "load.jsonl"}
    run.submission.side_file = Evidence.objects.create(sha256="f" * 64, **stated)
    run.submission.save()
    assert "lab-host-17" in client.get(f"/runs/{run.public_id}/").text
    Evidence.objects.filter(sha256="f" * 64).update(sequestered=True)
    assert "lab-host-17" not in client.get(f"/runs/{run.public_id}/").text
