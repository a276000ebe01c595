import os

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from kombu import Connection

from webapp import celery
from webapp.celery import app, redis_of


@pytest.fixture
def broker(monkeypatch):
    """The broker, with heartbeats that tests in other processes do not read."""
    monkeypatch.setattr(celery, "HEARTBEAT_KEY", f"drivecert:test-{os.getpid()}:{{name}}")
    keys = [celery.HEARTBEAT_KEY.format(name=queue) for queue in celery.PARTS.values()]
    keys += [celery.LAST_KEY.format(key=key) for key in keys]
    monkeypatch.setattr(celery._Beat, "is_here", False)
    monkeypatch.setattr(celery._Beat, "noted_at", float("-inf"))
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
    celery.note_beat_start()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready"} | dict.fromkeys(["database", "broker", "worker", "lab", "beat"], "ok")


@pytest.mark.django_db
def test_the_register_is_not_ready_without_a_heartbeat_of_a_worker(client, broker):
    celery.note_beat_start()
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["worker"]) == (503, "not heard lately")


@pytest.mark.django_db
def test_a_dead_beat_is_named(client, broker):
    celery.note_heartbeat()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert {name for name, state in answer.json().items() if state != "ok"} == {"status", "beat"}


def test_beat_gives_a_sign_of_life_with_each_task_that_it_sends(broker, monkeypatch):
    key = celery.HEARTBEAT_KEY.format(name="beat")
    app.send_task("results.sweep_deadlines", queue="nobody-reads")
    assert not broker.exists(key)  # sent by another process than beat
    celery.note_beat_start()
    broker.delete(key)
    app.send_task("results.sweep_deadlines", queue="nobody-reads")
    assert not broker.exists(key)  # one a second is enough
    monkeypatch.setattr(celery._Beat, "noted_at", float("-inf"))
    app.send_task("results.sweep_deadlines", queue="nobody-reads")
    assert 0 < broker.ttl(key) <= celery.beat_limit_s()
    broker.delete("nobody-reads")


def test_beat_goes_on_without_a_broker(monkeypatch, broker, caplog):
    silent = "redis+socket:///nonexistent/redis.sock?virtual_host=0"
    monkeypatch.setattr(app, "connection_for_write", lambda: Connection(silent))
    celery.note_beat_start()
    assert "heartbeat was not stored" in caplog.text


def test_the_limit_of_beat_follows_its_shortest_period(monkeypatch):
    assert celery.beat_limit_s() == 15
    monkeypatch.setattr(app.conf, "beat_schedule", {"a": {"schedule": 20.5}, "b": {"schedule": 60}})
    assert celery.beat_limit_s() == 62


def test_the_silence_of_each_part_is_known_after_its_heartbeat_expired(broker):
    assert celery.silences_s(broker) == {}
    celery.write_heartbeat(broker, "beat", 15)
    broker.delete(celery.HEARTBEAT_KEY.format(name="beat"))
    assert 0 <= celery.silences_s(broker)["beat"] < 5


@pytest.mark.parametrize("part", celery.PARTS)
def test_the_command_alive_reports_one_part(broker, part, capsys):
    with pytest.raises(SystemExit) as end:
        call_command("alive", part)
    assert end.value.code == 1
    assert f"{part}: no heartbeat in the last 15 s" in capsys.readouterr().err
    celery.write_heartbeat(broker, celery.PARTS[part], 15)
    call_command("alive", part)
    assert f"{part}: alive" in capsys.readouterr().out


def test_the_command_alive_reports_a_broker_that_is_away(broker, monkeypatch, capsys):
    silent = "redis+socket:///nonexistent/redis.sock?virtual_host=0"
    monkeypatch.setattr(app, "connection_for_read", lambda: app.connection(silent))
    with pytest.raises(SystemExit) as end:
        call_command("alive", "beat")
    assert end.value.code == 1
    assert "the broker does not answer" in capsys.readouterr().err


@pytest.mark.django_db
@pytest.mark.parametrize(("first", "second"), [("drivecert", "lab"), ("lab", "drivecert")])
def test_a_worker_does_not_count_for_another_queue(client, broker, taking_from, first, second):
    celery.note_beat_start()
    taking_from(first)
    celery.note_heartbeat()
    assert client.get("/readyz").status_code == 503
    taking_from(second)
    celery.note_heartbeat()
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("queue", ["drivecert", "lab"])
def test_a_heartbeat_expires(broker, queue):
    celery.note_heartbeat()
    assert 0 < broker.ttl(celery.HEARTBEAT_KEY.format(name=queue)) <= 15


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
