"""`manage.py add_user` without mail: a password, a one-time link, or a password from the standard input."""

import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from webapp.accounts.models import User

pytestmark = pytest.mark.django_db
LONG = "correct horse battery"


def add(*options):
    output = io.StringIO()
    call_command("add_user", "olga", "--staff", "--email", "olga@example.org", *options, stdout=output)
    return output.getvalue()


def test_a_link_sets_the_password_once_and_the_person_signs_in(settings):
    settings.PUBLIC_URL = "https://register.example.org"
    printed = add("--link")
    assert "password " not in printed.splitlines()[0]
    path = re.search(r"set the password within 72 hours: https://register.example.org(\S+)", printed)[1]
    client = Client()
    form = client.get(path, follow=True).redirect_chain[-1][0]
    assert client.post(form, {"password1": LONG, "password2": LONG}).status_code == 302
    assert User.objects.get().check_password(LONG)
    assert "This link is not valid" in Client().get(path, follow=True).text
    answer = Client().post("/accounts/login/", {"login": "olga", "password": LONG})
    assert answer.headers["Location"] == "/submissions/review/"


def test_a_lost_link_is_replaced(settings):
    add("--link")
    assert "set the password within" in add("--link")
    assert User.objects.count() == 1


def test_a_password_is_read_from_the_standard_input_and_not_printed(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(LONG + "\n"))
    assert LONG not in add("--password-stdin")
    assert User.objects.get().check_password(LONG)


def test_a_short_password_changes_nothing(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    with pytest.raises(CommandError, match="--password-stdin: This password is too short"):
        add("--password-stdin")
    assert not User.objects.exists()
