"""Telemetry on the drive's host during a stage on a second host: its polls, and the report of its end."""

import time

import pytest
from django.utils import timezone

from runners.hosts.local import LocalHost
from runners.hosts.protocol import ProgramState
from runners.lifecycle import stages
from runners.models import Dispatch
from runners.models.states import State
from tests.runners.hosts.test_host_pair import telemetry_run_of
from tests.runners.lab import poll_state
from tests.runners.sweeps import finish

pytestmark = pytest.mark.django_db


@pytest.fixture
def requested(fake, monkeypatch):
    """Return the runs whose status was requested from the drive's host."""
    runs, status = [], fake.status

    def counted(run):
        runs.append(run)
        return status(run)

    monkeypatch.setattr(fake, "status", counted)
    return runs


@pytest.mark.parametrize(("period_s", "count"), [(3600, 1), (0, 5)])
def test_telemetry_is_polled_once_a_period(loading, connect_both, requested, monkeypatch, period_s, count):
    monkeypatch.setattr(stages, "TELEMETRY_PERIOD_S", period_s)
    for _ in range(5):
        assert poll_state(loading, connect_both) == State.RUNNING
    assert requested.count(telemetry_run_of(loading)) == count


def test_runs_that_are_no_longer_polled_are_forgotten(loading, connect_both, monkeypatch):
    monkeypatch.setattr(stages, "_polled_at_s", {"d-long-ago.load": float("-inf")})
    poll_state(loading, connect_both)
    assert list(stages._polled_at_s) == [f"{loading.public_id}.load"]


def test_telemetry_that_ended_during_a_load_is_recorded_once(loading, connect_both, fake, monkeypatch):
    monkeypatch.setattr(stages, "TELEMETRY_PERIOD_S", 0)
    fake.end(telemetry_run_of(loading), 3)
    for _ in range(3):
        assert poll_state(loading, connect_both) == State.RUNNING
    reason = "the drive telemetry of stage load on local ended by an I/O error; the stage continues without telemetry"
    assert loading.steps.filter(reason=reason).count() == 1


@pytest.mark.parametrize(
    ("exit_status", "message"),
    [
        (3, "the program finished; the drive telemetry ended by an I/O error"),
        (
            None,
            "the program finished; the drive telemetry ended unobserved: the cause is not known",
        ),
    ],
)
def test_the_end_of_a_stage_reports_telemetry_that_had_ended(loading, connect_both, fake, sender, exit_status, message):
    fake.end(telemetry_run_of(loading), exit_status)
    finish(loading, sender)
    poll_state(loading, connect_both)
    assert loading.stage_ends.get(name="load").reason.startswith(message)


def test_the_end_of_a_stage_reports_telemetry_that_is_gone(loading, connect_both, fake, sender):
    fake.lose(telemetry_run_of(loading))
    finish(loading, sender)
    poll_state(loading, connect_both)
    assert loading.stage_ends.get(name="load").reason.endswith("the drive telemetry left no files on the host")


@pytest.mark.parametrize("exit_status", [0, 5])
def test_telemetry_that_ended_on_request_is_not_reported(loading, connect_both, fake, sender, exit_status):
    fake.end(telemetry_run_of(loading), exit_status)
    finish(loading, sender)
    poll_state(loading, connect_both)
    assert loading.stage_ends.get(name="load").reason == "the program finished"


def test_the_real_program_ends_only_telemetry_on_request(drivetest, tmp_path):
    host, run, path = LocalHost(), "d-a.load-database", str(tmp_path / "drive")
    host.create_file(path, 1024 * 1024)
    key = host.identify(path).drive_key
    host.put(run, {})
    host.start(run, key, 1, ("watch", path, "--expect-drive", key, "--side-file", "side.jsonl"))
    while not host.status(
        run
    ).side_file_bytes:  # a signal before its handler is installed would end it without a record
        time.sleep(0.05)
    while host.stop(run).state is ProgramState.RUNNING:
        time.sleep(0.05)
    assert host.status(run).exit_status in stages.EXPECTED_ENDS


def test_progress_from_the_load_host_does_not_end_an_outage_of_the_drive_s_host(loading, connect_both, fake, sender):
    poll_state(loading, connect_both)
    sender.files[f"{loading.public_id}.load"]["log"] = b"a line\n"  # the load's host has files to archive
    Dispatch.objects.filter(pk=loading.pk).update(silent_since=timezone.now())
    fake.is_silent = True
    poll_state(loading, connect_both)
    assert loading.progress["tail"] == ["a line"]
    assert loading.silent_since is not None
