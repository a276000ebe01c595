"""The closing of an account: what ends, what is emptied, what stays, and when it is refused."""

from urllib.parse import urlencode

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core import mail
from django.db import connection
from django.test import Client

from results.history import record_event
from results.models import Event, Run, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, send
from tests.results.rows import from_a_log, make_product, make_run
from tests.webapp.accounts.test_second_factor import set_up_app
from webapp.accounts.audit.trail import Actor
from webapp.accounts.models import AccountEvent, Invitation, Role, User
from webapp.accounts.privacy.closing import ClosingRefusedError, close_account, obstacles
from webapp.accounts.tokens.rules import find_token, issue_token

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def vera(exemplar):
    return make_user("vera", exemplar, password=PASSWORD, email="vera@example.org")


@pytest.fixture
def browser(vera):
    client = Client()
    client.post("/accounts/login/", {"login": "vera", "password": PASSWORD})
    return client


def test_a_closed_account_opens_nothing(browser, vera, exemplar):
    other, (token, secret) = Client(), issue_token(vera, exemplar, "of vera")
    other.post("/accounts/login/", {"login": "vera", "password": PASSWORD})
    set_up_app(browser)
    assert "Your account is closed" in browser.post("/accounts/close/", {"username": "vera"}).text
    for client in (browser, other):
        assert client.get("/submissions/").status_code == 302
    for login in ("vera", "vera@example.org", f"closed:{vera.pk}"):
        answer = Client().post("/accounts/login/", {"login": login, "password": PASSWORD})
        assert "not signed in" in answer.text, login
    assert find_token(secret) is None
    token.refresh_from_db()
    assert (token.revoked_at is not None, token.name) == (True, "")
    assert not UserSession.objects.exists()
    assert not Authenticator.objects.exists()
    mail.outbox.clear()
    Client().post("/accounts/password/reset/", {"email": "vera@example.org"})
    assert "/password/reset/key/" not in "".join(message.body for message in mail.outbox)


def test_everything_personal_is_emptied(browser, vera):
    User.objects.filter(pk=vera.pk).update(first_name="Vera", last_name="Last", is_reviewer=True, is_operator=True)
    browser.post("/accounts/close/", {"username": "vera"})
    closed = User.objects.get(pk=vera.pk)
    assert (closed.username, closed.email, closed.first_name, closed.last_name) == (f"closed:{vera.pk}", "", "", "")
    assert (closed.is_active, closed.is_reviewer, closed.is_operator, closed.is_superuser) == (False,) * 4
    assert (closed.last_login, closed.has_usable_password()) == (None, False)
    assert closed.closed_at is not None
    assert not EmailAddress.objects.exists()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT count(*) FROM {table} AS row WHERE row::text ~* 'vera'")  # noqa: S608
            assert cursor.fetchone()[0] == 0, table


def test_the_address_can_be_used_for_a_new_account(browser):
    browser.post("/accounts/close/", {"username": "vera"})
    client = Client()
    client.post("/accounts/signup/", {"email": "vera@example.org", "username": "vera", "password1": PASSWORD})
    assert User.objects.filter(username="vera").exists()


def test_closing_needs_the_user_name_and_a_recent_sign_in(browser, vera, as_user):
    assert "Expected your user name vera, got otto." in browser.post("/accounts/close/", {"username": "otto"}).text
    long_ago = as_user(vera)  # signed in without a password that allauth saw
    for path, back in [("/accounts/close/", "/accounts/close/"), ("/accounts/data/export.json", "/accounts/data/")]:
        answer = long_ago.get(path)
        assert answer.headers["Location"].startswith("/accounts/reauthenticate/"), path
        assert answer.headers["Location"].endswith(urlencode({"next": back})), path
    assert User.objects.get(pk=vera.pk).is_active


