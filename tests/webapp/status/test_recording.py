import os
import shutil
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from results.models import Reading
from runners.models.states import State
from tests.register import free_port
from tests.results.builders import make_organisation, send
from tests.results.fixtures import evidence_dir, no_broker, object_storage, program, seaweed, stand_in
from tests.results.stored_files import use_directory
from tests.runners.lab import a_lab, device, dispatch, fake, in_state, new_dispatch
from webapp.status import recording
from webapp.status.models import Part, PartDay, PartState
from webapp.status.tasks import record

__all__ = [
    "a_lab", "device", "dispatch", "evidence_dir", "fake", "in_state", "new_dispatch", "no_broker",
    "object_storage", "program", "seaweed", "stand_in",
]  # fmt: skip
pytestmark = pytest.mark.django_db
WORKING, DEGRADED, DOWN = PartState.WORKING, PartState.DEGRADED, PartState.DOWN


@pytest.mark.parametrize(("age_s", "state"), [(110, WORKING), (130, DEGRADED), (None, DEGRADED)])
def test_pages_are_slower_without_a_current_snapshot(settings, tmp_path, age_s, state):
    settings.SNAPSHOT_DIR = tmp_path
    if age_s is not None:
        (tmp_path / "looked-at").touch()
        os.utime(tmp_path / "looked-at", (time.time() - age_s,) * 2)
    assert recording.pages_state() == state


@pytest.mark.parametrize(
    ("free_bytes", "state"),
    [(5 * 10**9, WORKING), (5 * 10**9 - 1, DEGRADED), (10**9, DEGRADED), (10**9 - 1, DOWN)],
)
def test_uploads_need_space(settings, tmp_path, monkeypatch, free_bytes, state):
    use_directory(settings, tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free_bytes))
    assert recording.uploads_state() == state


@pytest.mark.parametrize("name", ["missing", "not mounted"])
def test_uploads_need_the_directory_of_evidence(settings, tmp_path, name):
    (tmp_path / "not mounted").mkdir()
    settings.EVIDENCE_DIR = tmp_path / name
    assert recording.uploads_state() == DOWN


def test_uploads_need_a_file_system_that_answers(settings, tmp_path, monkeypatch):
    def fail(_):
        raise OSError(116, "Stale file handle")

    use_directory(settings, tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", fail)
    assert recording.uploads_state() == DOWN


@pytest.mark.xdist_group("object storage")
def test_uploads_to_object_storage_need_its_answer_and_no_space_of_this_machine(
    settings, object_storage, monkeypatch, tmp_path
):
    settings.DATA_DIR = settings.EVIDENCE_DIR = tmp_path / "missing"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    assert recording.uploads_state() == WORKING
    settings.EVIDENCE_STORE = "s3://no-such-bucket/register"
    assert recording.uploads_state() == DOWN
    settings.S3_ENDPOINT = f"http://127.0.0.1:{free_port()}"
    assert recording.uploads_state() == DOWN


@pytest.mark.parametrize(("age_s", "state"), [(290, WORKING), (310, DEGRADED), (3590, DEGRADED), (3610, DOWN)])
def test_readings_are_late_when_one_waits(evidence_dir, stand_in, age_s, state):
    assert recording.readings_state() == WORKING
    send(make_organisation(), b"a log")
    Reading.objects.update(created_at=timezone.now() - timedelta(seconds=age_s))
    assert recording.readings_state() == state


def test_the_lab_needs_its_worker_and_polls_in_time(monkeypatch, in_state):
    monkeypatch.setattr(recording, "living_parts", lambda _: {"lab": False})
    assert recording.lab_state() == DOWN
    monkeypatch.setattr(recording, "living_parts", lambda _: {"lab": True})
    in_state(State.RUNNING, next_poll_at=timezone.now() - timedelta(seconds=110))
    assert recording.lab_state() == WORKING
    in_state(State.RUNNING, next_poll_at=timezone.now() - timedelta(seconds=130))
    assert recording.lab_state() == DEGRADED


@pytest.fixture
def parts(monkeypatch):
    """Return the state that each part is found in."""
    states = dict.fromkeys(Part, WORKING)
    monkeypatch.setattr(recording, "STATES", {part: lambda part=part: states[part] for part in Part})
    return states


def minutes(part):
    row = PartDay.objects.get(part=part)
    return row.working_minutes, row.degraded_minutes, row.down_minutes, row.last_state


def test_each_record_adds_a_minute_to_the_state(parts):
    record()
    record()  # the same minute
    assert minutes(Part.LAB) == (1, 0, 0, WORKING)
    for state in (DOWN, DEGRADED, DOWN):
        PartDay.objects.update(last_at=timezone.now() - timedelta(minutes=1))
        parts[Part.LAB] = state
        record()
    assert minutes(Part.LAB) == (1, 1, 2, DOWN)
    assert minutes(Part.PAGES) == (4, 0, 0, WORKING)


def test_rows_older_than_400_days_are_removed(parts):
    now = timezone.now()
    for days in (400, 401):
        PartDay.objects.create(part=Part.LAB, day=now.date() - timedelta(days=days), last_state=WORKING, last_at=now)
    record()
    assert PartDay.objects.filter(day__lt=now.date()).count() == 1
