import os

import pytest
from django.conf import settings
from django.test import override_settings

from webapp import celery
from webapp.celery import app, redis_of


@pytest.fixture
def broker(monkeypatch):
    """The broker, with heartbeats that tests in other processes do not read."""
    monkeypatch.setattr(celery, "WORKER_KEY", f"drivecert:test-{os.getpid()}:{{queue}}")
    keys = [celery.WORKER_KEY.format(queue=queue) for queue in ("drivecert", "lab")]
    with app.connection_for_write() as connection:
        yield redis_of(connection)
        redis_of(connection).delete(*keys)


@pytest.fixture
def taking_from(monkeypatch):
    """Make this process a worker of one queue."""
    return lambda queue: monkeypatch.setattr(app.amqp.queues, "_consume_from", {queue: app.amqp.queues[queue]})


def test_the_liveness_probe_needs_no_database(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


@pytest.mark.django_db
def test_the_register_is_ready_when_database_broker_and_worker_answer(client, broker):
    celery.note_heartbeat()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "database": "ok", "broker": "ok", "worker": "ok"}


@pytest.mark.django_db
def test_the_register_is_not_ready_without_a_heartbeat_of_a_worker(client, broker):
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["worker"]) == (503, "not heard lately")


@pytest.mark.django_db
@pytest.mark.parametrize(("first", "second"), [("drivecert", "lab"), ("lab", "drivecert")])
def test_a_worker_does_not_count_for_another_queue(client, broker, taking_from, first, second):
    taking_from(first)
    celery.note_heartbeat()
    assert client.get("/readyz").status_code == 503
    taking_from(second)
    celery.note_heartbeat()
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("queue", ["drivecert", "lab"])
def test_a_heartbeat_expires(broker, queue):
    celery.note_heartbeat()
    assert 0 < broker.ttl(celery.WORKER_KEY.format(queue=queue)) <= 15


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("runners.watch_dispatches", "lab"),
        ("runners.advance_dispatch", "lab"),
        ("runners.sweep_readings", "drivecert"),
        ("runners.read_evidence", "drivecert"),
    ],
)
def test_polls_of_the_lab_do_not_wait_for_readings(task, queue):
    assert app.amqp.router.route({}, task)["queue"].name == queue


@pytest.mark.django_db
def test_the_register_is_not_ready_without_a_broker(client, monkeypatch):
    silent = "redis+socket:///nonexistent/redis.sock?virtual_host=0"
    monkeypatch.setattr(app, "connection_for_read", lambda: app.connection(silent))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["broker"]) == (503, "does not answer")


@override_settings(ALLOWED_HOSTS=["register.example"], SECURE_SSL_REDIRECT=True)
def test_a_probe_uses_an_ip_address_and_plain_http(client):
    assert client.get("/healthz", headers={"host": "10.0.0.7:8000"}).status_code == 200


def test_the_probes_are_answered_before_all_other_checks():
    assert settings.MIDDLEWARE[0] == "webapp.health.HealthMiddleware"


def test_responses_to_probes_are_not_cached(client):
    assert client.get("/healthz").headers["Cache-Control"] == "no-store"
