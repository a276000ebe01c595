import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.lifecycle import visibility
from results.models import Event, Run, Submission, Visibility
from tests.results.builders import log_bytes, make_organisation, make_user, send
from tests.results.rows import from_a_log, make_product, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def product(db):
    return make_product()


def run_in(state, product):
    """Return a run in a state, with a successor if the state needs one."""
    successor = make_run(product) if state == "superseded" else None
    return make_run(product, visibility=state, superseded_by=successor)


def make_move(name, run, actor):
    if name == "publish":
        visibility.publish(run, actor)
    elif name == "embargo":
        Run.objects.filter(pk=run.pk).update(submission=from_a_log()["submission"])
        Submission.objects.update(embargo_until=timezone.now() + timedelta(days=1))
        visibility.publish(run, actor)
    elif name == "disclose":
        visibility.disclose(run)
    elif name == "supersede":
        visibility.supersede(run, make_run(run.product), actor, "a longer run")
    else:
        getattr(visibility, name)(run, actor, "because")


@pytest.mark.parametrize("state", Visibility.values)
@pytest.mark.parametrize("name", visibility.TRANSITIONS)
def test_a_transition_is_allowed_only_from_its_states(name, state, product, rita):
    run, move = run_in(state, product), visibility.TRANSITIONS[name]
    if state in move.before:
        make_move(name, run, rita)
        run.refresh_from_db()
        assert run.visibility in move.after
        event = Event.objects.get(subject_id=run.public_id)
        actor = None if name == "disclose" else rita
        assert (event.kind, event.actor, event.details["before"]) == (move.event_kind, actor, state)
        assert event.details["after"] == run.visibility
    else:
        with pytest.raises(ReviewRefusedError, match=f"is {state}; only"):
            make_move(name, run, rita)
        assert not Event.objects.filter(subject_id=run.public_id).exists()


def test_every_transition_can_be_reversed_and_no_state_is_final():
    table = visibility.TRANSITIONS | visibility.SENDER_TRANSITIONS | visibility.TAKEDOWN_TRANSITIONS
    ways = {(before, after) for move in table.values() for before in move.before for after in move.after}
    public = {way for way in ways if not {"unreviewed", "embargoed"} & set(way)}
    assert all((after, before) in public for before, after in public)
    assert {before for before, _ in ways} == set(Visibility.values)


def test_a_withdrawn_superseded_run_is_restored_as_superseded(product, rita):
    run, successor = make_run(product), make_run(product)
    visibility.supersede(run, successor, rita, "a longer run")
    visibility.withdraw(run, rita, "wrong firmware")
    visibility.reinstate(run, rita, "it was the right one")
    run.refresh_from_db()
    assert (run.visibility, run.superseded_by) == ("superseded", successor)
    visibility.unsupersede(run, rita, "both count")
    run.refresh_from_db()
    assert (run.visibility, run.superseded_by) == ("public", None)


def test_a_run_links_to_its_successor_and_back(product, rita):
    run, successor = make_run(product), make_run(product)
    visibility.supersede(run, successor, rita, "a longer run")
    run.refresh_from_db()
    assert run.superseded_by == successor
    assert list(successor.supersedes.all()) == [run]


@pytest.mark.parametrize("state", ["unreviewed", "embargoed", "withdrawn"])
def test_only_a_public_run_supersedes(product, rita, state):
    with pytest.raises(ReviewRefusedError, match=f"is {state}; only a public run"):
        visibility.supersede(make_run(product), make_run(product, visibility=state), rita, "newer")


def test_no_run_supersedes_itself_or_one_of_another_product(product, rita):
    run = make_run(product)
    with pytest.raises(ReviewRefusedError, match="itself"):
        visibility.supersede(run, run, rita, "newer")
    with pytest.raises(ReviewRefusedError, match="another product"):
        visibility.supersede(run, make_run(make_product(model="Other")), rita, "newer")


@pytest.mark.parametrize("name", ["withdraw", "reinstate", "unsupersede", "recall"])
def test_a_transition_needs_a_reason(name, product, rita):
    run = run_in(next(iter(visibility.TRANSITIONS[name].before)), product)
    with pytest.raises(ReviewRefusedError, match="Enter a reason"):
        getattr(visibility, name)(run, rita, " ")


@pytest.mark.parametrize(("name", "is_refused"), [("withdraw", False), ("reinstate", True), ("unsupersede", True)])
def test_a_reviewer_cannot_approve_their_own_run(evidence_dir, product, name, is_refused):
    vera = make_user("vera", make_organisation(), is_reviewer=True)
    submission = send(vera.memberships.get().organisation, log_bytes("four-us"), vera)
    run = run_in(next(iter(visibility.TRANSITIONS[name].before)), product)
    Run.objects.filter(pk=run.pk).update(submission=submission)
    run.refresh_from_db()
    assert (name in {move.name for move in visibility.allowed_transitions(run, vera)}) is not is_refused
    if is_refused:
        with pytest.raises(ReviewRefusedError, match="another reviewer"):
            getattr(visibility, name)(run, vera, "because")
    else:
        getattr(visibility, name)(run, vera, "because")


def in_threads(*tasks):
    """Start the tasks at the same time, each on its own connection; return the result of each."""
    start, ends = threading.Barrier(len(tasks)), []

    def work(task):
        start.wait()
        try:
            task()
            ends.append("done")
        except ReviewRefusedError:
            ends.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[task]) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return sorted(ends)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["publish", "withdraw", "reinstate", "unsupersede"])
def test_one_of_several_concurrent_reviewers_makes_the_transition(name):
    product, people = make_product(), [make_user(f"rita-{number}", is_reviewer=True) for number in range(6)]
    run = run_in(sorted(visibility.TRANSITIONS[name].before)[0], product)
    ends = in_threads(*[lambda actor=actor: make_move(name, run, actor) for actor in people])
    assert ends == ["done", *["refused"] * 5]
    assert Event.objects.filter(subject_id=run.public_id).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_runs_never_supersede_each_other():
    product, rita = make_product(), make_user("rita", is_reviewer=True)
    for _ in range(5):
        one, other = make_run(product), make_run(product)
        ends = in_threads(
            lambda one=one, other=other: visibility.supersede(one, other, rita, "newer"),
            lambda one=one, other=other: visibility.supersede(other, one, rita, "newer"),
        )
        assert ends == ["done", "refused"]


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_withdrawal_and_supersession_leave_one_history():
    product, rita = make_product(), make_user("rita", is_reviewer=True)
    run, successor = make_run(product), make_run(product)
    in_threads(
        lambda: visibility.withdraw(run, rita, "wrong"),
        lambda: visibility.supersede(run, successor, rita, "newer"),
    )
    run.refresh_from_db()
    steps = [
        (event.details["before"], event.details["after"]) for event in Event.objects.filter(subject_id=run.public_id)
    ]
    assert steps in ([("public", "withdrawn")], [("public", "superseded"), ("superseded", "withdrawn")])
    assert run.visibility == "withdrawn"
