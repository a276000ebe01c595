"""Batches of due dispatches, and the polls of a host that does not answer."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from runners.dispatch import poll_scheduler
from runners.dispatch.failures import schedule_retry
from runners.dispatch.orders import cancel
from runners.dispatch.poll_period import run_period_s
from runners.dispatch.poll_scheduler import run_due, take_due_batches
from runners.models import Dispatch, Host
from runners.models.states import FINAL, State
from runners.tasks import advance_dispatch
from tests.runners.lab import add_outage
from tests.runners.threads import in_threads

pytestmark = pytest.mark.django_db


def batch_pks(is_silent=False, limit=10, busy=frozenset()):
    return [pk for batch in take_due_batches(is_silent, limit, 0, busy) for pk in batch.dispatch_ids]


def test_an_order_is_due_at_once_and_then_after_a_period(dispatch, settings):
    settings.WATCH_PERIOD_S = 3600
    assert batch_pks() == [dispatch.pk]
    assert batch_pks() == []
    Dispatch.objects.update(next_poll_at=timezone.now() - timedelta(seconds=1))
    assert batch_pks() == [dispatch.pk]


@pytest.mark.parametrize(("polls_per_s", "period_s"), [(2, 2), (1, 3)])
def test_running_programs_are_polled_less_often_if_they_are_many(new_dispatch, settings, polls_per_s, period_s):
    settings.WATCH_PERIOD_S, settings.RUN_POLLS_PER_S = 2, polls_per_s
    for number in range(3):
        Dispatch.objects.filter(pk=new_dispatch().pk).update(state=State.RUNNING, drive_key=f"loop:1:{number}0")
    new_dispatch()
    assert run_period_s() == period_s


@pytest.mark.parametrize(("period_s", "waits_s"), [(1, 1.5), (60, 59.5)])
def test_only_programs_that_go_on_wait_longer_for_their_next_poll(new_dispatch, settings, period_s, waits_s):
    settings.WATCH_PERIOD_S = 2
    running, queued, cancelled, overdue = (new_dispatch() for _ in range(4))
    changed = {
        running: {},
        cancelled: {"cancel_requested_at": timezone.now()},
        overdue: {"end_requested_at": timezone.now()},
    }
    for dispatch, columns in changed.items():
        key = f"loop:2:{dispatch.pk}"
        Dispatch.objects.filter(pk=dispatch.pk).update(state=State.RUNNING, drive_key=key, **columns)
    before = database_now()
    take_due_batches(is_silent=False, limit=10, running_period_s=period_s)
    after = database_now()
    for dispatch, expected_s in ((running, waits_s), (queued, 1.5), (cancelled, 1.5), (overdue, 1.5)):
        dispatch.refresh_from_db()
        assert before <= dispatch.next_poll_at - timedelta(seconds=expected_s) <= after


def test_a_batch_is_bounded_and_takes_the_longest_due_first(new_dispatch):
    old, new = new_dispatch(), new_dispatch()
    Dispatch.objects.filter(pk=new.pk).update(next_poll_at=timezone.now() - timedelta(seconds=5))
    assert batch_pks(limit=1) == [new.pk]
    assert batch_pks(limit=1) == [old.pk]


@pytest.mark.parametrize(("due_in_s", "is_begun"), [(0, True), (60, False)])
def test_a_message_about_an_order_begins_a_round_unless_it_was_polled_since(dispatch, monkeypatch, due_in_s, is_begun):
    rounds = []
    monkeypatch.setattr(poll_scheduler, "run_due", rounds.append)
    Dispatch.objects.update(next_poll_at=Now() + timedelta(seconds=due_in_s))
    advance_dispatch(dispatch.pk)
    assert len(rounds) == is_begun


def test_a_round_looks_for_due_rows_although_the_one_before_has_just_found_none(monkeypatch):
    taken = []
    monkeypatch.setattr(poll_scheduler, "take_due_batches", lambda is_silent, *_: taken.append(is_silent) or [])
    run_due()
    run_due()
    assert taken == [False, True] * 2


@pytest.mark.parametrize(("late_s", "is_first"), [(9, False), (11, True)])
@pytest.mark.parametrize(
    "urgent",
    [
        {},
        {"state": State.RUNNING, "cancel_requested_at": timezone.now()},
        {"state": State.RUNNING, "end_requested_at": timezone.now()},
    ],
)
def test_orders_and_cancellations_pass_running_programs_that_are_little_late(new_dispatch, urgent, late_s, is_first):
    running, other = new_dispatch(), new_dispatch()
    now = timezone.now()
    late = {"state": State.RUNNING, "drive_key": "loop:1:1", "next_poll_at": now - timedelta(seconds=late_s)}
    Dispatch.objects.filter(pk=running.pk).update(**late)
    Dispatch.objects.filter(pk=other.pk).update(next_poll_at=now, drive_key="loop:1:2", **urgent)
    assert batch_pks(limit=1) == [running.pk if is_first else other.pk]
    assert batch_pks(limit=1) == [other.pk if is_first else running.pk]


def test_an_order_that_waits_for_its_drive_passes_nothing(new_dispatch):
    running, waiting = new_dispatch(), new_dispatch()
    now = timezone.now()
    late = now - timedelta(seconds=1)
    Dispatch.objects.filter(pk=running.pk).update(state=State.RUNNING, drive_key="loop:1:1", next_poll_at=late)
    Dispatch.objects.filter(pk=waiting.pk).update(waits_for="drive", next_poll_at=now)
    assert batch_pks(limit=1) == [running.pk]


@pytest.mark.parametrize("state", sorted(FINAL))
def test_a_dispatch_that_has_ended_is_never_due(in_state, state):
    in_state(state)
    assert batch_pks() == []


def test_a_lost_dispatch_is_due_once_it_is_cancelled(in_state, staff):
    lost = in_state(State.LOST)
    assert batch_pks() == []
    cancel(lost, staff)
    assert batch_pks() == [lost.pk]


def test_silent_hosts_and_others_are_taken_separately(in_state):
    silent = in_state(State.RUNNING, silent_since=timezone.now())
    assert batch_pks(is_silent=False) == []
    assert batch_pks(is_silent=True) == [silent.pk]


def test_all_dispatches_of_a_host_with_an_open_outage_are_taken_with_the_silent_ones(new_dispatch):
    first, second = new_dispatch(), new_dispatch()
    Dispatch.objects.filter(pk=first.pk).update(state=State.RUNNING, silent_since=timezone.now())
    add_outage(first, timezone.now(), None)
    assert batch_pks(is_silent=False) == []
    assert batch_pks(is_silent=True) == [first.pk, second.pk]


def test_a_host_that_is_being_polled_is_left_out(dispatch):
    assert batch_pks(busy=frozenset([dispatch.device.host_id])) == []


@pytest.mark.parametrize("has_two_hosts", [False, True])
@pytest.mark.parametrize(("ended_at", "is_open"), [(None, True), (timezone.now(), False)])
def test_a_batch_has_whether_an_outage_of_its_hosts_is_open(in_state, settings, has_two_hosts, ended_at, is_open):
    settings.WATCH_PERIOD_S = 0
    load = Host.objects.create(name="sender", kind="local", machine_id="of-another")
    dispatch = in_state(State.RUNNING, load_host=load if has_two_hosts else None)
    (batch,) = take_due_batches(is_silent=False, limit=1, running_period_s=0)
    assert not batch.has_open_outage
    add_outage(dispatch, timezone.now(), ended_at, host=dispatch.load_host)
    (batch,) = take_due_batches(is_silent=is_open, limit=1, running_period_s=0)
    assert batch.has_open_outage is is_open


def test_the_host_of_another_machine_is_left_to_its_workers(dispatch):
    Host.objects.update(machine_id="of-another")
    assert batch_pks() == []


def test_the_live_dispatches_of_a_host_come_before_the_queued(new_dispatch):
    queued, live = new_dispatch(), new_dispatch()
    Dispatch.objects.filter(pk=live.pk).update(state=State.RUNNING)
    assert batch_pks() == [live.pk, queued.pk]


@pytest.mark.parametrize(("silent_s", "waits_s"), [(0, 2), (10, 10), (31, 30), (880, 20), (899.9, 2), (5000, 30)])
def test_a_silent_host_is_polled_less_often_the_longer_it_is_silent(in_state, frozen_clock, silent_s, waits_s):
    dispatch = in_state(State.RUNNING, silent_since=frozen_clock - timedelta(seconds=silent_s))
    before = database_now()
    schedule_retry(dispatch)
    after = database_now()
    dispatch.refresh_from_db()
    assert before <= dispatch.next_poll_at - timedelta(seconds=waits_s) <= after


def database_now():
    """Return the time of the database, which schedules polls."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        return cursor.fetchone()[0]


def test_a_cancel_that_came_during_a_poll_is_not_rescheduled(in_state, staff):
    dispatch = in_state(State.RUNNING)
    cancel(dispatch, staff)  # the poll that waits has read the row before
    schedule_retry(dispatch)
    assert batch_pks(is_silent=True) == [dispatch.pk]


@pytest.mark.django_db(transaction=True)
def test_workers_that_take_batches_at_the_same_time_share_the_dispatches(new_dispatch):
    ours = new_dispatch()
    theirs = new_dispatch()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT FROM runners_dispatch WHERE id = %s FOR UPDATE", [ours.pk])
        assert in_threads(lambda _: batch_pks(), [0]) == [[theirs.pk]]
