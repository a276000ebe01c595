"""The database connections of the polling threads."""

import pytest
from django.db import connection

from runners.dispatch import poll_scheduler


@pytest.mark.django_db(transaction=True)
def test_a_busy_thread_has_its_connection_checked_once_a_second(monkeypatch):
    monkeypatch.delattr(poll_scheduler._checked, "at_s", raising=False)
    connection.close()  # Django closes one older than CONN_MAX_AGE instead of checking it.
    connection.ensure_connection()
    assert [is_checked(at_s) for at_s in (10, 10.9, 11)] == [True, False, True]


def is_checked(at_s):
    """Return whether a poll that begins then would first make Django's check of the connection."""
    connection.health_check_done = True
    poll_scheduler._check_connection(at_s)
    return not connection.health_check_done


@pytest.mark.parametrize("is_silent", [True, False])
def test_only_a_thread_of_silent_hosts_gives_its_connection_back(monkeypatch, is_silent):
    closed = []
    monkeypatch.setattr(poll_scheduler, "_check_connection", lambda now_s: None)
    monkeypatch.setattr(poll_scheduler, "_release_connection", lambda: closed.append("closed"))
    poll_scheduler._poll_in_thread(poll_scheduler.HostBatch(1, (), False), None, is_silent)
    assert closed == ["closed"] * is_silent
