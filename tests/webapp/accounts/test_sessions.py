"""Sessions: their list, their end, and what a dump of the database contains of them."""

import re
import subprocess

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.db import SessionStore as DjangoSessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from results.access.links import renew_link
from tests.results.builders import make_organisation, make_user, send
from tests.webapp.accounts.test_second_factor import codes_of, set_up_app
from webapp.accounts.sessions import hash_key
from webapp.accounts.tokens.rules import issue_token
from webapp.embedded import find_postgres

pytestmark = pytest.mark.django_db

PASSWORD, NEW = "correct horse battery", "another long password"
COOKIE = "sessionid"


@pytest.fixture
def vera():
    return make_user("vera", make_organisation(), password=PASSWORD)


@pytest.fixture
def signed_in(vera):
    """Return a function that returns a browser in which vera signed in."""

    def sign_in(password=PASSWORD, **headers):
        client = Client(headers=headers)
        answer = client.post("/accounts/login/", {"login": "vera", "password": password})
        assert answer.headers["Location"] == "/submissions/"
        return client

    return sign_in


def is_signed_in(client):
    return client.get("/submissions/").status_code == 200


def test_users_list_their_sessions_and_end_them(signed_in, as_user):
    own, other, third = signed_in(), signed_in(user_agent="Firefox <2>"), signed_in()
    page = own.get("/accounts/sessions/").text
    assert page.count("End session<") == 2
    assert "Firefox &lt;2&gt;" in page

    session = UserSession.objects.get(user_agent="Firefox <2>")
    assert as_user(make_user("otto")).post(f"/accounts/sessions/{session.pk}/end/").status_code == 404
    assert is_signed_in(other)
    own.post(f"/accounts/sessions/{session.pk}/end/")
    assert [is_signed_in(client) for client in (own, other, third)] == [True, False, True]
    own.post("/accounts/sessions/")
    assert [is_signed_in(client) for client in (own, third)] == [True, False]


def test_a_password_change_ends_the_other_sessions(signed_in, vera):
    own, stolen = signed_in(), signed_in()
    form = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    assert own.post("/accounts/password/change/", form).status_code == 302
    assert Session.objects.count() == 1
    assert [is_signed_in(client) for client in (own, stolen)] == [True, False]
    assert own.get("/accounts/sessions/").text.count("this browser") == 1
    assert UserSession.objects.count() == 1
    assert is_signed_in(signed_in(NEW))


def test_a_session_has_a_new_key_after_the_sign_in(vera):
    client = Client()
    client.post("/accounts/signup/", {})
    client.get("/accounts/2fa/webauthn/login/", headers={"accept": "application/json"})
    before = client.cookies[COOKIE].value
    client.post("/accounts/login/", {"login": "vera", "password": PASSWORD})
    assert client.cookies[COOKIE].value != before


def test_the_cookie_has_the_key_and_the_database_its_hash(signed_in):
    client = signed_in()
    key = client.cookies[COOKIE].value
    assert re.fullmatch(r"[A-Za-z0-9]{32}", key)
    assert Session.objects.get().session_key == UserSession.objects.get().session_key == hash_key(key)
    with_hash = Client()
    with_hash.cookies[COOKIE] = hash_key(key)
    assert not is_signed_in(with_hash)


def test_signing_out_removes_the_session_and_its_cookie(signed_in):
    client = signed_in()
    client.post("/accounts/logout/")
    assert client.cookies[COOKIE].value == ""
    assert Session.objects.count() == 0


def test_after_the_loss_of_the_key_users_sign_in_again(signed_in, settings):
    client = signed_in()
    settings.ENCRYPTION_KEYS = ["another"]
    assert not is_signed_in(client)
    assert is_signed_in(signed_in())


def dump_of_database():
    """Return all rows of the test database as text."""
    stated = connection.settings_dict
    command = [find_postgres() / "pg_dump", "--data-only", f"--host={stated['HOST']}", f"--username={stated['USER']}"]
    options = [f"--port={stated['PORT']}"] if stated["PORT"] else []
    environment = {"PGPASSWORD": stated["PASSWORD"], "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*command, *options, stated["NAME"]], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


@pytest.mark.django_db(transaction=True)
def test_a_dump_of_the_database_contains_no_usable_secret(signed_in, vera, evidence_dir):
    client = signed_in()
    client.get("/accounts/2fa/totp/activate/")
    page = client.get("/accounts/2fa/totp/activate/").text
    pending = re.search(r'class="mono">((?:\w{4} ?){8})<', page)[1].replace(" ", "")
    app = set_up_app(client)
    recovery = re.findall(r"^(?:<pre[^>]*>)?(\d{8})$", client.get("/accounts/2fa/recovery-codes/").text, re.MULTILINE)
    _, token = issue_token(vera, vera.memberships.get().organisation, "script")
    link = renew_link(send(vera.memberships.get().organisation, b"a log", vera), vera)
    secrets = [PASSWORD, app, pending, token, link, client.cookies[COOKIE].value, *recovery, codes_of(app)[1]]

    dump = dump_of_database()
    assert "vera@example.org" in dump, "the dump has no rows"
    assert [secret for secret in secrets if secret in dump] == []
    # Who knows SECRET_KEY besides decodes nothing from the sessions.
    assert [DjangoSessionStore().decode(data) for data in Session.objects.values_list("session_data", flat=True)] == [
        {}
    ]
