"""Sign-up, verified addresses, and the mails with their links."""

import re
import smtplib

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.mail import get_connection
from django.test import Client

from tests.results.builders import make_organisation, make_user
from webapp.accounts.models import User
from webapp.accounts.tokens.rules import find_token, issue_token

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
NEW = {"email": "nora@example.org", "username": "nora", "password1": PASSWORD}


def link_of(message):
    """Return the path of the only link of a mail that does more than name the register."""
    (link,) = re.findall(r"http://testserver(/accounts/\S+)", message.body)
    return link


def sign_in(client, login, password=PASSWORD):
    return client.post("/accounts/login/", {"login": login, "password": password})


@pytest.fixture
def pat(db):
    """A user of an earlier release, who has a password and no address."""
    user = User.objects.create_user("pat", password=PASSWORD)
    user.memberships.create(organisation=make_organisation(), role="owner")
    return user


def test_a_person_signs_up_verifies_the_address_and_signs_in_by_it(client):
    answer = client.post("/accounts/signup/", NEW)
    assert answer.headers["Location"] == "/accounts/confirm-email/"
    assert client.get("/submissions/").status_code == 302

    verify = link_of(mail.outbox[0])
    assert "Verify address" in client.get(verify).text
    assert not EmailAddress.objects.get().verified, "a program that follows links has verified the address"
    client.post(verify)
    assert EmailAddress.objects.get().verified
    assert client.get("/submissions/").status_code == 200, "the browser of the sign-up is not signed in"
    assert sign_in(Client(), "Nora@Example.org").headers["Location"] == "/accounts/organisation/"


def test_only_the_browser_of_the_sign_up_is_signed_in_by_the_link(client):
    client.post("/accounts/signup/", NEW)
    other = Client()
    assert other.post(link_of(mail.outbox[0])).headers["Location"] == "/accounts/login/"
    assert other.get("/submissions/").status_code == 302


@pytest.mark.parametrize("path", ["signup", "password/reset"])
def test_no_answer_says_whether_an_address_has_an_account(path):
    make_user("vera")
    answers = []
    for email in ("vera@example.org", "stranger@example.org"):
        form = {"email": email, "username": f"name-{len(answers)}", "password1": PASSWORD}
        answer = Client().post(f"/accounts/{path}/", form, follow=True)
        answers.append((answer.redirect_chain, answer.text.replace(email, "EMAIL")))
    assert answers[0] == answers[1]
    assert [message.to for message in mail.outbox] == [["vera@example.org"], ["stranger@example.org"]]


def test_a_new_user_name_does_not_look_like_an_address_and_is_none_of_the_registers_own(client):
    for username in ("vera@example.org", "Admin", "operator"):
        assert client.post("/accounts/signup/", NEW | {"username": username}).status_code == 200
    assert User.objects.count() == 0


def test_a_user_without_an_address_reaches_only_the_page_that_enters_one(client, pat):
    assert sign_in(client, "pat").status_code == 302
    for page in ("/submissions/", "/submit/", "/accounts/tokens/", "/accounts/password/change/"):
        assert client.get(page, follow=True).redirect_chain[-1][0] == "/accounts/email/", page
    assert client.get("/").status_code == 200

    client.post("/accounts/email/", {"action_add": "1", "email": "pat@example.org"})
    assert client.get("/submissions/").status_code == 302
    client.post(link_of(mail.outbox[-1]))
    assert client.get("/submissions/").status_code == 200
    assert sign_in(Client(), "pat@example.org").headers["Location"] == "/submissions/"


def test_a_wrong_address_can_be_replaced_before_it_is_verified(client, pat):
    sign_in(client, "pat")
    client.post("/accounts/email/", {"action_add": "1", "email": "typing-error@example.org"})
    sign_in(Client(), "pat")
    client.post("/accounts/email/", {"action_add": "1", "email": "pat@example.org"})
    client.post(link_of(mail.outbox[-1]))
    assert [each.email for each in EmailAddress.objects.all()] == ["pat@example.org"]


def test_the_tokens_of_a_user_without_an_address_work(pat):
    token, secret = issue_token(pat, pat.memberships.get().organisation, "script")
    assert find_token(secret) == token


def test_the_first_staff_user_needs_an_address_only_in_production(client, settings):
    client.force_login(User.objects.create_superuser("admin", password=PASSWORD))
    assert client.get("/lab/").status_code == 200
    settings.PRODUCTION = True
    assert client.get("/lab/").status_code == 302
    assert client.get("/accounts/tokens/").headers["Location"] == "/accounts/email/"


