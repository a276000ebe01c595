"""Migrations within limits: a taken lock is tried again, a slow statement ends, each with its remedy."""

import threading

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


def test_two_preparations_run_one_after_the_other(other):
    other.execute("SELECT pg_advisory_lock(%s)", [migration.PREPARING])
    waited = threading.Event()

    def pause(_seconds):
        waited.set()
        other.execute("SELECT pg_advisory_unlock_all()")

    migration.migrate(0.05, 60, lambda _: None, pause)
    assert waited.is_set()
