import io
import threading

import pytest
from django.db import connection

from results.evidence.store import TooLargeError
from results.ingest.queue import reading_pending
from results.intake.submissions import accept_submission, clean_filename
from results.models import Event, Evidence, Reading, Submission
from tests.results.builders import FACTS, make_organisation, make_user, send, sha256

pytestmark = pytest.mark.django_db


def test_a_log_becomes_evidence_submission_reading_and_event(evidence_dir):
    vendor = make_organisation()
    user = make_user("vera", vendor)
    submission = send(vendor, b"log", user)

    assert (submission.log.sha256, submission.log.size_bytes) == (sha256(b"log"), 3)
    assert (submission.vendor, submission.model, submission.slice_length_s) == ("Exemplar", "EX4", 10)
    assert submission.log.readings.get().state == Reading.State.PENDING
    event = Event.objects.get()
    assert (event.kind, event.subject_id, event.actor) == ("submission-received", submission.public_id, user)


def test_the_same_bytes_of_one_organisation_are_one_submission(evidence_dir):
    vendor = make_organisation()
    first = accept_submission(vendor, io.BytesIO(b"log"), "a.log", FACTS, "form", None)
    again = accept_submission(vendor, io.BytesIO(b"log"), "b.log", FACTS, "api", None)

    assert (first.is_new, again.is_new) == (True, False)
    assert again.submission == first.submission
    assert (Reading.objects.count(), Event.objects.count()) == (1, 1)


def test_the_same_bytes_of_another_organisation_are_another_submission(evidence_dir):
    assert send(make_organisation("one"), b"log") != send(make_organisation("two"), b"log")
    assert Evidence.objects.count() == 2


def test_a_side_file_is_separate_evidence(evidence_dir):
    submission = accept_submission(
        make_organisation(), io.BytesIO(b"log"), "load.log", FACTS, "dispatch", None, io.BytesIO(b"{}")
    ).submission
    assert submission.side_file
    assert submission.side_file.sha256 == sha256(b"{}")
    assert Reading.objects.get().evidence == submission.log


def test_bytes_first_sent_as_a_side_file_can_be_sent_as_a_log(evidence_dir):
    vendor = make_organisation()
    accept_submission(vendor, io.BytesIO(b"log"), "load.log", FACTS, "dispatch", None, io.BytesIO(b"{}"))
    assert send(vendor, b"{}").log.readings.count() == 1


def test_bytes_that_cannot_be_stored_leave_no_row(evidence_dir, settings):
    settings.UPLOAD_MAX_BYTES = 2
    with pytest.raises(TooLargeError):
        send(make_organisation(), b"log")
    assert Evidence.objects.count() == Submission.objects.count() == 0


@pytest.fixture
def listen():
    """Connect a signal receiver for the duration of the test."""
    connected = []

    def connect(receiver):
        reading_pending.connect(receiver)
        connected.append(receiver)

    yield connect
    for receiver in connected:
        reading_pending.disconnect(receiver)


def test_the_reading_is_enqueued_after_commit_for_new_bytes_only(
    evidence_dir, django_capture_on_commit_callbacks, listen
):
    enqueued = []
    listen(lambda reading_id, **_: enqueued.append(reading_id))
    vendor = make_organisation()
    with django_capture_on_commit_callbacks(execute=True):
        send(vendor, b"log")
        assert enqueued == []
    with django_capture_on_commit_callbacks(execute=True):
        send(vendor, b"log")
    assert enqueued == [Reading.objects.get().pk]


def test_a_failed_enqueue_is_logged_and_loses_nothing(evidence_dir, django_capture_on_commit_callbacks, caplog, listen):
    def fail(**_):
        raise ConnectionError("no broker")

    listen(fail)
    with django_capture_on_commit_callbacks(execute=True):
        send(make_organisation(), b"log")
    assert Reading.objects.unfinished().count() == 1
    assert "no broker" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_concurrent_posts_make_one_submission(evidence_dir):
    vendor, found, together = make_organisation(), [], threading.Barrier(6)

    def post():
        together.wait()
        found.append(send(vendor, b"log").pk)
        connection.close()

    threads = [threading.Thread(target=post) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1
    assert Reading.objects.count() == Event.objects.count() == 1


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("load.log", "load.log"),
        ("C:\\logs\\load.log", "load.log"),
        ("../../etc/passwd", "passwd"),
        ("a\x00b\n.log", "ab.log"),
        ("", "log"),
        ("x" * 300, "x" * 255),
    ],
)
def test_only_a_printable_file_name_is_stored(sent, stored):
    assert clean_filename(sent) == stored
