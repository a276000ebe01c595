"""Telemetry beside a stage on a second machine: asked about now and then, and told of where it has ended."""

import time

import pytest
from django.utils import timezone

from runners.dispatch import remote_telemetry
from runners.hosts.local import LocalHost
from runners.hosts.protocol import ProgramState
from runners.models import Dispatch
from runners.models.states import State
from tests.runners.hosts.test_host_pair import beside_of
from tests.runners.lab import see
from tests.runners.sweeps import finish

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(fake, monkeypatch):
    """The runs whose status the drive's host was asked for."""
    runs, status = [], fake.status

    def counted(run):
        runs.append(run)
        return status(run)

    monkeypatch.setattr(fake, "status", counted)
    return runs


@pytest.mark.parametrize(("period_s", "count"), [(3600, 1), (0, 5)])
def test_telemetry_is_asked_about_once_a_period(loading, connect_both, asked, monkeypatch, period_s, count):
    monkeypatch.setattr(remote_telemetry, "TELEMETRY_PERIOD_S", period_s)
    for _ in range(5):
        assert see(loading, connect_both) == State.RUNNING
    assert asked.count(beside_of(loading)) == count


def test_runs_that_nobody_asks_about_any_more_are_forgotten(loading, connect_both, monkeypatch):
    monkeypatch.setattr(remote_telemetry, "_polled_at_s", {"d-long-ago.load": float("-inf")})
    see(loading, connect_both)
    assert list(remote_telemetry._polled_at_s) == [f"{loading.public_id}.load"]


def test_telemetry_that_ended_under_a_load_is_told_once(loading, connect_both, fake, monkeypatch):
    monkeypatch.setattr(remote_telemetry, "TELEMETRY_PERIOD_S", 0)
    fake.end(beside_of(loading), 3)
    for _ in range(3):
        assert see(loading, connect_both) == State.RUNNING
    told = "drive telemetry of stage load on local ended by an I/O error; load continues without it"
    assert loading.steps.filter(reason=told).count() == 1


@pytest.mark.parametrize(
    ("exit_status", "words"),
    [
        (3, "finished; but drive telemetry ended by an I/O error"),
        (
            None,
            "finished; but drive telemetry ended unobserved: killed, or the host was",
        ),
    ],
)
def test_the_end_of_a_stage_tells_of_telemetry_that_had_ended(loading, connect_both, fake, sender, exit_status, words):
    fake.end(beside_of(loading), exit_status)
    finish(loading, sender)
    see(loading, connect_both)
    assert loading.stage_ends.get(name="load").reason.startswith(words)


def test_the_end_of_a_stage_tells_of_telemetry_that_is_gone(loading, connect_both, fake, sender):
    fake.lose(beside_of(loading))
    finish(loading, sender)
    see(loading, connect_both)
    assert loading.stage_ends.get(name="load").reason.endswith("drive telemetry left no files on its host")


@pytest.mark.parametrize("exit_status", [0, 5])
def test_telemetry_that_ended_as_asked_is_not_told_of(loading, connect_both, fake, sender, exit_status):
    fake.end(beside_of(loading), exit_status)
    finish(loading, sender)
    see(loading, connect_both)
    assert loading.stage_ends.get(name="load").reason == "finished"


def test_the_real_program_ends_telemetry_alone_as_asked(drivetest, tmp_path):
    host, run, path = LocalHost(), "d-a.load-database", str(tmp_path / "drive")
    host.create_file(path, 1024 * 1024)
    key = host.identify(path).drive_key
    host.put(run, {})
    host.start(run, key, 1, ("watch", path, "--expect-drive", key, "--side-file", "side.jsonl"))
    while not host.status(run).side_file_bytes:  # before it listens a signal would end it unheard
        time.sleep(0.05)
    while host.stop(run).state is ProgramState.RUNNING:
        time.sleep(0.05)
    assert host.status(run).exit_status in remote_telemetry.EXPECTED_ENDS


def test_a_silent_host_is_not_forgiven_by_a_look_that_does_not_ask_it(loading, connect_both, fake, sender):
    see(loading, connect_both)
    sender.files[f"{loading.public_id}.load"]["log"] = b"a line\n"  # the load's host has something to keep
    Dispatch.objects.filter(pk=loading.pk).update(silent_since=timezone.now())
    fake.is_silent = True
    see(loading, connect_both)
    assert loading.progress["tail"] == ["a line"]
    assert loading.silent_since is not None
