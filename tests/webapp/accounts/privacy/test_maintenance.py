"""The periodic removal of addresses, ended sessions and ended invitations."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.results.builders import make_user
from webapp.accounts.models import AccountEvent, Invitation
from webapp.accounts.tasks import remove_personal_data

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
DAYS_90, MOMENT = timedelta(days=90), timedelta(minutes=1)
AGES = pytest.mark.parametrize(("age", "is_kept"), [(DAYS_90 - MOMENT, True), (DAYS_90 + MOMENT, False)])


@pytest.fixture
def vera(exemplar):
    return make_user("vera", exemplar, password=PASSWORD)


@pytest.fixture
def browser(vera):
    client = Client()
    client.post("/accounts/login/", {"login": "vera", "password": PASSWORD})
    return client


@AGES
def test_addresses_of_the_audit_trail_are_removed_after_90_days(vera, age, is_kept):
    kept = AccountEvent.objects.create(kind="signed-in", subject=vera, address="192.0.2.7", at=timezone.now() - age)
    remove_personal_data()
    kept.refresh_from_db()
    assert (kept.address == "192.0.2.7") == is_kept
    assert (kept.kind, kept.subject) == ("signed-in", vera)


@AGES
def test_addresses_of_sessions_are_removed_after_90_days(browser, age, is_kept):
    UserSession.objects.update(created_at=timezone.now() - age)
    remove_personal_data()
    assert (UserSession.objects.get().ip == "127.0.0.1") == is_kept
    page = browser.get("/accounts/sessions/").text
    assert ("not stored" in page) != is_kept
    assert browser.get("/submissions/").status_code == 200, "the session has ended"


def test_ended_sessions_are_removed_with_their_browsers_and_addresses(browser):
    other = Client()
    other.post("/accounts/login/", {"login": "vera", "password": PASSWORD})
    ended = UserSession.objects.order_by("-pk")[0]
    Session.objects.filter(session_key=ended.session_key).update(expire_date=timezone.now() - MOMENT)
    remove_personal_data()
    assert UserSession.objects.count() == Session.objects.count() == 1
    assert browser.get("/submissions/").status_code == 200


@AGES
@pytest.mark.parametrize("end", ["accepted_at", "revoked_at", "expires_at"])
def test_invitations_are_removed_90_days_after_their_end(vera, exemplar, end, age, is_kept):
    columns = {"expires_at": timezone.now() + DAYS_90} | {end: timezone.now() - age}
    exemplar.invitations.create(email="a@example.org", role="viewer", digest="a", invited_by=vera, **columns)
    remove_personal_data()
    assert Invitation.objects.exists() == is_kept


def test_the_task_is_periodic():
    assert ("accounts.remove_personal_data", 3600) in [(task, period) for _, task, period, _ in settings.PERIODIC_TASKS]
