import pytest
from django.db import OperationalError, connection, transaction
from django.test import RequestFactory

from webapp.register.snapshots.database_down import DatabaseAwayMiddleware

pytestmark = pytest.mark.django_db


def answer_to(state):
    """Return the response of a page whose statement fails with the given SQLSTATE of PostgreSQL."""
    middleware = DatabaseAwayMiddleware(lambda request: None)
    with pytest.raises(OperationalError) as failed, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$")
    return middleware.process_exception(RequestFactory().get("/api/v1/runs/"), failed.value)


def test_a_statement_timeout_is_reported_as_a_database_that_does_not_answer():
    assert answer_to("57014").status_code == 503


def test_another_error_of_an_answering_database_is_left_to_django():
    assert answer_to("40P01") is None