def test_a_changed_address_counts_once_it_is_verified(client):
    vera = make_user("vera", password=PASSWORD)
    sign_in(client, "vera")
    client.post("/accounts/email/", {"action_add": "1", "email": "new@example.org"})
    assert EmailAddress.objects.get_primary(vera).email == "vera@example.org"
    client.post(link_of(mail.outbox[-1]))
    assert [each.email for each in vera.emailaddress_set.all()] == ["new@example.org"]
    assert mail.outbox[-1].to == ["vera@example.org"], "the old address got no mail"


def test_two_users_whose_names_differ_in_case_sign_in_by_the_exact_name():
    for name in ("Bob", "bob"):
        EmailAddress.objects.create(
            user=User.objects.create_user(name, password=PASSWORD), email=f"{name}@{name}.example", verified=True
        )
    for name in ("Bob", "bob"):
        other = Client()
        sign_in(other, name)
        assert f">{name}</span>" in other.get("/accounts/tokens/").text


def test_a_forgotten_password_is_reset_by_mail_once(client):
    make_user("vera", make_organisation())
    client.post("/accounts/password/reset/", {"email": "vera@example.org"})
    link = link_of(mail.outbox[0])
    form = client.get(link, follow=True)
    new = "another long password"
    client.post(form.redirect_chain[-1][0], {"password1": new, "password2": new})
    assert sign_in(Client(), "vera", new).headers["Location"] == "/submissions/"
    assert "not valid" in Client().get(link, follow=True).text


def test_links_in_mails_do_not_trust_the_host_name_of_a_request_in_production(client, settings):
    make_user("vera")
    settings.PRODUCTION, settings.ALLOWED_HOSTS, settings.PUBLIC_URL = True, ["*"], "https://drivecert.example"
    client.post("/accounts/password/reset/", {"email": "vera@example.org"}, headers={"host": "evil.example"})
    assert "evil" not in mail.outbox[0].body
    assert "https://drivecert.example/accounts/password/reset/key/" in mail.outbox[0].body


def test_a_mail_server_that_is_down_is_reported_on_the_page(client, monkeypatch):
    def refuse(*_):
        raise smtplib.SMTPServerDisconnected("no answer")

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    make_user("vera")
    answer = client.post("/accounts/password/reset/", {"email": "vera@example.org"}, follow=True)
    assert answer.status_code == 200
    assert "The mail could not be sent" in answer.text


def test_staff_read_the_mail_of_a_register_without_a_mail_server(staff_client, member_client, settings, tmp_path):
    settings.EMAIL_FILE_PATH = tmp_path
    assert "No message" in staff_client.get("/accounts/mail/").text
    sender = get_connection("django.core.mail.backends.filebased.EmailBackend", file_path=tmp_path)
    messages = [mail.EmailMessage(f"Subject {n}", f"Länge {n}", to=["a@example.org"]) for n in (1, 2)]
    sender.send_messages(messages)
    text = staff_client.get("/accounts/mail/").text
    assert text.index("Subject 2") < text.index("Länge 2") < text.index("Subject 1")
    assert member_client.get("/accounts/mail/").status_code == 403


@pytest.mark.parametrize(("is_production", "is_stored"), [(True, True), (False, False)])
def test_no_page_shows_the_mail_of_a_register_in_production_or_with_a_mail_server(
    staff, staff_client, settings, is_production, is_stored
):
    Authenticator.objects.create(user=staff, type=Authenticator.Type.TOTP, data={})
    settings.PRODUCTION, settings.MAIL_IS_STORED = is_production, is_stored
    assert staff_client.get("/accounts/mail/").status_code == 404


@pytest.mark.parametrize(
    "path", ["login", "signup", "password/reset", "password/reset/done", "confirm-email", "confirm-email/wrong"]
)
def test_pages_before_the_sign_in_have_no_inline_script(client, path):
    answer = client.get(f"/accounts/{path}/")
    assert answer.status_code == 200
    assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*json)|<style|\son\w+=", answer.text)
    assert "noindex" in answer.text
    assert "no-store" in answer.headers["Cache-Control"]
    assert "<ul>" not in answer.text.split("<main")[1].split("</main")[0], "a list in a paragraph"
