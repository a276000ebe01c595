"""The share of an organisation in the reading workers."""

from contextlib import contextmanager

import pytest
from django.core.files.base import ContentFile

from results import locks
from results.ingest.fair_share import is_within_share
from results.ingest.queue import read_one, sweep
from results.intake.uploads import ArrivedFile, create_draft, store_files
from results.models import DraftFile, DraftReading, Reading
from tests.results.builders import log_bytes, make_organisation, make_user, other_session, send
from tests.results.fixtures import evidence_dir, program, stand_in

__all__ = ["evidence_dir", "program", "stand_in"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]


@pytest.fixture
def busy():
    return make_organisation("busy")


@pytest.fixture
def quiet():
    return make_organisation("quiet")


@contextmanager
def running(reading, kind=locks.READING):
    """Let another worker read a log until the end of the block."""
    type(reading).objects.filter(pk=reading.pk).update(state="reading")
    with other_session() as worker:
        worker.execute("SELECT pg_advisory_lock(%s, %s)", [kind, reading.pk])
        yield


def reading_of(submission):
    return submission.log.readings.get()


def test_an_organisation_has_all_workers_while_no_other_one_waits(busy):
    first, second = (send(busy, log_bytes(case)) for case in ("four-us", "slow-disk-ms"))
    with running(reading_of(first)):
        assert read_one(reading_of(second).pk) is True


def test_it_has_one_while_another_one_waits(busy, quiet):
    first, second = (send(busy, log_bytes(case)) for case in ("four-us", "slow-disk-ms"))
    waiting = send(quiet, log_bytes("four-us"))
    with running(reading_of(first)):
        assert read_one(reading_of(second).pk) is False
        assert (reading_of(second).state, reading_of(second).attempts) == ("pending", 0)
        assert read_one(reading_of(waiting).pk) is True
        assert read_one(reading_of(second).pk) is True


def test_the_readings_of_drafts_count(busy, quiet):
    draft = create_draft(busy, make_user("vera", busy))
    content = log_bytes("slow-disk-ms")
    file = ArrivedFile(ContentFile(content), "load.log", len(content), DraftFile.Role.LOG)
    store_files(draft, [file])
    waiting = send(busy, log_bytes("four-us"))
    send(quiet, log_bytes("four-us"))
    reading = DraftReading.objects.get()
    with running(reading, locks.DRAFT_READING):
        assert read_one(reading_of(waiting).pk) is False


def test_a_reading_whose_worker_died_does_not_use_the_share(busy, quiet):
    first, second = (send(busy, log_bytes(case)) for case in ("four-us", "slow-disk-ms"))
    send(quiet, log_bytes("four-us"))
    Reading.objects.filter(pk=reading_of(first).pk).update(state="reading", attempts=1)
    assert is_within_share(reading_of(second), busy.pk)
    assert read_one(reading_of(second).pk) is True


def test_a_sweep_reads_the_logs_of_the_organisations_in_turn(busy, quiet):
    logs = [log_bytes("four-us") + b"\n" * number for number in range(3)]
    many = [send(busy, content) for content in logs]
    late = send(quiet, log_bytes("four-us"))
    sweep()
    order = Reading.objects.order_by("started_at").values_list("evidence__submission", flat=True)
    assert list(order) == [many[0].pk, late.pk, many[1].pk, many[2].pk]
