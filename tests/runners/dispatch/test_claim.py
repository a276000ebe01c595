import threading

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from runners.dispatch.claim import claim
from runners.dispatch.orders import cancel, declare_ended
from runners.dispatch.steps import advance
from runners.models import Dispatch
from runners.models.dispatch_rows import lock_dispatch
from runners.models.postgres import lock_drive
from runners.models.states import LIVE, State
from tests.runners.lab import poll, poll_all
from tests.runners.threads import in_threads, wait_for_blocked_session

THREADS = 8


@pytest.mark.django_db
def test_a_claim_takes_the_next_generation_of_the_drive(new_dispatch, connect):
    generations = []
    for _ in range(3):
        dispatch = new_dispatch()
        assert claim(dispatch, connect)
        generations.append(dispatch.generation)
        Dispatch.objects.filter(pk=dispatch.pk).update(state=State.DONE)
    assert generations == [1, 2, 3]


@pytest.mark.django_db
def test_generations_are_counted_per_drive(new_dispatch, other_drive, connect):
    claim(new_dispatch(), connect)
    other = new_dispatch()
    Dispatch.objects.filter(pk=other.pk).update(device=other_drive, drive_key=other_drive.drive_key)
    other.refresh_from_db()
    assert claim(other, connect)
    assert other.generation == 1


@pytest.mark.django_db
@pytest.mark.parametrize("state", sorted(LIVE))
def test_a_busy_drive_leaves_the_second_queued_with_the_reason(in_state, new_dispatch, connect, state):
    first, second = in_state(state), new_dispatch()
    assert not claim(second, connect)
    second.refresh_from_db()
    assert (second.state, second.generation) == (State.QUEUED, 0)
    assert second.reason.startswith(f"{first.public_id} uses the drive; ")


@pytest.mark.django_db
@pytest.mark.parametrize("state", sorted(LIVE))
def test_the_database_refuses_a_second_live_dispatch_of_any_client(in_state, new_dispatch, state):
    in_state(State.RUNNING)
    with pytest.raises(IntegrityError, match="one_live_dispatch_per_drive"), transaction.atomic():
        Dispatch.objects.filter(pk=new_dispatch().pk).update(state=state)


@pytest.mark.django_db
def test_a_dispatch_that_is_no_longer_queued_is_not_claimed(in_state, connect):
    assert not claim(in_state(State.CANCELLED), connect)


@pytest.fixture
def on_other_drive(new_dispatch, other_drive):
    """Queue a dispatch on another drive of the same host."""

    def queue(**options):
        dispatch = new_dispatch()
        columns = {"device": other_drive, "drive_key": other_drive.drive_key, "options": options}
        Dispatch.objects.filter(pk=dispatch.pk).update(**columns)
        return Dispatch.objects.select_related("device__host", "load_host").get(pk=dispatch.pk)

    return queue


@pytest.mark.django_db
@pytest.mark.parametrize("state", sorted(LIVE))
@pytest.mark.parametrize(("first_options", "options"), [({"alone_on_host": True}, {}), ({}, {"alone_on_host": True})])
def test_a_load_that_is_alone_on_its_host_and_another_one_wait_for_each_other(
    in_state, on_other_drive, connect, state, first_options, options
):
    first, second = in_state(state, options=first_options), on_other_drive(**options)
    assert not claim(second, connect)
    assert second.reason == f"{first} uses the host; the run waits until {first} has ended"
    Dispatch.objects.filter(pk=first.pk).update(state=State.DONE)
    assert claim(second, connect)


@pytest.mark.django_db
def test_a_lost_program_that_may_still_run_keeps_a_load_from_being_alone(in_state, on_other_drive, connect):
    lost, waiting = in_state(State.LOST), on_other_drive(alone_on_host=True)
    assert not claim(waiting, connect)
    assert lost.public_id in waiting.reason
    Dispatch.objects.filter(pk=lost.pk).update(ended_at=timezone.now())
    assert claim(waiting, connect)


@pytest.mark.django_db
def test_loads_share_a_host_unless_one_is_alone(in_state, on_other_drive, connect):
    in_state(State.RUNNING)
    assert claim(on_other_drive(), connect)


