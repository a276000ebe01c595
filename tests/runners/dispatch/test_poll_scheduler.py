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
