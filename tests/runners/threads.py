"""Several workers at once, each with its own connection, and waits for their locks."""

import threading
import time

import pytest
from django.db import connection

PATIENCE_S = 90  # the other one may have to open its connection first


def in_threads(work, arguments):
    """Run `work` for every argument at the same moment, each on its own connection; return the results."""
    gate, given = threading.Barrier(len(arguments)), []

    def run(argument):
        gate.wait()
        try:
            given.append(work(argument))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[argument]) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return given


def wait_for_blocked_session():
    with connection.cursor() as cursor:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = "
                "(SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    pytest.fail("no session waits for the drive")


def wait_for_session_blocked_by_us():
    """Wait until another session waits for a lock of any kind of this session."""
    with connection.cursor() as cursor:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            )
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    pytest.fail("no session waits for this one")
