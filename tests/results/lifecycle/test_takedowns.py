import threading
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.lifecycle import takedowns, visibility
from results.lifecycle.submission_states import with_state
from results.lifecycle.takedowns import LIMIT, confirm_takedown, end_takedown, request_takedown, sweep_takedowns
from results.models import Event, Run, Submission, Takedown
from results.tasks import sweep_deadlines
from tests.results.builders import make_user
from tests.results.rows import from_a_log, judge, make_product, make_run

pytestmark = pytest.mark.django_db
GROUND = Takedown.Ground.COURT_ORDER


@pytest.fixture
def olga(db):
    return make_user("olga", is_operator=True)


@pytest.fixture
def omar(db):
    return make_user("omar", is_operator=True)


@pytest.fixture
def run(db):
    run = make_run(make_product(), **from_a_log())
    judge(run, "pass")
    return run


@pytest.fixture
def takedown(run, olga):
    return request_takedown(run, olga, GROUND)


def state_of(run):
    return Run.objects.get(pk=run.pk).visibility


def later(monkeypatch, moment):
    monkeypatch.setattr(timezone, "now", lambda: moment)


def test_a_request_withholds_the_run_at_once_with_an_event(run, takedown, olga):
    assert state_of(run) == "sequestered"
    event = Event.objects.get(kind="run-sequestered")
    assert (event.actor_id, event.subject_id, event.details["ground"]) == (olga.pk, run.public_id, "court-order")
    assert not Run.objects.public().exists()
    assert with_state(Submission.objects.all()).get().state == "sequestered"


def test_a_second_operator_confirms_and_it_no_longer_lapses(monkeypatch, run, takedown, omar):
    confirm_takedown(takedown, omar)
    later(monkeypatch, takedown.lapses_at + timedelta(days=365))
    assert sweep_takedowns() == 0
    assert state_of(run) == "sequestered"
    assert Event.objects.get(kind="run-takedown-confirmed").actor_id == omar.pk
    with pytest.raises(ReviewRefusedError, match="is confirmed already"):
        confirm_takedown(takedown, omar)


def test_the_operator_who_requested_it_cannot_confirm(takedown, olga):
    with pytest.raises(ReviewRefusedError, match="You requested"):
        confirm_takedown(takedown, olga)
    assert not Takedown.objects.filter(confirmed_at__isnull=False).exists()


def test_it_lapses_after_72_hours_and_not_before(monkeypatch, run, takedown):
    assert takedown.lapses_at - takedown.requested_at == LIMIT == timedelta(hours=72)
    later(monkeypatch, takedown.lapses_at - timedelta(microseconds=1))
    sweep_deadlines()
    assert state_of(run) == "sequestered"
    later(monkeypatch, takedown.lapses_at)
    sweep_deadlines()
    assert state_of(run) == "public"
    event = Event.objects.get(kind="run-released")
    assert (event.actor_id, event.details["end"]) == (None, "lapsed")
    assert sweep_takedowns() == 0


def reminders():
    return Event.objects.filter(kind="takedown-deadline-near")


def test_a_request_has_one_reminder_36_hours_before_it_lapses(monkeypatch, run, takedown):
    lead = timedelta(hours=36)
    later(monkeypatch, takedown.lapses_at - lead - timedelta(microseconds=1))
    sweep_deadlines()
    assert not reminders().exists()
    later(monkeypatch, takedown.lapses_at - lead)
    sweep_deadlines()
    sweep_deadlines()
    event = reminders().get()
    assert (event.subject_type, event.subject_id) == ("takedown", run.public_id)  # not in the history of the run
    assert event.details == {"party": "operator", "deadline": takedown.lapses_at.isoformat()}
    assert takedowns._handle(takedown) is False  # as a worker with an older row
    assert reminders().count() == 1
    assert state_of(run) == "sequestered"


def test_a_confirmed_request_has_no_reminder(monkeypatch, takedown, omar):
    confirm_takedown(takedown, omar)
    later(monkeypatch, takedown.lapses_at - timedelta(hours=1))
    sweep_deadlines()
    assert not reminders().exists()