@pytest.mark.django_db
def test_a_load_that_waits_to_be_alone_goes_before_those_ordered_later(in_state, on_other_drive, new_dispatch, connect):
    running = in_state(State.RUNNING)
    waiting = on_other_drive(alone_on_host=True)
    assert not claim(waiting, connect)
    later = new_dispatch()
    Dispatch.objects.filter(pk=running.pk).update(state=State.DONE)
    assert not claim(later, connect)
    assert later.reason.startswith(f"{waiting} was ordered earlier and waits to be alone on the host; ")
    assert claim(waiting, connect)


@pytest.mark.django_db
def test_a_lost_dispatch_keeps_its_drive_while_its_program_runs(in_state, new_dispatch, connect, fake):
    lost = in_state(State.LOST)
    fake.start(lost.public_id, lost.drive_key, 1, [])
    second = new_dispatch()
    poll(second.pk, connect)
    second.refresh_from_db()
    assert second.state == State.QUEUED
    assert lost.public_id in second.reason
    fake.end(lost.public_id, 0)
    poll(second.pk, connect)
    second.refresh_from_db()
    assert (second.state, second.generation) == (State.RUNNING, 2)
    assert fake.most_loads == 1


@pytest.mark.django_db
def test_a_lost_dispatch_keeps_its_drive_while_its_host_is_silent(in_state, new_dispatch, connect, fake):
    in_state(State.LOST)
    fake.is_silent = True
    assert not claim(new_dispatch(), connect)


@pytest.fixture
def vanished(dispatch, connect, fake):
    """Return a program that continues after its run directory was removed."""
    poll(dispatch.pk, connect)
    program = fake.programs[dispatch.public_id]
    fake.lose(dispatch.public_id)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert (dispatch.state, program.is_running) == (State.LOST, True)
    return dispatch


@pytest.mark.django_db
def test_a_missing_run_directory_does_not_prove_that_nothing_runs(vanished, new_dispatch, connect):
    second = new_dispatch()
    for _ in range(3):  # the first polls of the lost dispatch close its directory
        assert not claim(second, connect)
    assert f"{vanished.public_id} was lost, and its program may still use the drive" in second.reason
    assert f"or a person declares on the page of {vanished.public_id} that it has ended" in second.reason
    vanished.refresh_from_db()
    assert vanished.ended_at is None


@pytest.mark.django_db
def test_a_cancelled_run_without_directory_also_keeps_its_drive(vanished, new_dispatch, connect, staff):
    cancel(vanished, staff)
    assert not claim(new_dispatch(), connect)


@pytest.mark.django_db
def test_a_restart_of_its_host_ends_a_run_without_directory(vanished, new_dispatch, connect, fake):
    fake.boot_id = "second start"
    assert claim(new_dispatch(), connect)
    vanished.refresh_from_db()
    assert vanished.ended_at is not None


@pytest.mark.django_db
def test_a_restart_does_not_count_if_the_earlier_boot_is_unknown(vanished, new_dispatch, connect, fake):
    Dispatch.objects.filter(pk=vanished.pk).update(boot_ids=[])
    fake.boot_id = "second start"
    assert not claim(new_dispatch(), connect)


@pytest.mark.django_db
def test_a_restart_does_not_count_if_the_host_reports_no_boot(vanished, new_dispatch, connect, monkeypatch, fake):
    monkeypatch.setattr(fake, "boot_ids", tuple)
    assert not claim(new_dispatch(), connect)


@pytest.mark.django_db
def test_the_boot_of_a_program_is_that_of_its_start(in_state, connect, fake):
    dispatch = in_state(State.PREPARING)
    fake.start(dispatch.public_id, dispatch.drive_key, 1, [])
    fake.boot_id = "second start"
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert dispatch.boot_ids == ["first start"]


@pytest.mark.django_db
def test_a_run_that_vanished_before_its_first_poll_frees_its_drive_after_a_restart_of_its_host(
    dispatch, new_dispatch, connect, fake
):
    while dispatch.state != State.RUNNING:
        advance(dispatch, connect)
    fake.lose(dispatch.public_id)
    poll(dispatch.pk, connect)
    second = new_dispatch()
    assert not claim(second, connect)
    fake.boot_id = "second start"
    assert claim(second, connect)


