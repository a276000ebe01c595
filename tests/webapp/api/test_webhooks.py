"""Webhooks by API: owners create, change and end them, read deliveries and replay them."""

import pytest
from django.test import Client
from django.utils import timezone

from tests.results.builders import make_user
from webapp.accounts.encryption import decrypt
from webapp.accounts.models import AccountEvent
from webapp.accounts.tokens.rules import issue_token
from webapp.webhooks.models import Delivery, Webhook

pytestmark = pytest.mark.django_db
JSON = "application/json"
ADDRESS = "/api/v1/webhooks/"
FIELDS = {"url": "https://receiver.example/hook", "topics": ["run.published"]}


def script_of(user, organisation, **columns):
    _, secret = issue_token(user, organisation, "script", **columns)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def create(script, **fields):
    return script.post(ADDRESS, FIELDS | fields, content_type=JSON)


@pytest.fixture
def webhook(script):
    return Webhook.objects.get(public_id=create(script).json()["id"])


def test_the_secret_is_only_in_the_response_that_creates_the_webhook(script, vera):
    response = create(script)
    webhook, body = Webhook.objects.get(), response.json()
    assert (response.status_code, response.headers["Location"]) == (201, f"{ADDRESS}{webhook.public_id}/")
    assert "no-store" in response.headers["Cache-Control"]
    assert body["secret"] == decrypt(webhook.encrypted_secret)
    assert (body["url"], body["topics"]) == (FIELDS["url"], FIELDS["topics"])
    for address in (ADDRESS, f"{ADDRESS}{webhook.public_id}/"):
        assert "secret" not in script.get(address).text
    event = AccountEvent.objects.get(kind="webhook-created")
    assert (event.actor, event.details) == (vera, {"webhook": webhook.public_id})


@pytest.mark.parametrize(("fields", "field"), [
    ({"url": "http:receiver"}, "url"), ({"url": ["https://a.example/"]}, "url"), ({"url": None}, "url"),
    ({"topics": []}, "topics"), ({"topics": "run.published"}, "topics"), ({"topics": ["webhook.trial"]}, "topics"),
    ({"topics": [{}]}, "topics"), ({"topic": "run.published"}, "topic"),
])  # fmt: skip
def test_invalid_and_unknown_fields_are_refused(script, fields, field):
    response = create(script, **fields)
    assert response.status_code == 400
    assert {error["field"] for error in response.json()["errors"]} == {field}
    assert Webhook.objects.count() == 0


def test_a_body_that_is_no_object_is_refused(script, webhook):
    assert script.post(ADDRESS, [], content_type=JSON).status_code == 400
    assert script.patch(f"{ADDRESS}{webhook.public_id}/", [], content_type=JSON).status_code == 400


def test_the_21st_webhook_is_refused(script):
    for _ in range(20):
        assert create(script).status_code == 201
    response = create(script)
    assert (response.status_code, response.json()["code"]) == (409, "too-many-webhooks")


def test_a_change_leaves_what_it_does_not_name(script, webhook):
    address = f"{ADDRESS}{webhook.public_id}/"
    topics = ["run.withdrawn", "submission.read"]
    assert script.patch(address, {"topics": topics}, content_type=JSON).json()["topics"] == topics[::-1]
    assert script.patch(address, {"url": "https://b.example/"}, content_type=JSON).json()["topics"] == topics[::-1]
    assert script.get(address).json()["url"] == "https://b.example/"
    assert script.patch(address, {"secret": "x"}, content_type=JSON).status_code == 400
    assert script.patch(address, {"topics": []}, content_type=JSON).status_code == 400


def test_an_ended_webhook_is_not_found(script, webhook):
    address = f"{ADDRESS}{webhook.public_id}/"
    assert script.delete(address).status_code == 204
    assert script.get(address).status_code == script.delete(address).status_code == 404
    assert script.get(ADDRESS).json()["results"] == []


def test_messages_are_listed_by_state_and_replayed_after_they_ended(script, webhook):
    address = f"{ADDRESS}{webhook.public_id}/"
    assert script.post(f"{address}trial/").status_code == 200
    waits = script.post(f"{address}trial/")
    assert (waits.status_code, waits.json()["code"]) == (409, "trial-waits")
    (message,) = script.get(f"{address}deliveries/?state=pending").json()["results"]
    assert (message["topic"], message["submission"], message["body"]["topic"]) == (
        "webhook.trial",
        None,
        "webhook.trial",
    )
    replay = f"{address}deliveries/{message['id']}/replay/"
    assert script.post(replay).json()["code"] == "not-ended"
    Delivery.objects.update(state="dead", ended_at=timezone.now())
    assert script.get(f"{address}deliveries/?state=pending").json()["results"] == []
    assert script.get(f"{address}deliveries/?state=gone").status_code == 400
    assert script.post(replay).json()["state"] == "pending"
    Delivery.objects.update(state="dead", ended_at=timezone.now())
    assert script.post(f"{address}replay/").json() == {"queued": 1}
    assert script.post(f"{address}replay/").json() == {"queued": 0}


def test_another_organisation_finds_neither_webhook_nor_message(webhook, otto, script):
    other = script_of(otto, otto.memberships.get().organisation)
    script.post(f"{ADDRESS}{webhook.public_id}/trial/")
    own = create(other).json()["id"]
    message = Delivery.objects.get().public_id
    Delivery.objects.update(state="dead")
    for path in (f"{webhook.public_id}/", f"{webhook.public_id}/deliveries/"):
        assert other.get(ADDRESS + path).status_code == 404
    for identifier in (webhook.public_id, own):
        assert other.post(f"{ADDRESS}{identifier}/deliveries/{message}/replay/").status_code == 404
    assert [each["id"] for each in other.get(ADDRESS).json()["results"]] == [own]


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_machine_a_submitter_and_a_former_owner_are_refused(exemplar, vera, webhook, method):
    member = make_user("mia")
    membership = member.memberships.create(organisation=exemplar, role="owner")
    script, machine = script_of(member, exemplar), script_of(vera, exemplar, kind="machine")
    send = {"data": FIELDS, "content_type": JSON} if method == "post" else {}
    assert getattr(script, method)(ADDRESS, **send).status_code in {200, 201}
    membership.role = "submitter"
    membership.save()
    for client in (script, machine):
        assert getattr(client, method)(ADDRESS, **send).status_code == 403
