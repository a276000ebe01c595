"""Attempts that reached a limit, on the page of a submission."""

import pytest

from results.ingest.queue import sweep
from results.models import Reading
from tests.results.builders import log_bytes, send

pytestmark = pytest.mark.django_db
OUT_OF_MEMORY = 'echo "memory allocation of 8 bytes failed" >&2; kill -ABRT $$'


@pytest.fixture
def submission(evidence_dir, exemplar, vera):
    return send(exemplar, log_bytes("four-us"), vera)


@pytest.fixture
def ends_by(program):
    """Return a function that makes every reading end with the given shell command."""
    return lambda command: program(f'[ "$1" = --version ] && {{ echo drivetest 1; exit; }}; {command}')


def attempt(times=1):
    for _ in range(times):
        sweep()
        Reading.objects.update(next_attempt_at=None)


def page_of(client, submission):
    return client.get(f"/submissions/{submission.public_id}/").content.decode()


def test_an_abandoned_log_shows_its_attempts_the_limit_and_the_remedy(as_user, vera, submission, ends_by):
    ends_by(OUT_OF_MEMORY)
    attempt(3)
    page = page_of(as_user(vera), submission)
    assert (
        "The register tried 3 times to read the log; each attempt reached the limit of memory, 536870912 bytes." in page
    )
    assert "Remedy: Send the same file again and ask for longer slices" in page


def test_a_log_that_exceeded_the_limit_of_processor_time_is_not_tried_again(as_user, vera, submission, ends_by):
    ends_by("kill -XCPU $$")
    attempt(3)
    page = page_of(as_user(vera), submission)
    assert "tried once to read the log; the attempt reached the limit of time, 40 s of a processor." in page
    assert "Remedy: Send the runs of a file or archive separately" in page
    assert Reading.objects.get().attempts == 1


def test_limits_and_other_ends_have_different_messages(as_user, vera, submission, ends_by, settings):
    for command, wall_s in [(OUT_OF_MEMORY, 60), ("exec sleep 600", 1), ("exit 7", 60)]:
        settings.READ_TIMEOUT_S = wall_s
        ends_by(command)
        attempt()
    page = page_of(as_user(vera), submission)
    assert (
        "The register tried 3 times to read the log; 1 of them reached the limit of memory, 536870912 bytes; "
        "1 of them reached the limit of time" in page
    )


def test_a_log_that_waits_for_its_next_attempt_is_marked(as_user, vera, submission, ends_by):
    ends_by(OUT_OF_MEMORY)
    sweep()
    page = page_of(as_user(vera), submission)
    assert "The register tried once to read the log; the attempt reached the limit of memory" in page
    assert "The next attempt to read the log is at " in page


def test_an_output_that_is_too_long_is_not_tried_again(as_user, vera, submission, ends_by, settings):
    settings.READ_OUTPUT_BYTES = 1000
    ends_by("head -c 2000 /dev/zero; kill -XFSZ $$")
    attempt(2)
    assert "The register tried once to read the log; the attempt reached the limit of output, 1000 bytes." in page_of(
        as_user(vera), submission
    )


def test_attempts_without_a_limit_are_marked(as_user, vera, submission, ends_by):
    ends_by("exit 7")
    attempt(3)
    assert "The register tried 3 times to read the log; no attempt reached a limit." in page_of(
        as_user(vera), submission
    )


def test_a_file_that_is_not_a_log_shows_no_attempts(as_user, vera, exemplar, evidence_dir, stand_in):
    unreadable = send(exemplar, b"no log", vera)
    sweep()
    assert "Tried" not in page_of(as_user(vera), unreadable)
