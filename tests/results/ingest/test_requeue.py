import io
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from results.ingest.queue import sweep
from results.intake.submissions import accept_submission
from results.models import Event, Reading
from tests.results.builders import FACTS, log_bytes, make_organisation, send

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


OTHER_SLICES = replace(FACTS, slice_length_s=20, model="EX5", over_provisioning_pct=Decimal("7.00"))


def test_the_same_bytes_in_other_slices_are_read_again_with_the_facts_as_stated_now(failed, stand_in):
    again = accept_submission(failed.organisation, io.BytesIO(log_bytes("four-us")), "b.log", OTHER_SLICES, "api", None)
    assert (again.is_new, again.is_read_again, again.submission) == (False, True, failed)
    sweep()
    failed.refresh_from_db()
    assert (failed.slice_length_s, failed.model, failed.log.readings.get().state) == (20, "EX5", "done")
    details = Event.objects.get(kind="reading-queued-again").details
    assert details["facts"] == {
        "slice_length_s": ["10", "20"], "model": ["EX4", "EX5"], "over_provisioning_pct": ["None", "7.00"],
    }  # fmt: skip


def test_the_same_bytes_in_the_same_slices_stay_failed(failed):
    again = accept_submission(
        failed.organisation, io.BytesIO(log_bytes("four-us")), "b.log", replace(FACTS, model="EX5"), "api", None
    )
    failed.refresh_from_db()
    assert (again.is_read_again, failed.model, failed.log.readings.get().state) == (False, "EX4", "failed")


def test_what_was_read_keeps_its_facts_whatever_slices_are_asked_for(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("four-us"))
    for expected in ("pending", "done"):
        assert submission.log.readings.get().state == expected
        again = send(submission.organisation, log_bytes("four-us"), facts=OTHER_SLICES)
        assert (again.slice_length_s, again.model) == (10, "EX4")
        sweep()


def test_only_what_has_failed_is_read_again(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("four-us"))
    for _ in range(2):
        with pytest.raises(CommandError, match="expected a reading that failed"):
            call_command("read_again", submission.public_id)
        sweep()
    with pytest.raises(CommandError, match="expected the id of a submission"):
        call_command("read_again", "s-nothing")
    assert not Event.objects.filter(kind="reading-queued-again").exists()
