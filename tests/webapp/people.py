"""Users in the tests of pages: vera of Exemplar, otto of Other, and rita, who reviews."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.results.builders import make_organisation, make_user


@pytest.fixture
def exemplar(db):
    return make_organisation("exemplar")


@pytest.fixture
def vera(exemplar):
    return make_user("vera", exemplar)


@pytest.fixture
def otto(db):
    return make_user("otto", make_organisation("other"))


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def as_user():
    """Return a client that is signed in."""

    def sign_in(user) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def connection_queries():
    """Return a context that counts the queries within."""
    return lambda: CaptureQueriesContext(connection)
