"""Authenticator apps, recovery codes, their encryption, and the staff who need them."""

import json
import logging
import re
import time
from types import SimpleNamespace

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from tests.results.builders import make_organisation, make_user
from webapp.accounts.encryption import UnknownKeyError, decrypt, encrypt

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def vera():
    return make_user("vera", make_organisation(), password=PASSWORD)


def sign_in(client, login="vera"):
    return client.post("/accounts/login/", {"login": login, "password": PASSWORD})


def codes_of(secret):
    """Return the codes that an app shows 30 s ago, now and in 30 s."""
    return [format_hotp_value(hotp_value(secret, counter)) for counter in yield_hotp_counters_from_time()]


def set_up_app(client):
    """Set up an authenticator app; return its key."""
    page = client.get("/accounts/2fa/totp/activate/").text
    secret = re.search(r'class="mono">((?:\w{4} ?){8})<', page)[1].replace(" ", "")
    assert client.post("/accounts/2fa/totp/activate/", {"code": codes_of(secret)[0]}).status_code == 302
    return secret


@pytest.fixture
def app(vera):
    """The key of vera's authenticator app."""
    client = Client()
    sign_in(client)
    return set_up_app(client)


def test_the_password_alone_does_not_sign_in_once_an_app_is_set_up(app, client):
    assert sign_in(client).headers["Location"] == "/accounts/2fa/authenticate/"
    assert client.get("/submissions/").status_code == 302
    assert "Incorrect code" in client.post("/accounts/2fa/authenticate/", {"code": "000000"}).text
    assert client.post("/accounts/2fa/authenticate/", {"code": codes_of(app)[1]}).headers["Location"] == "/submissions/"
    assert client.get("/submissions/").status_code == 200


def test_a_code_works_once(app):
    code, answers = codes_of(app)[1], []
    for _ in range(2):
        client = Client()
        sign_in(client)
        answers.append(client.post("/accounts/2fa/authenticate/", {"code": code}).status_code)
    assert answers == [302, 200]


def test_the_6th_wrong_code_is_refused(app, client, caplog):
    sign_in(client)
    with caplog.at_level(logging.WARNING):
        answers = [client.post("/accounts/2fa/authenticate/", {"code": "000000"}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].headers["Retry-After"] == "900"
    assert "wrong code of a second factor for vera from 127.0.0.1" in caplog.text
    assert "000000" not in caplog.text


def test_each_recovery_code_replaces_the_second_factor_once(vera):
    first = Client()
    sign_in(first)
    set_up_app(first)
    shown = first.get("/accounts/2fa/recovery-codes/").text
    codes = re.findall(r"^(?:<pre[^>]*>)?(\d{8})$", shown, re.MULTILINE)
    assert len(codes) == 10
    answers = []
    for _ in range(2):
        client = Client()
        sign_in(client)
        answers.append(client.post("/accounts/2fa/authenticate/", {"code": codes[3]}).status_code)
    assert answers == [302, 200]


@pytest.mark.django_db(transaction=True)  # mails are sent after a commit
def test_setting_up_and_removing_an_app_is_reported_by_mail(vera, client):
    sign_in(client)
    set_up_app(client)
    client.post("/accounts/2fa/totp/deactivate/")
    assert [message.subject for message in mail.outbox] == [
        "An authenticator app was set up", "The authenticator app was removed"
    ]  # fmt: skip
    assert not Authenticator.objects.exists(), "recovery codes of no second factor are left"


def test_a_change_long_after_the_sign_in_needs_the_password_again(vera, client, monkeypatch):
    sign_in(client)
    assert client.get("/accounts/2fa/totp/activate/").status_code == 200
    later = time.time() + 301
    monkeypatch.setattr("webapp.accounts.adapters.time", SimpleNamespace(time=lambda: later))
    asked = client.get("/accounts/2fa/totp/activate/")
    assert asked.headers["Location"].startswith("/accounts/reauthenticate/?next=")
    assert client.post(asked.headers["Location"], {"password": PASSWORD}).headers["Location"].endswith("/activate/")
    assert client.get("/accounts/2fa/totp/activate/").status_code == 200


def test_secrets_are_stored_encrypted_and_the_keys_can_be_rotated(app, settings):
    stored = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert app not in stored
    settings.ENCRYPTION_KEYS = ["new", *settings.ENCRYPTION_KEYS]
    call_command("reencrypt_secrets")
    settings.ENCRYPTION_KEYS = ["new"]
    client = Client()
    sign_in(client)
    assert client.post("/accounts/2fa/authenticate/", {"code": codes_of(app)[1]}).status_code == 302
    settings.ENCRYPTION_KEYS = ["another"]
    with pytest.raises(CommandError, match="reset_second_factor vera"):
        call_command("reencrypt_secrets")


def test_what_one_key_encrypted_another_does_not_decrypt(settings):
    encrypted = encrypt("secret")
    assert decrypt(encrypted) == "secret"
    assert "secret" not in encrypted
    settings.ENCRYPTION_KEYS = ["another"]
    with pytest.raises(UnknownKeyError):
        decrypt(encrypted)


def test_staff_of_a_public_register_reach_only_the_enrolment_without_a_second_factor(client, settings):
    make_user("rita", password=PASSWORD, is_operator=True)
    settings.PRODUCTION = True
    sign_in(client, "rita")
    for page in ("/lab/", "/submissions/review/", "/accounts/tokens/", "/accounts/password/change/"):
        assert client.get(page, follow=True).redirect_chain[-1][0] == "/accounts/2fa/", page
    set_up_app(client)
    assert client.get("/lab/").status_code == 200
    call_command("reset_second_factor", "rita")
    assert client.get("/lab/").status_code == 302


def test_recovery_codes_alone_are_no_second_factor(client, settings):
    rita = make_user("rita", password=PASSWORD, is_operator=True)
    settings.PRODUCTION = True
    Authenticator.objects.create(user=rita, type=Authenticator.Type.RECOVERY_CODES, data={})
    client.force_login(rita)
    assert client.get("/lab/").status_code == 302


def test_others_need_none_and_neither_do_staff_of_a_practice_register(member_client, staff_client, settings):
    assert staff_client.get("/lab/").status_code == 200
    settings.PRODUCTION = True
    assert member_client.get("/submissions/").status_code == 200


def test_the_second_factors_of_a_user_can_be_reset(app, client, capsys):
    call_command("reset_second_factor", "vera")
    assert "vera: removed 2" in capsys.readouterr().out
    assert sign_in(client).headers["Location"] == "/submissions/"
    with pytest.raises(CommandError, match="'nobody'"):
        call_command("reset_second_factor", "nobody")


def test_passkeys_belong_to_the_configured_domain_whatever_host_a_request_names(vera, client, settings):
    settings.ALLOWED_HOSTS, settings.PASSKEY_DOMAIN = ["*"], "drivecert.example"
    answer = client.get("/accounts/2fa/webauthn/login/", headers={"accept": "application/json", "host": "evil.example"})
    assert answer.json()["request_options"]["publicKey"]["rpId"] == "drivecert.example"


def test_pages_of_second_factors_have_no_inline_script(vera, client):
    sign_in(client)
    set_up_app(client)
    for path in ("", "webauthn/", "webauthn/add/", "totp/deactivate/", "recovery-codes/", "recovery-codes/generate/"):
        page = client.get(f"/accounts/2fa/{path}")
        assert page.status_code == 200
        assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*json)|<style|\son\w+=", page.text), path
