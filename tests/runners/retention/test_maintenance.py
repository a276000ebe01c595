"""Host checks without delays for others: the task ends while a check still waits for a silent host."""

import threading

import pytest
from django.db import connections

from runners import tasks
from runners.inventory import health
from runners.models import Host
from runners.retention import cleanup, maintenance
from tests.runners.ssh_host import ssh_host

pytestmark = pytest.mark.django_db(transaction=True)
LIMIT_S = 90  # a time limit that only a failing test reaches


@pytest.fixture
def pool(monkeypatch):
    monkeypatch.setattr(maintenance, "close_old_connections", connections.close_all)
    maintenance.check_pool.cache_clear()
    yield maintenance.check_pool()
    for each in (maintenance.check_pool(), maintenance.check_pool().clearing):
        each.pool.shutdown()
    maintenance.check_pool.cache_clear()


@pytest.fixture
def silent(monkeypatch):
    """Return hosts that answer only after the test allows it."""
    answers, checked = threading.Event(), []

    def check(host):
        checked.append(host.name)
        answers.wait(LIMIT_S)
        return ["no answer"]

    monkeypatch.setattr(health, "check", check)
    return answers, checked


def test_the_task_ends_while_hosts_are_silent_and_the_others_follow(pool, silent):
    answers, checked = silent
    for number in range(6):
        ssh_host(f"lab-{number}")
    tasks.check_hosts()
    tasks.check_hosts()
    assert len([future for future in pool.pending if not future.done()]) == maintenance.CHECK_THREADS
    answers.set()
    for future in pool.pending:
        future.result(LIMIT_S)
    assert sorted(checked) == [f"lab-{number}" for number in range(6)]


def test_an_internal_error_in_a_check_frees_its_thread(pool, monkeypatch):
    def stumble(host):
        raise ZeroDivisionError(host.name)

    monkeypatch.setattr(health, "check", stumble)
    ssh_host("lab-1")
    tasks.check_hosts()
    pool.pending[0].result(LIMIT_S)
    Host.objects.update(next_check_at="2026-01-01T00:00Z")
    tasks.check_hosts()
    assert len(pool.pending) == 1


def test_a_host_with_a_slow_cleanup_delays_no_check_and_gets_one_request(pool, monkeypatch):
    released, begun, checked, cleared = threading.Event(), threading.Event(), [], []

    def remove_old(host):
        cleared.append(host.name)
        begun.set()
        released.wait(LIMIT_S)

    def check(host):
        checked.append(host.name)
        return []

    monkeypatch.setattr(cleanup, "remove_old_run_dirs", remove_old)
    monkeypatch.setattr(health, "check", check)
    names = [ssh_host(f"lab-{number}").name for number in range(6)]
    for _ in range(2):
        Host.objects.update(next_check_at="2026-01-01T00:00Z")
        tasks.check_hosts()
        for future in pool.pending:
            future.result(LIMIT_S)
    assert sorted(checked) == sorted(names * 2)
    assert begun.wait(LIMIT_S)
    assert len(cleared) == 1
    released.set()
    for future in pool.clearing.pending.values():
        future.result(LIMIT_S)
    assert sorted(cleared) == names


def test_this_machine_is_cleaned_up_although_it_is_not_checked(pool, monkeypatch):
    cleared = []
    monkeypatch.setattr(cleanup, "remove_old_run_dirs", lambda host: cleared.append(host.name))
    Host.objects.create(name="local", kind="local")
    Host.objects.create(name="another", kind="local", machine_id="of-another")
    tasks.check_hosts()
    for future in pool.clearing.pending.values():
        future.result(LIMIT_S)
    assert cleared == ["local"]
