"""The preparation on which a run is based."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.dispatch.claim import settle_lost
from runners.dispatch.orders import Order, cancel, order
from runners.errors import HostUnavailableError
from runners.evidence.submit import last_preparation_attempt
from runners.models import Dispatch
from runners.models.states import State
from tests.runners.lab import poll

pytestmark = pytest.mark.django_db


@pytest.fixture
def prep(device, a_lab, staff):
    return order(device, a_lab, Order(recipe="prep"), staff)


@pytest.fixture
def answers_lost(fake, monkeypatch):
    """Start the program on the host, but lose the answer."""
    start = fake.start

    def lose_answer(*arguments):
        start(*arguments)
        fake.is_silent = True
        raise HostUnavailableError("fake: the connection was lost")

    monkeypatch.setattr(fake, "start", lose_answer)


def later_run(new_dispatch):
    run = new_dispatch()
    Dispatch.objects.filter(pk=run.pk).update(generation=9)
    run.refresh_from_db()
    return run


def test_a_preparation_whose_start_was_never_answered_counts(prep, connect, fake, answers_lost, new_dispatch, settings):
    poll(prep.pk, connect)
    Dispatch.objects.update(silent_since=timezone.now() - timedelta(seconds=settings.HOST_SILENCE_S))
    poll(prep.pk, connect)
    prep.refresh_from_db()
    assert (prep.state, prep.started_at) == (State.LOST, None)
    fake.is_silent = False
    fake.end(prep.public_id, None)
    assert settle_lost(prep, connect)
    assert last_preparation_attempt(later_run(new_dispatch)) == prep


def test_a_preparation_that_the_host_sealed_does_not_count(prep, connect, fake, new_dispatch, settings, monkeypatch):
    monkeypatch.setattr(fake, "start", lambda *_: fake.fall_silent())
    poll(prep.pk, connect)
    Dispatch.objects.update(silent_since=timezone.now() - timedelta(seconds=settings.HOST_SILENCE_S))
    poll(prep.pk, connect)
    prep.refresh_from_db()
    assert prep.state == State.LOST
    fake.is_silent = False
    assert last_preparation_attempt(later_run(new_dispatch)) == prep  # it may still begin
    assert settle_lost(prep, connect)
    assert last_preparation_attempt(later_run(new_dispatch)) is None


def test_a_preparation_that_was_cancelled_before_its_start_does_not_count(prep, connect, staff, new_dispatch):
    Dispatch.objects.filter(pk=prep.pk).update(state=State.PREPARING, generation=1)
    prep.steps.create(from_state=State.CLAIMED, to_state=State.PREPARING, actor="worker")
    cancel(prep, staff)
    poll(prep.pk, connect)
    assert last_preparation_attempt(later_run(new_dispatch)) is None


def test_a_preparation_that_was_cancelled_after_an_unsaved_start_counts(prep, connect, fake, staff, new_dispatch):
    Dispatch.objects.filter(pk=prep.pk).update(state=State.PREPARING, generation=1)
    prep.steps.create(from_state=State.CLAIMED, to_state=State.PREPARING, actor="worker")
    fake.start(prep.public_id, prep.drive_key, 1, [])
    fake.end(prep.public_id, None)
    fake.is_silent = False
    Dispatch.objects.filter(pk=prep.pk).update(cancel_requested_at=timezone.now())
    prep.refresh_from_db()
    poll(prep.pk, connect)
    assert last_preparation_attempt(later_run(new_dispatch)) == prep


def test_a_preparation_that_was_refused_at_its_start_does_not_count(prep, connect, fake, new_dispatch):
    fake.start("of-another-register", "loop:1:2", 7, [])
    poll(prep.pk, connect)
    prep.refresh_from_db()
    assert prep.state == State.REFUSED
    assert last_preparation_attempt(later_run(new_dispatch)) is None
