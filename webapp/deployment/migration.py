"""Migrations within limits: none waits long for a lock, which would stop every request that needs the table.

A migration that meets its lock limit is rolled back and tried again. Each migration is a transaction, so that a
repeated attempt begins with the one that failed.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable, QueryCanceled

ATTEMPTS_MAX = 20
PAUSE_MAX_S = 15.0
# An advisory lock of PostgreSQL: two machines that prepare one database do it one after the other.
PREPARING = 0x44524956


def migrate(
    lock_s: float, statement_s: float, report: Callable[[str], None], pause: Callable[[float], None] = time.sleep
) -> None:
    """Run all migrations. Raise CommandError if a lock stays taken in all attempts, or if a statement is too slow."""
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
            cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", [f"{int(statement_s * 1000)}ms"])
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
            cursor.execute("RESET statement_timeout")
            cursor.execute("SELECT pg_advisory_unlock_all()")
