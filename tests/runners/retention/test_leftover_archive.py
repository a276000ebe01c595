"""Leftover files of cancelled and lost runs: all are archived, and files that are too large are fetched once."""

import pytest

from results.evidence.store import TooLargeError
from results.models import Event, Evidence
from runners.dispatch.orders import Order, cancel, order
from runners.evidence.submit import build_archive
from runners.models.states import State
from tests.runners.hosts.test_host_pair import load_of, lose, telemetry_run_of
from tests.runners.lab import poll_state
from tests.runners.retention.test_cleanup import KEPT_S, age, left_of, remove

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def old_after_s(settings):
    settings.RUN_DIR_RETENTION_S = KEPT_S


@pytest.fixture
def cancelled(running, connect, staff):
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    return age(running)


@pytest.fixture
def fetched(fake, monkeypatch):
    """Return the names of the files that the register requested."""
    names, fetch = [], fake.fetch

    def counted(run, file):
        names.append(file)
        return fetch(run, file)

    monkeypatch.setattr(fake, "fetch", counted)
    return names


def test_leftover_files_that_are_too_large_are_fetched_once_and_recorded(cancelled, connect, fetched, settings):
    settings.UPLOAD_MAX_BYTES = 10
    assert not remove(cancelled, connect)
    assert "log" in fetched
    fetched.clear()
    assert not remove(cancelled, connect)
    assert fetched == []
    assert Event.objects.get(kind="evidence-too-large").subject_id == cancelled.public_id


def test_files_that_were_too_large_and_are_gone_from_the_host_are_no_longer_listed(cancelled, connect, fake, settings):
    settings.UPLOAD_MAX_BYTES = 10
    assert not remove(cancelled, connect)
    assert not remove(cancelled, connect)
    fake.lose(cancelled.public_id)
    assert remove(cancelled, connect)
    assert not Evidence.objects.exists()


def test_directories_on_both_hosts_must_be_gone_and_a_request_creates_none(
    loading, connect_both, fake, sender, staff, settings
):
    settings.UPLOAD_MAX_BYTES = 10
    cancel(loading, staff)
    while poll_state(loading, connect_both) == State.RUNNING:
        for host in (fake, sender):
            for run, program in host.programs.items():
                if program.is_running:
                    host.files.setdefault(run, {})["stdout"] = b"more than ten bytes"
                    host.end(run, 0)
    assert not remove(age(loading), connect_both)
    assert Event.objects.filter(kind="evidence-too-large").exists()
    for host in (fake, sender):
        for run in list(host.programs):
            if run != telemetry_run_of(loading):
                host.lose(run)
    assert not remove(loading, connect_both)
    fake.lose(telemetry_run_of(loading))
    fake.stops_count = 0
    assert remove(loading, connect_both)
    assert (fake.stops_count, fake.programs) == (0, {})


@pytest.mark.parametrize(("more_bytes", "is_kept"), [(0, False), (10**7, True)])
def test_files_that_were_too_large_are_archived_after_the_limit_is_raised(
    cancelled, connect, settings, more_bytes, is_kept
):
    settings.UPLOAD_MAX_BYTES = 10
    remove(cancelled, connect)
    settings.UPLOAD_MAX_BYTES += more_bytes
    assert remove(cancelled, connect) is is_kept
    assert Evidence.objects.exists() is is_kept


def test_a_register_without_space_tries_again(cancelled, connect, settings, tmp_path):
    (tmp_path / "in-the-way").write_text("a file where a directory should be")
    kept_at, settings.EVIDENCE_DIR = settings.EVIDENCE_DIR, tmp_path / "in-the-way"
    assert not remove(cancelled, connect)
    settings.EVIDENCE_DIR = kept_at
    assert remove(cancelled, connect)


def test_no_more_of_a_file_is_fetched_than_the_limit_allows(running, settings):
    settings.UPLOAD_MAX_BYTES = 10

    class Endless:
        pieces_count = 0

        def read(self, size):
            self.pieces_count += 1
            return b"\0" * size if self.pieces_count < 20 else b""

    endless = Endless()
    with (
        pytest.raises(TooLargeError, match="log: expected at most 10 bytes"),
        build_archive(running, [("log", endless)]),
    ):
        pass
    assert endless.pieces_count == 1


def test_all_files_of_a_run_on_the_host_are_archived(cancelled, connect, fake):
    had = {"stdout": b"ready\n", "stderr": b"interrupted\n", "side.jsonl": b"{}\n", "pid": b'{"pid": 1}', "exit": b"{}"}
    fake.files[cancelled.public_id] |= had
    fake.files[cancelled.public_id]["lock"] = b""
    assert remove(cancelled, connect)
    archived = left_of(cancelled)
    assert {name: archived[f"{cancelled.public_id}/{name}"] for name in had} == had
    assert set(archived) - {f"{cancelled.public_id}/{name}" for name in had} == {
        f"{cancelled.public_id}/{name}" for name in ("log", "config")
    }


def test_the_state_of_a_preparation_is_archived(device, a_lab, staff, connect, fake):
    prep = order(device, a_lab, Order(recipe="prep"), staff)
    poll_state(prep, connect)
    fake.files[prep.public_id] |= {"prep.state": b"half way"}
    cancel(prep, staff)
    assert poll_state(prep, connect) == State.CANCELLED
    assert remove(age(prep), connect)
    assert left_of(prep) == {f"{prep.public_id}/prep.state": b"half way"}


def test_the_end_of_a_directory_that_was_sealed_before_any_start_is_no_evidence(cancelled, connect, fake):
    fake.files[cancelled.public_id] = {"exit": b'{"reason": "stopped before it was started"}'}
    assert remove(cancelled, connect)
    assert not Evidence.objects.exists()


def test_a_start_that_comes_while_its_directory_is_fetched_begins_nothing(cancelled, connect, fake, monkeypatch):
    """As after a power cut that destroyed the record of the start and the drive's lock, but not the log."""
    run, states, fetch = cancelled.public_id, [], fake.fetch
    fake.programs.clear()
    fake.newest.clear()

    def fetch_and_start(run, file):
        states.append(fake.start(run, cancelled.drive_key, cancelled.generation, []).state)
        return fetch(run, file)

    monkeypatch.setattr(fake, "fetch", fetch_and_start)
    assert remove(cancelled, connect)
    assert set(states) == {"ended"}
    assert f"{run}/log" in left_of(cancelled)


def test_telemetry_of_a_load_that_is_gone_is_archived_once_it_has_ended(loading, connect_both, fake, sender):
    lose(loading)
    sender.lose(load_of(loading))
    fake.ignores_stop = True
    fake.files[telemetry_run_of(loading)]["side.jsonl"] = b"half"
    assert not remove(age(loading), connect_both)
    assert not Evidence.objects.exists()
    fake.ignores_stop = False
    fake.files[telemetry_run_of(loading)]["side.jsonl"] = b"whole"
    assert remove(loading, connect_both)
    assert left_of(loading)[f"{telemetry_run_of(loading)}/side.jsonl"] == b"whole"
