"""Migrations within limits: none waits long for a lock, which would stop every request that needs the table.

A migration that meets its lock limit is rolled back and tried again. Each migration is a transaction, so that a
repeated attempt begins with the one that failed. Before, it waits for a database that starts later than the register,
and for another preparation of the same database.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable, QueryCanceled

ATTEMPTS_MAX = 20
PAUSE_MAX_S = 15.0
DATABASE_WAIT_S, PAUSE_S, REPORT_PERIOD_S = 300.0, 2.0, 30.0
# An advisory lock of PostgreSQL: two machines that prepare one database do it one after the other.
PREPARING = 0x44524956


def migrate(
    lock_s: float, statement_s: float, report: Callable[[str], None], pause: Callable[[float], None] = time.sleep
) -> None:
    """Run all migrations. Raise CommandError if a lock stays taken in all attempts, or if a statement is too slow.

    Raise it also if the database accepts no connection for DATABASE_WAIT_S.
    """
    _wait_for_database(report, pause)
    with _alone(report, pause):
        _migrate(lock_s, statement_s, report, pause)


def _wait_for_database(report: Callable[[str], None], pause: Callable[[float], None]) -> None:
    """Return when the database accepts a connection. Report each REPORT_PERIOD_S that it does not.

    A wrong password is waited for as well: psycopg gives no code for the errors of a connection.
    """
    started = time.monotonic()
    reported = float("-inf")
    while True:
        try:
            return connection.ensure_connection()
        except OperationalError as error:
            waited_s = time.monotonic() - started
            if not settings.DATABASE_URL or waited_s >= DATABASE_WAIT_S:
                raise CommandError(
                    f"no connection to the database: expected PostgreSQL to accept one within {DATABASE_WAIT_S:g} s, "
                    f"found after {waited_s:.0f} s: {str(error).strip()}. Start PostgreSQL or correct DATABASE_URL, "
                    "and run `manage.py prepare` again"
                ) from error
            if waited_s - reported >= REPORT_PERIOD_S:
                report(f"waiting for the database, {DATABASE_WAIT_S - waited_s:.0f} s at most: {str(error).strip()}")
                reported = waited_s
        pause(PAUSE_S)


@contextmanager
def _alone(report: Callable[[str], None], pause: Callable[[float], None]) -> Iterator[None]:
    """Hold the lock of preparations: wait for another one, however long it takes.

    It asks again and again: a session that waits inside PostgreSQL would stop an index that the other one creates.
    """
    with connection.cursor() as cursor:
        is_reported = False
        while not cursor.execute("SELECT pg_try_advisory_lock(%s)", [PREPARING]).fetchone()[0]:
            if not is_reported:
                report("waiting for another `manage.py prepare` of this database to end")
                is_reported = True
            pause(PAUSE_S)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARING])


def _migrate(lock_s: float, statement_s: float, report: Callable[[str], None], pause: Callable[[float], None]) -> None:
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            with _limits(lock_s, statement_s):
                call_command("migrate", interactive=False, verbosity=1)
                return
        except OperationalError as error:
            _raise_if_final(error, attempt, lock_s, statement_s)
            report(
                f"a lock was not free within {lock_s:g} s; the migration was rolled back, attempt {attempt}: {error}"
            )
            pause(min(2.0**attempt / 2, PAUSE_MAX_S))


def _raise_if_final(error: OperationalError, attempt: int, lock_s: float, statement_s: float) -> None:
    """Raise the error again unless it is a lock that may be free later."""
    if isinstance(error.__cause__, QueryCanceled):
        raise CommandError(
            f"a migration was stopped: expected each of its statements to end within {statement_s:g} s, found a longer "
            "one. Its changes were rolled back. Set MIGRATION_STATEMENT_S to a longer time, and run `manage.py "
            "prepare` again while few people use the register"
        ) from error
    if not isinstance(error.__cause__, LockNotAvailable):
        raise error
    if attempt == ATTEMPTS_MAX:
        raise CommandError(
            f"the migrations stopped: expected a free lock within {lock_s:g} s, found it taken in {attempt} attempts. "
            "Nothing of the present migration was changed. Find the query that holds the lock in the view "
            "pg_stat_activity of PostgreSQL, end it, and run `manage.py prepare` again"
        ) from error


@contextmanager
def _limits(lock_s: float, statement_s: float) -> Iterator[None]:
    """Set the limits for this session of the database, and remove them."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [f"{int(lock_s * 1000)}ms"])
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", [f"{int(statement_s * 1000)}ms"])
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
            cursor.execute("RESET statement_timeout")
