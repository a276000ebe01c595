import pytest
from django.conf import settings
from django.test import override_settings

from webapp import celery
from webapp.celery import HEARD_KEY, app, redis_of


@pytest.fixture
def broker():
    with app.connection_for_write() as connection:
        redis_of(connection).delete(HEARD_KEY)
        yield redis_of(connection)
        redis_of(connection).delete(HEARD_KEY)


def test_alive_asks_no_database(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


@pytest.mark.django_db
def test_ready_when_database_broker_and_worker_answer(client, broker):
    celery.note_heartbeat()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "database": "ok", "broker": "ok", "worker": "ok"}


@pytest.mark.django_db
def test_not_ready_while_no_worker_is_heard(client, broker):
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["worker"]) == (503, "not heard lately")


def test_a_heartbeat_fades(broker):
    celery.note_heartbeat()
    assert 0 < broker.ttl(HEARD_KEY) <= 15


@pytest.mark.django_db
def test_not_ready_without_a_broker(client, monkeypatch):
    silent = "redis+socket:///nonexistent/redis.sock?virtual_host=0"
    monkeypatch.setattr(app, "connection_for_read", lambda: app.connection(silent))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["broker"]) == (503, "does not answer")


@override_settings(ALLOWED_HOSTS=["register.example"], SECURE_SSL_REDIRECT=True)
def test_a_probe_comes_by_address_and_plain_http(client):
    assert client.get("/healthz", headers={"host": "10.0.0.7:8000"}).status_code == 200


def test_the_probes_are_answered_before_all_else():
    assert settings.MIDDLEWARE[0] == "webapp.health.HealthMiddleware"


def test_nobody_keeps_an_answer(client):
    assert client.get("/healthz").headers["Cache-Control"] == "no-store"
