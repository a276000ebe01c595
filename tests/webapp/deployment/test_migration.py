"""Migrations within limits: a taken lock is tried again, a slow statement ends, each with its remedy."""

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError
from django.db import OperationalError, connection

from webapp.deployment import migration

pytestmark = pytest.mark.django_db(transaction=True)
LOCK_TABLE = "LOCK TABLE django_migrations IN ACCESS EXCLUSIVE MODE"


@pytest.fixture
def other():
    """Return another session of the database."""
    with psycopg.connect(settings.DATABASE_URL, dbname=connection.settings_dict["NAME"]) as session:
        yield session
        session.rollback()


def test_a_lock_that_becomes_free_is_waited_for(other):
    other.execute(LOCK_TABLE)
    reports, pauses = [], []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            other.rollback()

    migration.migrate(0.05, 60, reports.append, pause)
    assert pauses == [1.0, 2.0]
    assert [report.partition(";")[0] for report in reports] == ["a lock was not free within 0.05 s"] * 2
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')")
        assert cursor.fetchone() == ("0", "0")


def test_a_lock_that_stays_taken_ends_with_the_remedy(other, monkeypatch):
    monkeypatch.setattr(migration, "ATTEMPTS_MAX", 2)
    other.execute(LOCK_TABLE)
    with pytest.raises(CommandError, match=r"expected a free lock within 0.05 s, found it taken in 2 attempts\. "):
        migration.migrate(0.05, 60, lambda _: None, lambda _: None)


def test_a_slow_statement_ends_with_the_remedy(monkeypatch):
    def slow(*_args, **_options):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")

    monkeypatch.setattr(migration, "call_command", slow)
    with pytest.raises(CommandError, match="Set MIGRATION_STATEMENT_S to a longer time"):
        migration.migrate(1, 0.05, lambda _: None)


def test_another_error_is_not_repeated(monkeypatch):
    def fail(*_args, **_options):
        raise OperationalError("the server is gone")

    monkeypatch.setattr(migration, "call_command", fail)
    with pytest.raises(OperationalError, match="the server is gone"):
        migration.migrate(1, 1, lambda _: None, lambda _: pytest.fail("a pause"))


def test_a_preparation_waits_for_another_one_longer_than_for_a_lock(other, monkeypatch):
    monkeypatch.setattr(migration, "ATTEMPTS_MAX", 2)
    other.execute("SELECT pg_advisory_lock(%s)", [migration.PREPARING])
    reports, pauses = [], []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 5:
            other.execute("SELECT pg_advisory_unlock_all()")

    migration.migrate(0.05, 60, reports.append, pause)
    assert len(pauses) == 5
    assert reports == ["waiting for another `manage.py prepare` of this database to end"]
    # It has given the lock back.
    assert other.execute("SELECT pg_try_advisory_lock(%s)", [migration.PREPARING]).fetchone() == (True,)


@pytest.fixture
def answers(monkeypatch):
    """Return the errors with which the database answers, the next one first; then it accepts connections."""
    errors = []
    connect = connection.ensure_connection

    def ensure_connection():
        if errors:
            raise OperationalError(errors.pop(0))
        connect()

    monkeypatch.setattr(connection, "ensure_connection", ensure_connection)
    return errors


def test_a_database_that_starts_late_is_waited_for(answers):
    answers += ["connection refused", "the database system is starting up"]
    reports, pauses = [], []
    migration.migrate(1, 60, reports.append, pauses.append)
    assert pauses == [migration.PAUSE_S] * 2
    assert reports == ["waiting for the database, 300 s at most: connection refused"]


@pytest.mark.parametrize(("address", "wait_s"), [(settings.DATABASE_URL, 0), ("", 300)])
def test_a_database_that_does_not_start_or_is_not_named_ends_with_the_remedy(answers, monkeypatch, address, wait_s):
    monkeypatch.setattr(migration, "DATABASE_WAIT_S", wait_s)
    monkeypatch.setattr(settings, "DATABASE_URL", address)
    answers += ["connection refused"] * 9
    with pytest.raises(CommandError, match=r"after 0 s: connection refused\. Start PostgreSQL or correct"):
        migration.migrate(1, 60, lambda _: None, lambda _: pytest.fail("a pause"))
    answers.clear()