def test_histories_show_a_former_member_instead_of_the_name(browser, vera, rita, as_user):
    run = make_run(make_product(), visibility="unreviewed", **from_a_log())
    record_event(vera, "run-annotated", ("run", run.public_id), "sentence")
    before = as_user(rita).get(f"/review/runs/{run.public_id}/").text
    assert " by vera" in before
    Run.objects.update(visibility="public")
    browser.post("/accounts/close/", {"username": "vera"})
    Run.objects.update(visibility="unreviewed")
    page = as_user(rita).get(f"/review/runs/{run.public_id}/").text
    assert " by former member of Exemplar" in page
    assert "vera" not in page
    assert Event.objects.get(kind="run-annotated").actor_id == vera.pk


def test_a_user_without_an_organisation_becomes_a_former_user(db):
    nora = make_user("nora")
    close_account(Actor(nora))
    assert User.objects.get(pk=nora.pk).shown_name == "former user"


def test_the_trail_of_an_organisation_names_only_that_organisation(browser, vera, exemplar, as_user):
    second = make_organisation("second")
    otto = make_user("otto", second)
    vera.memberships.create(organisation=second, role=Role.VIEWER)
    browser.post("/accounts/close/", {"username": "vera"})
    page = as_user(otto).get("/accounts/organisations/second/events/").text
    assert "former member of Second" in page
    assert "Exemplar" not in page
    kinds = list(AccountEvent.objects.filter(subject=vera).order_by("pk").values_list("kind", flat=True))
    assert kinds == ["signed-in", "member-left", "member-left", "account-closed", "signed-out"]


def test_the_only_owner_with_other_members_transfers_the_ownership_first(browser, vera, exemplar):
    sue = make_user("sue")
    sue.memberships.create(organisation=exemplar, role=Role.VIEWER)
    answer = browser.post("/accounts/close/", {"username": "vera"})
    assert answer.status_code == 409
    assert "You are the only owner of Exemplar, and it has other members. Transfer its ownership first" in answer.text
    assert "Transfer its ownership first" in browser.get("/accounts/data/").text
    assert vera.memberships.exists()
    sue.memberships.update(role=Role.OWNER)
    assert browser.post("/accounts/close/", {"username": "vera"}).status_code == 200
    assert not vera.memberships.exists()


def test_a_closed_account_does_not_count_as_another_member(vera, exemplar):
    sue = make_user("sue", is_active=False)
    sue.memberships.create(organisation=exemplar, role=Role.VIEWER)
    assert obstacles(vera) == []


@pytest.mark.parametrize(
    ("visibility", "is_refused"),
    [("unreviewed", True), ("embargoed", True), ("public", False), ("withdrawn", False), ("retracted", False)],
)
def test_the_only_owner_stays_until_nothing_of_the_organisation_waits(visibility, is_refused):
    run = make_run(make_product(), visibility=visibility, **from_a_log())
    submission = Submission.objects.get()
    nora = make_user("nora", submission.organisation)
    found = obstacles(nora)
    assert len(found) == is_refused, found
    if is_refused:
        assert f"1 of its submissions are not published yet, such as {submission.public_id}" in found[0]
        with pytest.raises(ClosingRefusedError, match="Invite another owner"):
            close_account(Actor(nora))
        make_user("sue", submission.organisation)
    close_account(Actor(nora))
    assert Run.objects.get(pk=run.pk).submission_id == submission.pk


def test_members_who_own_nothing_close_at_once(exemplar, stand_in, evidence_dir):
    make_user("nora", exemplar)
    sue = make_user("sue")
    sue.memberships.create(organisation=exemplar, role=Role.SUBMITTER)
    submission = send(exemplar, log_bytes("bom-utf8"), sue)
    close_account(Actor(sue))
    submission.refresh_from_db()
    assert submission.submitted_by.shown_name == "former member of Exemplar"


def test_the_invitations_of_a_closed_account_end(vera, exemplar):
    make_user("nora", exemplar)
    for email in ("vera@example.org", "friend@example.org"):
        Invitation.objects.create(
            organisation=exemplar, email=email, role=Role.VIEWER, digest=email, invited_by=vera,
            expires_at="2999-01-01T00:00Z",
        )  # fmt: skip
    close_account(Actor(vera))
    assert [(each.email, each.revoked_at is not None) for each in Invitation.objects.all()] == [
        ("friend@example.org", True)
    ]
