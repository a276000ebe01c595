"""Tasks of the reading queue. tests/results/ingest/test_queue.py tests the readings."""

import pytest

from results.models import Reading
from results.tasks import read_evidence, sweep_readings
from tests.results.builders import log_bytes, make_organisation, send
from tests.results.fixtures import evidence_dir, no_broker, program, stand_in

__all__ = ["evidence_dir", "no_broker", "program", "stand_in"]

pytestmark = pytest.mark.django_db


def test_a_submitted_log_is_enqueued_after_commit(evidence_dir, django_capture_on_commit_callbacks, monkeypatch):
    enqueued = []
    monkeypatch.setattr(read_evidence, "apply_async", lambda **options: enqueued.append(options["args"]))
    with django_capture_on_commit_callbacks(execute=True):
        send(make_organisation(), b"log")
    assert enqueued == [(Reading.objects.get().pk,)]


def test_without_a_broker_the_log_is_stored_and_waits(
    evidence_dir, django_capture_on_commit_callbacks, no_broker, caplog
):
    with django_capture_on_commit_callbacks(execute=True):
        send(make_organisation(), b"log")
    assert Reading.objects.unfinished().count() == 1
    assert "enqueue_reading" in caplog.text


@pytest.mark.parametrize("task", [lambda reading: sweep_readings(), lambda reading: read_evidence(reading.pk)])
def test_either_task_finishes_a_reading_and_may_run_twice(evidence_dir, stand_in, task):
    submission = send(make_organisation(), log_bytes("four-us"))
    task(Reading.objects.get())
    task(Reading.objects.get())
    assert (Reading.objects.get().state, Reading.objects.get().attempts) == ("done", 1)
    assert submission.runs.count() == 1


def test_the_tasks_have_the_names_that_the_schedule_uses(settings):
    assert sweep_readings.name == settings.CELERY_BEAT_SCHEDULE["sweep-readings"]["task"]
    assert read_evidence.name == "runners.read_evidence"
