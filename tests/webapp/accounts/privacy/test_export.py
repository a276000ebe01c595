"""The export of a user's own data."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from results.models import Draft, Question
from tests.results.builders import log_bytes, make_user, send
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.privacy.export import own_data
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def vera(exemplar):
    return make_user("vera", exemplar, password=PASSWORD, email="vera@example.org")


def sign_in():
    client = Client(headers={"user-agent": "Firefox"})
    client.post("/accounts/login/", {"login": "vera", "password": PASSWORD})
    return client


def test_users_download_what_the_register_stores_about_them(vera, exemplar):
    issue_token(vera, exemplar, "night script")
    answer = sign_in().get("/accounts/data/export.json")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="drivecert-own-data.json"'
    assert "no-store" in answer.headers["Cache-Control"]
    data = json.loads(answer.content)
    assert data["format"] == "drivecert.own-data/1"
    assert (data["account"]["username"], data["account"]["email"]) == ("vera", "vera@example.org")
    assert data["addresses"] == [{"email": "vera@example.org", "verified": True, "primary": True}]
    assert [(each["organisation__name"], each["role"]) for each in data["memberships"]] == [("Exemplar", "owner")]
    assert [each["name"] for each in data["tokens"]] == ["night script"]
    assert [(each["ip"], each["user_agent"]) for each in data["sessions"]] == [("127.0.0.1", "Firefox")]
    kinds = [(each["kind"], each["address"]) for each in data["account_events"]]
    assert kinds == [("signed-in", "127.0.0.1"), ("data-exported", "127.0.0.1")]


def test_the_export_has_the_drafts_and_questions_of_a_user(vera, exemplar, evidence_dir, stand_in):
    submission = send(exemplar, log_bytes("four-us"), vera)
    Question.objects.create(submission=submission, asked_by=vera, text="Which slot?")
    Draft.objects.create(organisation=exemplar, created_by=vera, expires_at=timezone.now())
    data = own_data(vera)
    assert [each["public_id"] for each in data["submissions"]] == [submission.public_id]
    assert [each["text"] for each in data["questions"]] == ["Which slot?"]
    assert (len(data["drafts"]), data["approvals"]) == (1, [])


def test_the_export_has_no_secret_and_nothing_of_other_people(vera, otto, exemplar):
    token, secret = issue_token(vera, exemplar, "script")
    issue_token(otto, otto.memberships.get().organisation, "script of otto")
    record(Kind.MEMBER_ROLE_CHANGED, Actor(otto, "198.51.100.3"), vera, exemplar, before="viewer", after="owner")
    record(Kind.SIGNED_IN, Actor(otto, "198.51.100.4"), otto)
    text = json.dumps(own_data(vera), default=str)
    for hidden in (secret, token.digest, vera.password, "otto", "198.51.100"):
        assert hidden not in text, hidden


def test_exports_are_limited(vera):
    client = sign_in()
    answers = [client.get("/accounts/data/export.json").status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]


def test_a_former_member_exports_nothing_that_a_machine_sent_later(vera, exemplar, evidence_dir, stand_in):
    issue_token(vera, exemplar, "bench", kind="machine")
    before = send(exemplar, log_bytes("four-us"), vera)
    vera.memberships.all().delete()
    send(exemplar, log_bytes("slow-disk-ms"), vera)
    data = own_data(vera)
    assert [each["public_id"] for each in data["submissions"]] == [before.public_id]
    assert data["tokens"] == []
