import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from runners.lifecycle.transitions import transition, update_reason
from runners.models import Dispatch, Step
from runners.models.states import FINAL, TRANSITIONS, State

pytestmark = pytest.mark.django_db

ALLOWED = [(start, end) for start, ends in TRANSITIONS.items() for end in sorted(ends)]
FORBIDDEN = [(start, end) for start in State for end in State if end not in TRANSITIONS[start]]


@pytest.mark.parametrize(("start", "end"), ALLOWED)
def test_a_transition_of_the_table_is_made_with_its_step(in_state, start, end):
    dispatch = in_state(start)
    assert transition(dispatch, start, end, "because")
    step = dispatch.steps.get()
    assert (dispatch.state, step.from_state, step.to_state, step.reason) == (end, start, end, "because")


@pytest.mark.parametrize(("start", "end"), FORBIDDEN)
def test_a_transition_that_the_table_lacks_is_a_bug(in_state, start, end):
    dispatch = in_state(start)
    with pytest.raises(ValueError, match="not in the table"):
        transition(dispatch, start, end, "because")
    assert not Step.objects.exists()


def test_every_state_reaches_a_final_one():
    reached = set(FINAL)
    while grown := {state for state in State if state not in reached and TRANSITIONS[state] & reached}:
        reached |= grown
    assert reached == set(State)


def test_a_transition_from_another_state_changes_nothing(in_state):
    dispatch = in_state(State.RUNNING)
    assert not transition(dispatch, State.PREPARING, State.RUNNING, "")
    assert not Step.objects.exists()
    assert dispatch.state == State.RUNNING


@pytest.mark.parametrize("end", sorted(TRANSITIONS[State.RUNNING] & FINAL))
def test_an_end_needs_a_reason(in_state, end):
    with pytest.raises(ValueError, match="reason"):
        transition(in_state(State.RUNNING), State.RUNNING, end, "")


@pytest.mark.parametrize(("end", "is_known"), [(State.FAILED, True), (State.LOST, False)])
def test_only_a_dispatch_that_was_seen_to_end_has_an_end(in_state, end, is_known):
    dispatch = in_state(State.RUNNING)
    transition(dispatch, State.RUNNING, end, "because")
    assert (dispatch.ended_at is not None) is is_known


@pytest.mark.parametrize("end", sorted(TRANSITIONS[State.QUEUED] & FINAL | TRANSITIONS[State.RUNNING] & FINAL))
def test_an_end_locks_the_drive_before_it_changes_any_row(in_state, end):
    """Two dispatches that end at once on one drive update each other's rows. Without the lock they would deadlock."""
    start = State.QUEUED if end in TRANSITIONS[State.QUEUED] else State.RUNNING
    dispatch = in_state(start)
    with CaptureQueriesContext(connection) as queries:
        transition(dispatch, start, end, "because")
    statements = [query["sql"] for query in queries]
    (locked,) = [at for at, sql in enumerate(statements) if "pg_advisory_xact_lock" in sql]
    assert locked < min(at for at, sql in enumerate(statements) if sql.startswith("UPDATE"))


def test_the_reason_of_a_dispatch_that_has_ended_is_not_updated(in_state):
    dispatch = in_state(State.RUNNING)
    Dispatch.objects.filter(pk=dispatch.pk).update(state=State.DONE, reason="finished")
    update_reason(dispatch, "late")
    dispatch.refresh_from_db()
    assert dispatch.reason == "finished"


@pytest.mark.parametrize("change", [lambda steps: steps.update(reason="other"), lambda steps: steps.delete()])
def test_the_database_refuses_to_change_a_step(in_state, change):
    dispatch = in_state(State.CLAIMED)
    transition(dispatch, State.CLAIMED, State.PREPARING, "")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change(dispatch.steps.all())


def test_a_reason_with_characters_that_a_column_refuses_is_stored(in_state):
    dispatch = in_state(State.RUNNING)
    update_reason(dispatch, "a\0b")
    assert dispatch.reason == "a\ufffdb"
    assert transition(dispatch, State.RUNNING, State.FAILED, "c\0d\udcff")
    assert dispatch.reason == "c\ufffdd\ufffd"