def test_a_limit_that_passed_unseen_has_no_reminder_after_it(monkeypatch, takedown):
    later(monkeypatch, takedown.lapses_at)
    assert sweep_takedowns() == 1
    assert not reminders().exists()


def test_it_can_be_confirmed_until_it_lapses(monkeypatch, takedown, omar):
    later(monkeypatch, takedown.lapses_at)
    with pytest.raises(ReviewRefusedError, match="lapsed on"):
        confirm_takedown(takedown, omar)
    later(monkeypatch, takedown.lapses_at - timedelta(microseconds=1))
    confirm_takedown(takedown, omar)


def test_only_another_operator_repeats_a_lapsed_request(monkeypatch, run, takedown, olga, omar):
    later(monkeypatch, takedown.lapses_at)
    sweep_takedowns()
    with pytest.raises(ReviewRefusedError, match=r"Your request for .* lapsed before"):
        request_takedown(run, olga, GROUND)
    assert state_of(run) == "public"
    request_takedown(run, omar, GROUND)
    assert state_of(run) == "sequestered"


@pytest.mark.parametrize("before", ["public", "superseded", "withdrawn"])
def test_an_ended_takedown_returns_the_run_to_its_state_before(run, olga, before):
    if before == "superseded":
        run = make_run(run.product, visibility=before, superseded_by=run, **from_a_log())
    Run.objects.filter(pk=run.pk).update(visibility=before)
    takedown = request_takedown(run, olga, GROUND)
    end_takedown(takedown, olga, "The court lifted its order.")
    assert state_of(run) == before
    assert Event.objects.get(kind="run-released").reason == "The court lifted its order."
    with pytest.raises(ReviewRefusedError, match="has ended"):
        end_takedown(takedown, olga, "again")


@pytest.mark.django_db(transaction=True)
def test_a_run_that_two_reviewers_published_returns_with_their_approvals(settings, olga):
    settings.REVIEWS_NEEDED = 2
    run = make_run(
        make_product(), visibility="unreviewed", tier="vendor-reported", predates_approvals=False, **from_a_log()
    )
    judge(run, "pass")
    for name in ("rita", "rolf"):
        visibility.publish(run, make_user(name, is_reviewer=True))
    end_takedown(request_takedown(run, olga, GROUND), olga, "Settled.")
    assert state_of(run) == "public"


@pytest.mark.parametrize("before", ["unreviewed", "retracted"])
def test_a_run_that_is_not_public_cannot_be_taken_down(run, olga, before):
    Run.objects.filter(pk=run.pk).update(visibility=before)
    with pytest.raises(ReviewRefusedError, match="only a run that is public or superseded or withdrawn"):
        request_takedown(run, olga, GROUND)


def test_no_reviewer_changes_a_run_that_is_withheld(run, takedown):
    with pytest.raises(ReviewRefusedError, match="is sequestered"):
        visibility.reinstate(run, make_user("rita", is_reviewer=True), "It is right.")


def test_the_command_requests_a_takedown(capsys, run, olga):
    call_command("sequester", run.public_id, operator="olga", ground="legal-claim", note="Case 471")
    assert "is withheld" in capsys.readouterr().out
    takedown = Takedown.objects.get()
    assert (takedown.requested_by_id, takedown.ground, takedown.note) == (olga.pk, "legal-claim", "Case 471")
    with pytest.raises(CommandError, match="is sequestered"):
        call_command("sequester", run.public_id, operator="olga", ground="legal-claim")


def test_the_command_needs_an_operator_and_a_run(run, olga):
    make_user("rita", is_reviewer=True)
    with pytest.raises(CommandError, match="username of an operator, got rita"):
        call_command("sequester", run.public_id, operator="rita", ground="legal-claim")
    with pytest.raises(CommandError, match="public id of a run, got none"):
        call_command("sequester", "none", operator="olga", ground="legal-claim")


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_at_once_one_wins(run, olga, omar):
    barrier, refused = threading.Barrier(2), []

    def request(user):
        try:
            barrier.wait()
            request_takedown(run, user, GROUND)
        except ReviewRefusedError as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=request, args=[user]) for user in (olga, omar)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Takedown.objects.count() == 1
    assert len(refused) == 1
