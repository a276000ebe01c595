import pytest
from django.core.management import CommandError, call_command

from results.models import Event, Reading
from results.readings import sweep
from tests.results.builders import log_bytes, make_organisation, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def failed(evidence_dir, program, settings):
    """A good log that a broken reader was given up at."""
    settings.READ_MAX_ATTEMPTS = 1
    submission = send(make_organisation(), log_bytes("four-us"))
    program('[ "$1" = --version ] && echo drivetest 1 || exit 7')
    sweep()
    assert submission.log.readings.get().state == "failed"
    return submission


def test_a_failed_reading_is_read_again_with_all_its_attempts(failed, stand_in):
    call_command("read_again", failed.public_id)
    reading = Reading.objects.get()
    assert (reading.state, reading.counted_attempts, reading.error) == ("pending", 0, None)
    sweep()
    reading.refresh_from_db()
    assert (reading.state, reading.attempts, failed.runs.count()) == ("done", 2, 1)


def test_reading_again_is_told_as_an_event(failed):
    call_command("read_again", failed.public_id)
    event = Event.objects.get(kind="reading-queued-again")
    assert (event.subject_id, event.details["error"]) == (failed.public_id, "reader-gave-up")


def test_only_what_has_failed_is_read_again(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("four-us"))
    for _ in range(2):
        with pytest.raises(CommandError, match="expected a reading that failed"):
            call_command("read_again", submission.public_id)
        sweep()
    with pytest.raises(CommandError, match="expected the id of a submission"):
        call_command("read_again", "s-nothing")
    assert not Event.objects.filter(kind="reading-queued-again").exists()
