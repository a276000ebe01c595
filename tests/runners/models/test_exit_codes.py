"""The causes of an end: the codes of current hosts, and the only code that reads texts of drivetest 0.2."""

import pytest

from runners.models.exit_codes import EndCause, end_cause_of, end_message

UNSEEN = "nobody was left to see the end: the program and its monitor were killed, or the host was rebooted"
ENDED = {"state": "ended", "exit_status": None, "reason": ""}


@pytest.mark.parametrize(
    ("document", "cause"),
    [
        ({"state": "running", "end_cause": None}, None),
        ({"state": "absent"}, None),
        ({"end_cause": "signal", "reason": "any text"}, EndCause.SIGNAL),
        ({"end_cause": "exited", "exit_status": 0}, EndCause.EXITED),
        ({"end_cause": "of a later release"}, EndCause.OTHER),
        ({"exit_status": 3}, EndCause.EXITED),
        ({"reason": "ended by signal 9"}, EndCause.SIGNAL),
        ({"reason": UNSEEN}, EndCause.UNOBSERVED),
        ({"reason": "stopped before it was started"}, EndCause.STOPPED_BEFORE_START),
        ({"reason": "something else"}, EndCause.OTHER),
    ],
)
def test_the_cause_of_an_end_is_a_code_for_hosts_of_both_releases(document, cause):
    assert end_cause_of(ENDED | document) is cause


def test_an_unknown_text_is_shown_as_stored():
    assert end_message(None, EndCause.OTHER, "it says so") == (
        "the program ended unobserved: the cause is not known: it says so"
    )
    unobserved = "the drive telemetry ended unobserved: the cause is not known"
    assert end_message(None, EndCause.UNOBSERVED, UNSEEN, subject="the drive telemetry") == unobserved
    assert end_message(None, EndCause.SIGNAL, "ended by signal 9") == "the program was ended by signal 9"