@pytest.mark.django_db
def test_a_person_who_confirms_the_end_frees_the_drive_and_is_named(vanished, new_dispatch, connect, staff):
    assert declare_ended(vanished, staff, "powered off by hand")
    assert claim(new_dispatch(), connect)
    step = vanished.steps.last()
    assert (step.actor, step.reason) == (
        staff.get_username(),
        f"{staff.get_username()} declared that the program has ended: powered off by hand",
    )
    assert not declare_ended(vanished, staff, "once more")


@pytest.mark.django_db
def test_a_person_must_state_how_they_know(vanished, staff):
    with pytest.raises(ValueError, match="expected the reason why"):
        declare_ended(vanished, staff, " ")


@pytest.mark.django_db
def test_a_running_dispatch_cannot_be_declared_ended(in_state, staff):
    assert not declare_ended(in_state(State.RUNNING), staff, "I think so")


@pytest.mark.django_db
def test_a_lost_dispatch_that_was_seen_to_end_frees_its_drive(in_state, new_dispatch, connect, fake):
    in_state(State.LOST, ended_at=timezone.now())
    fake.is_silent = True
    assert claim(new_dispatch(), connect)


@pytest.mark.django_db
def test_a_cancelled_lost_dispatch_has_its_program_ended(in_state, new_dispatch, connect, fake, staff):
    lost = in_state(State.LOST)
    fake.start(lost.public_id, lost.drive_key, 1, [])
    assert cancel(lost, staff)
    assert claim(new_dispatch(), connect)
    lost.refresh_from_db()
    assert (lost.state, fake.stops_count) == (State.LOST, 1)


@pytest.mark.django_db(transaction=True)
def test_one_of_many_claims_of_a_drive_succeeds(new_dispatch, connect):
    dispatches = [new_dispatch() for _ in range(THREADS)]
    won = in_threads(lambda dispatch: claim(dispatch, connect), dispatches)
    assert sorted(won) == [False] * (THREADS - 1) + [True]
    assert Dispatch.objects.filter(state__in=LIVE).count() == 1
    assert (
        Dispatch.objects.filter(state=State.QUEUED, reason__contains=" uses the drive; the run waits ").count()
        == THREADS - 1
    )


@pytest.mark.django_db(transaction=True)
def test_a_claim_waits_for_the_one_before_it_to_know_the_newest_generation(in_state, new_dispatch, connect):
    earlier, dispatch = in_state(State.DONE), new_dispatch()
    claiming = threading.Thread(target=in_threads, args=[lambda one: claim(one, connect), [dispatch]])
    with transaction.atomic():
        lock_drive(earlier.drive_key)
        claiming.start()
        wait_for_blocked_session()
        Dispatch.objects.filter(pk=earlier.pk).update(generation=5)
    claiming.join()
    dispatch.refresh_from_db()
    assert dispatch.generation == 6


@pytest.mark.django_db(transaction=True)
def test_many_workers_that_poll_one_dispatch_start_one_program(dispatch, connect, fake):
    in_threads(lambda pk: poll(pk, connect), [dispatch.pk] * THREADS)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert (dispatch.state, fake.starts_count, dispatch.steps.count()) == (State.RUNNING, 1, 3)


@pytest.mark.django_db(transaction=True)
def test_a_queue_on_one_drive_never_loads_it_twice(new_dispatch, connect, fake):
    dispatches = [new_dispatch() for _ in range(4)]
    for _ in range(
        2 * len(dispatches)
    ):  # with concurrent workers, a round starts or ends a dispatch, and not always both
        in_threads(lambda _: poll_all(connect), range(4))
        for run in [run for run, program in fake.programs.items() if program.is_running]:
            fake.write_log(run, run.encode())
            fake.end(run, 0)
    in_threads(lambda _: poll_all(connect), range(4))
    assert {Dispatch.objects.get(pk=dispatch.pk).state for dispatch in dispatches} == {State.DONE}
    assert (fake.starts_count, fake.most_loads) == (4, 1)


@pytest.mark.django_db(transaction=True)
def test_a_worker_skips_a_dispatch_that_another_worker_has_locked(dispatch, connect, fake):
    with lock_dispatch(dispatch.pk) as locked:
        in_threads(lambda pk: poll(pk, connect), [dispatch.pk])
    assert locked == dispatch
    assert fake.starts_count == 0
