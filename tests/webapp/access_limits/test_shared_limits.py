"""Limits that processes share, with the real server of the test session."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from tests.results.builders import wait_for
from tests.results.fixtures import no_broker
from webapp.access_limits import shared_limits
from webapp.access_limits.shared_limits import LimitReachedError, LimitsDownError, SharedLimit, forget_all
from webapp.celery import app

__all__ = ["no_broker"]

TAKE_ALL = """
import django; django.setup()
from webapp.access_limits.shared_limits import LimitReachedError, SharedLimit
taken = 0
try:
    while True:
        SharedLimit("test", {most}, 60).take()
        taken += 1
except LimitReachedError:
    print(taken)
"""
TAKE_AND_WAIT = """
import time, django; django.setup()
from webapp.access_limits.shared_limits import SharedLimit
SharedLimit("test", 2, {period_s}).take()
print("taken", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def uncounted():
    forget_all()
    yield
    forget_all()


def start(script, **values):
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    command = [sys.executable, "-c", script.format(**values)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def refusal_of(limit, client=shared_limits.ANYONE):
    with pytest.raises(LimitReachedError) as raised:
        limit.take(client)
    return raised.value


@pytest.mark.parametrize("most", [1, 2, 10])
def test_the_last_use_is_given_and_the_next_one_refused_with_the_time_to_wait(most):
    limit = SharedLimit("test", most, 60)
    for _ in range(most):
        limit.take("a")
    assert 1 <= refusal_of(limit, "a").wait_s <= 60


def test_each_client_and_each_limit_is_counted_alone():
    SharedLimit("test", 1, 60).take("a")
    SharedLimit("test", 1, 60).take("b")
    SharedLimit("other", 1, 60).take("a")


def test_a_use_that_is_given_back_can_be_taken_again():
    limit = SharedLimit("test", 1, 60)
    limit.give_back(limit.take())
    use = limit.take()
    limit.give_back("another use")
    refusal_of(limit)
    limit.give_back(use)
    limit.take()


def test_uses_expire_one_by_one_after_the_period():
    limit = SharedLimit("test", 2, 0.6)
    limit.take()
    time.sleep(0.3)
    limit.take()
    assert refusal_of(limit).wait_s == 1
    wait_for(lambda: can_take(limit))
    refusal_of(limit)  # the second use still holds


def can_take(limit):
    try:
        return limit.take()
    except LimitReachedError:
        return ""


def test_the_time_to_wait_is_that_of_the_oldest_use():
    limit, long = SharedLimit("test", 2, 30), SharedLimit("test", 2, 300)
    limit.take()
    long.take()
    assert 28 <= refusal_of(limit).wait_s <= 30


def test_a_limit_that_was_lowered_waits_for_enough_uses():
    for period_s in (100, 200, 300):
        SharedLimit("test", 3, period_s).take()
    assert 298 <= refusal_of(SharedLimit("test", 1, 60)).wait_s <= 300


def test_redis_forgets_a_client_after_the_period():
    limit = SharedLimit("test", 5, 0.2)
    limit.take("a")
    wait_for(lambda: not shared_limits.redis().exists(limit._key("a")))


@pytest.mark.long
def test_two_processes_take_no_more_than_the_limit_together():
    processes = [start(TAKE_ALL, most=50) for _ in range(2)]
    taken = [int(process.communicate()[0]) for process in processes]
    assert sum(taken) == 50


def test_threads_take_no_more_than_the_limit_together():
    limit, taken = SharedLimit("test", 20, 60), []
    threads = [threading.Thread(target=lambda: taken.extend(filter(None, [can_take(limit)]))) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 20


@pytest.mark.long
def test_the_use_of_a_killed_process_expires():
    limit = SharedLimit("test", 2, 60)
    limit.take()
    process = start(TAKE_AND_WAIT, period_s=5)
    assert process.stdout.readline() == "taken\n"
    assert refusal_of(limit).wait_s <= 5
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_for(lambda: can_take(limit))


def test_without_redis_nothing_can_be_taken_and_giving_back_does_nothing(no_broker):
    limit = SharedLimit("test", 1, 60)
    with pytest.raises(LimitsDownError):
        limit.take()
    limit.give_back("use")


def test_after_a_failure_redis_counts_as_down_for_some_seconds(monkeypatch):
    limit, calls = SharedLimit("test", 1, 60), []

    class Broken:
        def eval(self, *_):
            calls.append(1)
            raise OSError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(shared_limits, "redis", Broken)
        for _ in range(3):
            with pytest.raises(LimitsDownError):
                limit.take()
        assert calls == [1]
        patch.setattr(shared_limits._Outage, "until", time.monotonic())
        with pytest.raises(LimitsDownError):
            limit.take()
        assert calls == [1, 1]


@pytest.fixture
def silent_broker():
    """A server that accepts connections and never answers."""
    before = app.conf.broker_url
    with socket.create_server(("127.0.0.1", 0)) as server:
        app.conf.update(broker_url=f"redis://127.0.0.1:{server.getsockname()[1]}/0")
        yield
        app.conf.update(broker_url=before)


def test_a_server_that_does_not_answer_is_given_up(silent_broker, monkeypatch):
    monkeypatch.setattr(shared_limits, "TIMEOUT_S", 0.1)
    with pytest.raises(LimitsDownError, match="does not answer"):
        SharedLimit("test", 9, 60).take()


def test_each_process_of_the_tests_counts_in_its_own_database():
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw-1").removeprefix("gw")
    kwargs = shared_limits.redis().connection_pool.connection_kwargs
    assert kwargs["db"] == int(number) + 1 or "DRIVECERT_TEST_REDIS_URL" not in os.environ
