"""Limits on wrong passwords, which stop strangers and not the owner of the account."""

import logging
import re
from ipaddress import ip_network

import pytest
from allauth.usersessions.models import UserSession
from django.core import signing
from django.test import Client

from tests.results.builders import make_organisation, make_user
from tests.results.fixtures import no_broker
from webapp.access_limits import process_limits
from webapp.accounts import throttle

pytestmark = pytest.mark.django_db
__all__ = ["no_broker"]

PASSWORD = "correct horse battery"


def sign_in(client, login="vera", password=PASSWORD, **headers):
    return client.post("/accounts/login/", {"login": login, "password": password}, **headers)


def tries(count, **options):
    """Return the answers to wrong passwords, each from a new browser."""
    return [sign_in(Client(), password=f"wrong {number}", **options) for number in range(count)]


@pytest.fixture
def vera():
    return make_user("vera", make_organisation(), password=PASSWORD)


@pytest.fixture
def known_browser(vera):
    """A browser in which vera signed in and out before."""
    client = Client()
    sign_in(client)
    client.post("/accounts/logout/")
    return client


def test_the_11th_wrong_password_from_a_network_is_refused_and_the_page_says_until_when(vera):
    answers = [sign_in(Client(), login=f"user-{number}", password="wrong") for number in range(20)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 10
    wait_s = int(answers[-1].headers["Retry-After"])
    assert 890 <= wait_s <= 900
    assert "Try again in <b>15\N{NO-BREAK SPACE}min</b>" in answers[-1].text
    assert sign_in(Client()).status_code == 429, "a right password from there tells that it is right"


def test_a_forged_header_does_not_make_another_network(vera):
    answers = [
        sign_in(Client(), login=f"user-{number}", password="wrong", headers={"X-Forwarded-For": f"203.0.113.{number}"})
        for number in range(20)
    ]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 10


def test_behind_an_own_proxy_a_forged_header_does_not_make_another_network(vera, settings):
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    proxy = {"REMOTE_ADDR": "10.0.0.1"}
    answers = [
        sign_in(Client(), f"user-{n}", "wrong", headers={"X-Forwarded-For": f"203.0.113.{n}, 198.51.100.7"}, **proxy)
        for n in range(20)
    ]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 10
    assert all(answer.headers["Retry-After"] for answer in answers[10:])
    assert sign_in(Client(), headers={"X-Forwarded-For": "198.51.100.8"}, **proxy).status_code == 302
    assert UserSession.objects.get().ip == "198.51.100.8"


@pytest.mark.parametrize("login", ["vera", "VERA", "vera@example.org", "nobody"])
def test_the_11th_wrong_password_of_an_account_is_refused_from_every_network(vera, login):
    answers = [sign_in(Client(), login, "wrong", REMOTE_ADDR=f"192.0.2.{number}") for number in range(12)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2


def test_the_name_and_the_address_of_an_account_share_its_limit(vera):
    for number in range(10):
        sign_in(Client(), ["vera", "vera@example.org"][number % 2], "wrong", REMOTE_ADDR=f"192.0.2.{number}")
    assert sign_in(Client(), REMOTE_ADDR="192.0.2.99").status_code == 429


def test_meanwhile_the_owner_signs_in_from_a_browser_that_signed_in_before(known_browser):
    assert tries(12)[-1].status_code == 429
    passkey = Client().get("/accounts/2fa/webauthn/login/", headers={"accept": "application/json"})
    assert passkey.status_code == 200, "a passkey must work as well"
    assert sign_in(known_browser).headers["Location"] == "/submissions/"


def test_a_known_browser_has_a_limit_of_its_own(known_browser):
    answers = [sign_in(known_browser, password="wrong") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert sign_in(Client(), REMOTE_ADDR="192.0.2.1").status_code == 302


def test_a_browser_is_known_only_to_the_accounts_that_signed_in_there(known_browser):
    make_user("otto", password=PASSWORD)
    tries(12, login="otto")
    assert sign_in(known_browser, login="otto").status_code == 429


def test_the_cookie_names_no_secret_and_cannot_be_made_by_a_client(known_browser, vera):
    morsel = known_browser.cookies["known_browser"]
    assert (morsel["path"], morsel["httponly"], morsel["samesite"]) == ("/accounts/", True, "Lax")
    value = signing.loads(morsel.value, salt=throttle.COOKIE)
    assert set(value) == {"browser", "accounts"}
    assert value["accounts"] == [vera.pk]
    tries(12)
    forged = Client()
    forged.cookies["known_browser"] = signing.dumps(value, key="another key", salt=throttle.COOKIE)
    assert sign_in(forged).status_code == 429


def test_right_passwords_do_not_count(vera):
    assert {sign_in(Client()).status_code for _ in range(12)} == {302}


def test_without_redis_each_process_counts_alone(vera, no_broker):
    assert [answer.status_code for answer in tries(11)] == [200] * 10 + [429]
    assert sign_in(Client(), login="nobody", REMOTE_ADDR="192.0.2.1").status_code == 200
    make_user("otto", password=PASSWORD)
    assert sign_in(Client(), login="otto", REMOTE_ADDR="192.0.2.1").status_code == 302


def test_a_process_forgets_the_oldest_counts_when_clients_invent_names(no_broker, monkeypatch):
    monkeypatch.setattr(process_limits, "KEYS_MAX", 3)
    for number in range(9):
        process_limits.take(throttle.OF_ACCOUNT, f"name-{number}")
    assert len(process_limits._uses) == 3


def test_a_wrong_password_is_logged_without_what_was_entered(vera, caplog):
    with caplog.at_level(logging.WARNING):
        sign_in(Client(), password="my wrong password")
        sign_in(Client(), login="my password as a name", password="x")
    lines = [record.getMessage() for record in caplog.records if record.name == "webapp.accounts.adapters"]
    assert lines == ["wrong password for vera from 127.0.0.1", "wrong password for an unknown account from 127.0.0.1"]
    assert not re.search("my .*password", caplog.text)


def test_a_refused_try_is_logged_with_its_limit(vera, caplog):
    with caplog.at_level(logging.WARNING):
        tries(11)
    assert "too many wrong passwords: wrong-passwords-of-network for 127.0.0.1" in caplog.text


def test_other_requests_of_accounts_have_limits_too():
    answers = [Client().post("/accounts/password/reset/", {"email": "vera@example.org"}).status_code for _ in range(6)]
    assert answers == [302] * 5 + [429]
    refused = Client().post("/accounts/password/reset/", {"email": "vera@example.org"})
    assert refused.headers["Retry-After"] == "900"
