"""What is missing for a certificate: the rules' own answer for the runs of one log."""

import pytest

from results.ingest.rows import unsaved_run
from results.models import Profile, Verdict
from tests.results.builders import recorded_reading
from webapp.register.trial.certificate import needs_of

pytestmark = pytest.mark.django_db


def run_of(outcome="pass", reads_per_s="60000", devices=1, **columns):
    """Return a run of a day as a log shows it, with its verdict."""
    read = recorded_reading("slow-disk-ms")["runs"][0]
    read |= {"asked_reads_per_s": reads_per_s, "asked_writes_per_s": str(int(reads_per_s) // 2), "reached_s": 86_400}
    run = unsaved_run(read | {"device_count": devices, "nx_load": None} | columns)
    return run, Verdict(run=run, profile=Profile.current(), outcome=outcome, document={"reasons": []})


def needs(*runs):
    named = [(f"run {number}", *each) for number, each in enumerate(runs, start=1)]
    return needs_of(named, Profile.current())


def test_a_passing_load_test_needs_a_stress_test_and_what_no_log_shows():
    (attempt,) = needs(run_of())["attempts"]
    assert attempt["title"] == "1 device at 30x"
    assert attempt["present"] == ["load test run 1 passes at 30x"]
    assert attempt["missing"][0].startswith("a stress test at 60x is missing")
    assert "it cannot be shown which drive run 1 ran on" in attempt["missing"]


def test_both_runs_in_one_file_are_taken_together():
    (attempt,) = needs(run_of(), run_of("fail", "120000"))["attempts"]
    assert attempt["present"][1] == "stress test run 2 ran to completion at 60x, 60x was required"


def test_a_failing_run_is_named():
    (attempt,) = needs(run_of("fail"))["attempts"]
    assert attempt["missing"] == ["no load test with one device passes (run 1: fail)"]


def test_each_number_of_devices_is_an_attempt():
    assert [each["title"] for each in needs(run_of(), run_of(devices=4))["attempts"]] == [
        "1 device at 30x",
        "4 devices at 7.5x",
    ]


def test_a_virtual_device_is_named():
    run, verdict = run_of()
    run.facts["is_virtual_device"] = True
    (attempt,) = needs((run, verdict))["attempts"]
    assert "run 1 ran on a virtual device, which never certifies" in attempt["missing"]


@pytest.mark.parametrize(
    ("workload", "sentence"),
    [("ycsb", "goes through a database"), ("act-index", "never certifies"), ("act-other", "no run that can be judged")],
)
def test_a_log_of_another_workload_says_why_nothing_is_listed(workload, sentence):
    run, verdict = run_of(workload=workload)
    found = needs((run, verdict))
    assert sentence in found["sentence"]
    assert found["attempts"] == []


def test_a_judged_run_without_a_number_of_devices_says_so():
    found = needs(run_of(devices=None))
    assert found["sentence"].startswith("The log does not report the number of devices")
    assert found["attempts"] == []
    assert len(needs(run_of(devices=None), run_of())["attempts"]) == 1


def test_a_log_without_a_run_says_so():
    assert needs()["sentence"] == "The log has no run that can be judged, so it cannot support a certificate."
