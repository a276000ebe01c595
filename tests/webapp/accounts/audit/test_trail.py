"""The audit trail: what is recorded of sign-ins, changes, tokens, memberships, roles and commands."""

import re

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client

from tests.results.builders import make_organisation, make_user
from tests.webapp.accounts.test_second_factor import set_up_app
from webapp.accounts.audit.sentences import SENTENCES
from webapp.accounts.audit.trail import COMMAND, Actor, Kind, record
from webapp.accounts.models import AccountEvent, Role, User
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db

PASSWORD, NEW = "correct horse battery", "another long password"
ADDRESS = "192.0.2.7"


@pytest.fixture
def vera(exemplar):
    return make_user("vera", exemplar, password=PASSWORD)


@pytest.fixture
def browser():
    return Client(REMOTE_ADDR=ADDRESS)


def sign_in(client, login="vera", password=PASSWORD):
    return client.post("/accounts/login/", {"login": login, "password": password})


def recorded(*kinds):
    """Return kind, actor, subject, organisation and address of the entries, the oldest first."""
    events = AccountEvent.objects.order_by("pk")
    events = events.filter(kind__in=kinds) if kinds else events
    return [
        (
            each.kind,
            str(each.actor or ""),
            str(each.subject or ""),
            each.organisation and each.organisation.slug,
            each.address,
        )
        for each in events
    ]


def test_sign_ins_and_sign_outs_are_recorded_with_the_address(browser, vera):
    sign_in(browser, password="wrong wrong wrong")
    sign_in(browser)
    browser.post("/accounts/logout/")
    assert recorded() == [
        ("sign-in-failed", "", "vera", None, ADDRESS),
        ("signed-in", "vera", "vera", None, ADDRESS),
        ("signed-out", "vera", "vera", None, ADDRESS),
    ]
    assert AccountEvent.objects.get(kind="signed-in").details == {"methods": ["password"]}


def test_a_wrong_password_for_an_unknown_name_is_not_recorded(browser, vera):
    sign_in(browser, login="nobody", password="a password that was typed")
    assert recorded() == []


def test_a_sign_up_and_the_verified_address_are_recorded(browser):
    browser.post("/accounts/signup/", {"email": "nora@example.org", "username": "nora", "password1": PASSWORD})
    browser.post(re.search(r"http://testserver(/accounts/\S+)", mail.outbox[0].body)[1])
    kinds = [kind for kind, _, subject, _, address in recorded() if (subject, address) == ("nora", ADDRESS)]
    assert kinds == ["account-created", "address-verified", "signed-in"]


def test_changes_of_password_and_address_are_recorded(browser, vera):
    sign_in(browser)
    browser.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    browser.post("/accounts/email/", {"action_add": "1", "email": "new@example.org"})
    browser.post(re.search(r"http://testserver(/accounts/confirm-email/\S+)", mail.outbox[-1].body)[1])
    assert [each[0] for each in recorded()] == ["signed-in", "password-changed", "address-entered", "address-verified"]


def test_a_reset_password_is_recorded(browser, vera):
    browser.post("/accounts/password/reset/", {"email": "vera@example.org"})
    link = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", mail.outbox[0].body)[1]
    form = browser.get(link, follow=True).redirect_chain[-1][0]
    browser.post(form, {"password1": NEW, "password2": NEW})
    assert ("password-reset", "vera", "vera", None, ADDRESS) in recorded()


def test_the_end_of_other_sessions_is_recorded(browser, vera):
    others = [Client(), Client(), Client()]
    for client in (browser, *others):
        sign_in(client)
    session = re.search(r"/accounts/sessions/\d+/end/", browser.get("/accounts/sessions/").text)[0]
    browser.post(session)
    assert recorded("session-ended") == [("session-ended", "vera", "vera", None, ADDRESS)]
    browser.post("/accounts/sessions/")
    assert len(recorded("session-ended")) == 3


@pytest.mark.django_db(transaction=True)  # allauth reports new factors once they are committed
def test_second_factors_are_recorded(browser, vera):
    sign_in(browser)
    set_up_app(browser)
    browser.post("/accounts/2fa/recovery-codes/generate/")
    browser.post("/accounts/2fa/totp/deactivate/")
    kinds = [(each.kind, each.details.get("type")) for each in AccountEvent.objects.order_by("pk")[1:]]
    assert kinds == [
        ("second-factor-added", "totp"),
        ("second-factor-added", "recovery_codes"),
        ("recovery-codes-replaced", None),
        ("second-factor-removed", "totp"),
        ("second-factor-removed", "recovery_codes"),
    ]


