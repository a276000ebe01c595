import pytest
from django.db import OperationalError, connection
from django.test import RequestFactory

from webapp.register.snapshots.away import DatabaseAwayMiddleware

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer(transactional_db):
    """Return what a page answers whose statement fails so."""

    def run(statement):
        middleware = DatabaseAwayMiddleware(lambda request: None)
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '1ms'")
            with pytest.raises(OperationalError) as failed:
                cursor.execute(statement)
            cursor.execute("RESET statement_timeout")
        return middleware.process_exception(RequestFactory().get("/api/v1/runs/"), failed.value)

    return run


def test_a_statement_that_took_too_long_is_told_as_a_database_that_does_not_answer(answer):
    assert answer("SELECT pg_sleep(60)").status_code == 503


def test_another_failure_of_a_database_that_answers_is_left_to_django(answer):
    assert answer("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$") is None
