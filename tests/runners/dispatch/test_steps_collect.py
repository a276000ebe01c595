"""The reasons of runs that ended."""

import pytest

from runners.dispatch.steps import _end_reason
from runners.hosts.protocol import ProgramState, ProgramStatus
from runners.lifecycle.stages import end_message
from runners.models.exit_codes import EndCause
from runners.models.states import State

WARNED = b"drivetest: warning: irqbalance does not run, so interrupts may stay on one core (irqbalance)\n"


def ended_by(cause, reason):
    return ProgramStatus(ProgramState.ENDED, end_cause=EndCause(cause), reason=reason)


UNSEEN = ended_by("unobserved", "any text of a newer drivetest")


@pytest.fixture
def ended(in_state, fake):
    """Return a run that left no exit status, under the first start of its host."""
    dispatch = in_state(State.RUNNING, boot_ids=["first start"])
    fake.put(dispatch.public_id, {"stderr": WARNED})
    return dispatch


@pytest.mark.parametrize(
    ("known", "now", "cause"),
    [
        (["first start"], "first start", "the cause is not known; the host was not restarted"),
        (["first start"], "second start", "the host was restarted"),
        (["of the drive's host", "first start"], "first start", "the host was restarted"),
        ([], "first start", "the cause is not known"),
    ],
)
def test_an_unobserved_end_names_its_cause_by_the_boots_of_the_host(ended, fake, known, now, cause):
    ended.boot_ids, fake.boot_id = known, now
    assert end_message(ended, fake, UNSEEN) == f"the program ended unobserved: {cause}"


def test_a_signal_that_ended_a_program_is_named(ended, fake):
    assert end_message(ended, fake, ended_by("signal", "ended by signal 11")) == "the program was ended by signal 11"


def test_the_last_message_of_a_program_is_shown_as_such_and_not_as_the_cause(ended, fake):
    fake.put(ended.public_id, {"stderr": b"assertion failed\n" + WARNED})
    assert end_message(ended, fake, UNSEEN).endswith(
        "; the host was not restarted; the last message of the program: assertion failed"
    )


def test_the_collection_requests_the_signal_from_the_host(ended, fake):
    fake.start(ended.public_id, ended.drive_key, 1, [])
    fake.end(ended.public_id, None, reason="ended by signal 9")
    assert _end_reason(ended, fake) == "the program was ended by signal 9"
