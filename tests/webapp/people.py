"""Users in the tests of pages: vera of Exemplar, otto of Other, and rita, who reviews."""

import time

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.results.builders import make_organisation, make_user
from webapp.accounts.sessions import SessionStore, hash_key

AUTHENTICATED_AS = "account_authentication_methods_user"  # keys of django-allauth in the session
AUTHENTICATED_BY = "account_authentication_methods"


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


def enter_password(client):
    """Let the session of a client have a recent sign-in by password, as allauth records it."""
    session = SessionStore(hash_key(client.cookies[settings.SESSION_COOKIE_NAME].value))
    session[AUTHENTICATED_BY] = [{"method": "password", "at": time.time()}]
    session[AUTHENTICATED_AS] = session["_auth_user_id"]
    session.save()
