"""The time limit for a database server that accepts a query and does not answer."""

import subprocess
import sys

import psycopg
import pytest
from django.db import OperationalError, connection

from webapp.database.base import ANSWER_MOST_S, BoundedConnection

pytestmark = pytest.mark.django_db


@pytest.fixture
def own():
    """A separate connection, which may be lost."""
    made = connection.copy()
    made.ensure_connection()
    yield made
    made.close()


def silent_server():
    """Wait as a client of a frozen server does, for two seconds: there is nothing to read."""
    for _ in range(20):
        yield psycopg.waiting.Wait.R


def test_a_server_that_does_not_answer_in_time_is_abandoned(own, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "answer_most_s", 0)
    with pytest.raises(psycopg.OperationalError, match="expected an answer in 0 s, got none"):
        own.connection.wait(silent_server())
    assert own.connection.closed


def test_the_next_page_replaces_an_abandoned_connection(own):
    own.connection.close()
    with pytest.raises(OperationalError), own.cursor() as cursor:
        cursor.execute("SELECT 1")
    own.close_if_unusable_or_obsolete()
    with own.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


@pytest.mark.parametrize(
    ("limit_s", "given", "expected"),
    [(None, {}, "0"), (30, {}, "25s"), (30, {"options": "-c statement_timeout=3s"}, "3s")],
)
def test_the_server_ends_a_statement_before_its_client_abandons_it(monkeypatch, limit_s, given, expected):
    monkeypatch.setattr(BoundedConnection, "answer_most_s", limit_s)
    made = connection.copy()
    made.settings_dict = made.settings_dict | {"OPTIONS": made.settings_dict["OPTIONS"] | given}
    with made.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == (expected,)
    made.close()


def test_a_process_that_serves_no_pages_waits_without_a_limit():
    assert BoundedConnection.answer_most_s is None


def test_a_process_that_serves_pages_has_the_limit():
    script = "import webapp.wsgi; from webapp.database.base import BoundedConnection as c; print(c.answer_most_s)"
    served = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert served.stdout.strip() == str(ANSWER_MOST_S)