def test_a_wrong_code_is_recorded_for_the_account(browser, vera):
    sign_in(browser)
    set_up_app(browser)
    other = Client(REMOTE_ADDR="198.51.100.1")
    sign_in(other)
    other.post("/accounts/2fa/authenticate/", {"code": "000000"})
    assert recorded("second-factor-failed") == [("second-factor-failed", "", "vera", None, "198.51.100.1")]


def test_tokens_are_recorded_once_each(browser, vera, exemplar):
    browser.force_login(vera)
    browser.post("/accounts/tokens/", {"name": "script", "organisation": exemplar.pk})
    token = vera.api_tokens.get()
    for _ in range(2):
        browser.post(f"/accounts/tokens/{token.pk}/revoke/")
    assert recorded() == [
        ("token-created", "vera", "vera", "exemplar", ADDRESS),
        ("token-revoked", "vera", "vera", "exemplar", ADDRESS),
    ]
    assert {event.details["token"] for event in AccountEvent.objects.all()} == {token.pk}


def test_organisations_members_and_invitations_are_recorded(browser, vera):
    nora, oscar = make_user("nora"), make_user("oscar", is_operator=True)
    browser.force_login(vera)
    browser.post("/accounts/organisation/new/", {"name": "New", "kind": "lab", "website": "new.example"})
    slug = vera.memberships.order_by("-pk")[0].organisation.slug
    members, invitations = f"/accounts/organisations/{slug}/members/", f"/accounts/organisations/{slug}/invitations/"
    browser.post(members, {"email": "nora@example.org", "role": "submitter"})
    number = AccountEvent.objects.get(kind="invitation-sent").details["invitation"]
    browser.post(f"{invitations}{number}/renew/")
    invited = Client()
    invited.force_login(nora)
    invited.post(f"/accounts/invitation/{number}/accept/")
    browser.post(f"{members}{nora.pk}/role/", {"role": "viewer"})
    browser.post(f"{members}{nora.pk}/remove/")
    browser.post(members, {"email": "ned@example.org", "role": "viewer"})
    browser.post(f"{invitations}{number + 1}/revoke/")
    operator = Client()
    operator.force_login(oscar)
    operator.post(f"/accounts/organisations/{slug}/confirm/", {"name": "New"})
    assert [each[:4] for each in recorded()] == [
        ("organisation-created", "vera", "vera", slug),
        ("invitation-sent", "vera", "", slug),
        ("invitation-renewed", "vera", "", slug),
        ("member-joined", "nora", "nora", slug),
        ("member-role-changed", "vera", "nora", slug),
        ("member-removed", "vera", "nora", slug),
        ("invitation-sent", "vera", "", slug),
        ("invitation-revoked", "vera", "", slug),
        ("organisation-confirmed", "oscar", "", slug),
    ]
    changed = AccountEvent.objects.get(kind="member-role-changed")
    assert changed.details == {"before": "submitter", "after": "viewer"}


def test_commands_are_recorded_without_an_actor(capsys):
    call_command("add_organisation", "acme", "Acme")
    call_command("add_user", "mia", "--organisation", "acme", "--role", "viewer", "--email", "mia@example.org")
    call_command("add_user", "mia", "--reviewer", "--organisation", "acme")
    call_command("add_user", "mia", "--reviewer")
    call_command("add_user", "mia", "--no-reviewer")
    call_command("reset_second_factor", "mia")
    assert recorded() == [
        ("organisation-created", "", "", "acme", None),
        ("organisation-confirmed", "", "", "acme", None),
        ("account-created", "", "mia", None, None),
        ("member-joined", "", "mia", "acme", None),
        ("address-verified", "", "mia", None, None),
        ("register-role-granted", "", "mia", None, None),
        ("register-role-ended", "", "mia", None, None),
        ("second-factors-reset", "", "mia", None, None),
    ]


