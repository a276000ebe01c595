"""Deliveries in a thread of a worker's process: its tasks, such as readings, run while a slow receiver responds."""

import threading
from functools import partial

import pytest
from django.db import connection

from results.evidence.directory import Directory
from results.locks import WEBHOOKS
from results.models import Reading
from results.tasks import sweep_readings
from tests.faults.worker import Worker
from tests.results.builders import log_bytes, send, wait_for
from tests.results.fixtures import evidence_dir, no_broker, program, stand_in
from tests.webapp.outbound.receiver import RECEIVER_NETWORK, receiving, reply
from tests.webapp.people import exemplar, vera
from webapp.accounts.encryption import encrypt
from webapp.outbound import client as outbound
from webapp.webhooks import delivery, tasks
from webapp.webhooks.models import Attempt, Delivery, Topic, Webhook
from webapp.webhooks.queueing import queue_trial

__all__ = ["evidence_dir", "exemplar", "no_broker", "program", "stand_in", "vera"]
pytestmark = pytest.mark.django_db(transaction=True)
LIMIT_S = 90  # that only a failing test reaches
RESPONSE_S = 3  # within which a worker that does not wait for the response ends


class SlowReceiver:
    """A receiver that responds only after `release`. It releases itself if a failing test never does."""

    def __init__(self):
        self.requested, self.released = threading.Event(), threading.Event()

    def respond(self, handler):
        self.requested.set()
        self.released.wait(LIMIT_S)
        reply(handler, 204)


@pytest.fixture
def thread():
    delivery.delivery_thread.cache_clear()
    yield delivery.delivery_thread()
    delivery.delivery_thread().stop()
    delivery.delivery_thread.cache_clear()


@pytest.fixture
def slow(settings, monkeypatch, exemplar, vera, thread):
    """Return a slow receiver with a waiting message."""
    settings.OUTBOUND_ALLOWED_NETWORKS = RECEIVER_NETWORK
    # A request may take as long as the test: a loaded machine reads slowly.
    monkeypatch.setattr(delivery, "send", partial(outbound.send, limits=outbound.Limits(total_s=LIMIT_S)))
    slow = SlowReceiver()
    with receiving() as receiver:
        receiver.respond = slow.respond
        webhook = Webhook.objects.create(
            organisation=exemplar, url=receiver.url("http", "127.0.0.1"), topics=[Topic.RECEIVED],
            encrypted_secret=encrypt("whsec_of-the-test"), created_by=vera,
        )  # fmt: skip
        queue_trial(webhook)
        yield slow
        slow.released.set()
        thread.stop()


def delivering_session():
    """Return the session that has the lock of deliveries; None without one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_locks JOIN pg_database ON oid = database AND datname = current_database() "
            "WHERE locktype = 'advisory' AND granted AND classid = %s",
            [WEBHOOKS],
        )
        return next(iter(cursor.fetchone() or ()), None)


def has_ended(session):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [session])
        return cursor.fetchone() is None


def test_a_log_is_read_while_a_slow_receiver_has_not_responded(slow, exemplar, evidence_dir, no_broker, stand_in):
    tasks.deliver()
    assert slow.requested.wait(LIMIT_S)
    submission = send(exemplar, log_bytes("slow-disk-ms"))
    sweep_readings()
    assert submission.log.readings.get().state == Reading.State.DONE
    assert not slow.released.is_set()
    assert not Attempt.objects.exists()
    slow.released.set()
    wait_for(lambda: Delivery.objects.filter(topic="webhook.trial", state=Delivery.State.DELIVERED).exists())


def another_webhook(first):
    return Webhook.objects.create(
        organisation=first.organisation, url=first.url, topics=[Topic.RECEIVED], created_by=first.created_by,
        encrypted_secret=encrypt("whsec_of-the-test"),
    )  # fmt: skip


def test_the_next_task_starts_no_second_sweep_in_the_process(slow, thread, monkeypatch):
    monkeypatch.setattr(delivery, "PARALLEL", 1)  # so that a second message stays due
    tasks.deliver()
    assert slow.requested.wait(LIMIT_S)
    running = thread._sweep
    queue_trial(another_webhook(Webhook.objects.get()))
    tasks.deliver()
    assert thread._sweep is running


def test_the_thread_has_a_connection_only_while_it_delivers(slow, thread):
    assert delivering_session() is None
    tasks.deliver()
    assert slow.requested.wait(LIMIT_S)
    session = delivering_session()
    assert not has_ended(session)
    slow.released.set()
    thread._sweep.result(LIMIT_S)
    wait_for(lambda: has_ended(session))


def test_without_a_due_message_nothing_is_started(db, thread):
    tasks.deliver()
    assert thread._sweep is None


def test_a_process_ends_after_its_attempts_and_starts_no_more(slow, thread):
    tasks.deliver()
    assert slow.requested.wait(LIMIT_S)
    later = another_webhook(Webhook.objects.get())
    thread._is_stopping.set()
    queue_trial(later)
    slow.released.set()
    tasks.stop_delivering()
    states = dict(Delivery.objects.values_list("webhook", "state"))
    assert states.pop(later.pk) == Delivery.State.PENDING
    assert list(states.values()) == [Delivery.State.DELIVERED]


@pytest.mark.long
def test_a_worker_that_is_stopped_ends_after_its_attempt(slow, tmp_path, monkeypatch):
    monkeypatch.setenv("OUTBOUND_ALLOWED_NETWORKS", ",".join(map(str, RECEIVER_NETWORK)))
    Directory(tmp_path / "evidence").prepare()
    worker = Worker(tmp_path)
    worker.start()
    try:
        assert slow.requested.wait(LIMIT_S), worker.log()
        worker.process.terminate()
        threading.Timer(RESPONSE_S, slow.released.set).start()
        assert worker.process.wait(LIMIT_S) == 0, worker.log()
    finally:
        worker.kill()
    assert Delivery.objects.get().state == Delivery.State.DELIVERED, worker.log()
