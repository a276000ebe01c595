"""Sessions of reviewers and operators end a fixed time after the sign-in."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from tests.results.builders import make_organisation, make_user
from webapp.accounts import staff_sessions
from webapp.accounts.sessions import SessionStore, hash_key

pytestmark = pytest.mark.django_db


class Clock:
    """The clock of the rule alone: sessions and tokens of others keep the real one."""

    def __init__(self):
        self.now = 1_800_000_000.0

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(staff_sessions, "time", clock)
    return clock


@pytest.fixture
def signed_in():
    """Return a function that returns a browser in which a new person with these roles signed in."""

    def sign_in(**roles):
        user = make_user("olga", make_organisation())
        for role, has in roles.items():
            setattr(user, role, has)
        user.save()
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.mark.parametrize("role", ["is_reviewer", "is_operator"])
@pytest.mark.parametrize("page", ["/submissions/", "/accounts/sessions/"])
def test_a_session_of_staff_ends_after_its_period(signed_in, settings, clock, role, page):
    client = signed_in(**{role: True})
    clock.now += settings.STAFF_SESSION_S
    assert client.get(page).status_code == 200
    clock.now += 1
    answer = client.get(page)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next={page}")
    assert Session.objects.count() == 0


def test_a_session_of_an_earlier_release_ends_for_staff(signed_in):
    client = signed_in(is_operator=True)
    session = SessionStore(hash_key(client.cookies["sessionid"].value))
    del session[staff_sessions.SIGNED_IN_AT]
    session.save()
    assert client.get("/submissions/").status_code == 302


def test_other_users_stay_signed_in(signed_in, settings, clock):
    client = signed_in()
    clock.now += settings.STAFF_SESSION_S * 2
    assert client.get("/submissions/").status_code == 200