def test_no_entry_contains_a_name_or_a_mail_address(browser, vera, exemplar):
    sign_in(browser)
    browser.post("/accounts/tokens/", {"name": "private name", "organisation": exemplar.pk})
    browser.post("/accounts/organisations/exemplar/members/", {"email": "nora@example.org", "role": "viewer"})
    with connection.cursor() as cursor:
        cursor.execute("SELECT event::text FROM accounts_accountevent AS event")
        rows = [row for (row,) in cursor.fetchall()]
    assert len(rows) == 3
    assert not [row for row in rows if "private name" in row or "@" in row or "vera" in row]


def test_the_database_allows_only_the_removal_of_an_address(vera, otto):
    event = record(Kind.SIGNED_IN, Actor(vera, ADDRESS), vera, methods=["password"])
    events = AccountEvent.objects.filter(pk=event.pk)
    refused = [
        {"kind": Kind.SIGNED_OUT}, {"actor": otto}, {"subject": None}, {"details": {}}, {"address": "192.0.2.8"},
        {"address": None, "actor": None}, {"at": "2026-01-01T00:00Z"},
        {"organisation": otto.memberships.get().organisation},
    ]  # fmt: skip
    for change in refused:
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            events.update(**change)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        events.delete()
    assert events.update(address=None) == 1
    event.refresh_from_db()
    assert (event.kind, event.actor, event.address) == ("signed-in", vera, None)


def test_each_kind_of_entry_has_a_sentence():
    assert set(SENTENCES) == set(Kind.values)


def test_users_read_their_own_entries_and_no_address_of_others(as_user, vera, otto, exemplar):
    sue = make_user("sue")
    membership = sue.memberships.create(organisation=exemplar, role=Role.SUBMITTER)
    record(Kind.SIGN_IN_FAILED, Actor(None, "198.51.100.1"), sue)
    record(Kind.SIGNED_IN, Actor(sue, "198.51.100.2"), sue, methods=["password", "mfa"])
    record(Kind.MEMBER_REMOVED, Actor(vera, "198.51.100.3"), sue, membership.organisation, role="submitter")
    record(Kind.SECOND_FACTORS_RESET, COMMAND, sue)
    page = as_user(sue).get("/accounts/events/").text
    for text in (
        "Sign-in failed: wrong password", "a client that did not sign in", "198.51.100.1",
        "Signed in with password, second factor", "198.51.100.2", "Removed from the organisation", ">vera<",
        "a command on the server",
    ):  # fmt: skip
        assert text in page, text
    assert "198.51.100.3" not in page
    assert "198.51.100.3" in as_user(vera).get("/accounts/events/").text
    assert "No event was recorded yet." in as_user(otto).get("/accounts/events/").text


def test_owners_read_the_entries_of_their_organisation_and_no_sign_ins(as_user, vera, otto, exemplar):
    sue = make_user("sue")
    sue.memberships.create(organisation=exemplar, role=Role.SUBMITTER)
    token, _ = issue_token(sue, exemplar, "night script")
    record(Kind.TOKEN_CREATED, Actor(sue, "198.51.100.2"), sue, exemplar, token=token.pk)
    record(Kind.SIGNED_IN, Actor(sue, "198.51.100.2"), sue)
    record(Kind.MEMBER_JOINED, Actor(otto), otto, make_organisation("foreign"), role="viewer")
    page = as_user(vera).get("/accounts/organisations/exemplar/events/").text
    assert "Token created: night script" in page
    assert "Signed in" not in page
    assert "198.51.100.2" not in page
    assert "otto" not in page
    for user in (sue, otto, make_user("rita", is_reviewer=True, is_operator=True)):
        assert as_user(user).get("/accounts/organisations/exemplar/events/").status_code == 404


def test_the_pages_show_50_entries_each(as_user, vera, connection_queries):
    for _ in range(51):
        record(Kind.SIGNED_IN, Actor(vera), vera)
    client = as_user(vera)
    with connection_queries() as queries:
        first = client.get("/accounts/events/").text
    assert first.count("<td>vera</td>") == 100
    assert 'href="?page=2"' in first
    assert client.get("/accounts/events/?page=2").text.count("<td>vera</td>") == 2
    assert len(queries) < 12


def test_the_first_user_of_a_register_is_recorded(tmp_path, settings):
    settings.DATA_DIR, settings.EMAIL_FILE_PATH = tmp_path, tmp_path / "mail"
    User.objects.all().delete()
    call_command("prepare", verbosity=0)
    assert [each[:4] for each in recorded()] == [
        ("account-created", "", "admin", None),
        ("member-joined", "", "admin", "this-lab"),
    ]
