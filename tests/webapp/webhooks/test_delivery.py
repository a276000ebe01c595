"""Deliveries to a real receiver: signed, in order for each submission, repeated for a day, sent again on request."""

import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from results.history import record_event
from tests.results.builders import send
from tests.results.fixtures import evidence_dir, no_broker
from tests.webapp.outbound.receiver import RECEIVER_NETWORK, Resolver, make_certificate, receiving, reply
from tests.webapp.people import exemplar, otto, vera
from webapp.accounts.encryption import encrypt
from webapp.webhooks.delivery import GIVE_UP, deliver, replay
from webapp.webhooks.models import Attempt, Delivery, Topic, Webhook
from webapp.webhooks.queueing import queue_trial

__all__ = ["evidence_dir", "exemplar", "no_broker", "otto", "vera"]
pytestmark = pytest.mark.django_db
SECRET = "whsec_of-the-test"


@pytest.fixture
def receiver(tmp_path, settings, monkeypatch):
    Resolver(monkeypatch)
    authority, own = make_certificate(tmp_path)
    settings.OUTBOUND_CA_FILE, settings.OUTBOUND_ALLOWED_NETWORKS = str(authority), RECEIVER_NETWORK
    with receiving(own) as receiver:
        yield receiver


@pytest.fixture
def webhook(receiver, exemplar, vera):
    return make_webhook(receiver, exemplar, vera)


def make_webhook(receiver, organisation, user, topics=(Topic.RECEIVED, Topic.DECLINED)):
    return Webhook.objects.create(
        organisation=organisation, url=receiver.url(), topics=list(topics), encrypted_secret=encrypt(SECRET),
        created_by=user,
    )  # fmt: skip


@pytest.fixture
def submission(webhook, exemplar, evidence_dir, no_broker):
    return send(exemplar, b"log")


def bodies(receiver):
    return [json.loads(body) for _, _, body in receiver.requests]


def decline(submission):
    record_event(None, "submission-declined", ("submission", submission.public_id), "reason")


def test_a_message_is_signed_and_names_the_submission(receiver, submission, exemplar):
    assert deliver() == 1
    ((_, headers, body),) = receiver.requests
    at, digest = (part.partition("=")[2] for part in headers["Drivecert-Signature"].split(","))
    assert digest == hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert abs(int(at) - timezone.now().timestamp()) < 60
    message = json.loads(body)
    assert (message["topic"], message["submission"]) == ("submission.received", submission.public_id)
    assert message["organisation"] == exemplar.slug
    delivery = Delivery.objects.get()
    assert (headers["Drivecert-Delivery"], delivery.state) == (delivery.public_id, "delivered")


def test_only_chosen_topics_of_the_own_organisation_are_sent(receiver, webhook, submission, otto, evidence_dir):
    make_webhook(receiver, otto.memberships.get().organisation, otto, [Topic.RECEIVED])
    record_event(None, "reading-done", ("submission", submission.public_id))
    deliver()
    assert [message["topic"] for message in bodies(receiver)] == ["submission.received"]


def test_messages_of_one_submission_arrive_in_order_after_failures(receiver, submission):
    decline(submission)
    statuses = iter([500, 204, 204])
    receiver.respond = lambda handler: reply(handler, next(statuses))
    now = timezone.now()
    deliver(now)
    assert [message["topic"] for message in bodies(receiver)] == ["submission.received"]
    deliver(now + timedelta(seconds=9))
    assert len(receiver.requests) == 1
    deliver(now + timedelta(seconds=11))
    topics = [message["topic"] for message in bodies(receiver)]
    assert topics == ["submission.received", "submission.received", "submission.declined"]
    assert [attempt.status for attempt in Attempt.objects.order_by("pk")] == [500, 204, 204]


def test_another_submission_does_not_wait_for_the_first(receiver, submission, exemplar):
    other = send(exemplar, b"another log")
    receiver.respond = lambda handler: reply(handler, 500 if len(receiver.requests) == 1 else 204)
    deliver()
    assert {message["submission"] for message in bodies(receiver)} == {submission.public_id, other.public_id}
    assert sorted(Delivery.objects.values_list("state", flat=True)) == ["delivered", "pending"]


def test_a_message_is_dead_after_a_day_and_sent_again_on_request(receiver, submission):
    receiver.respond = lambda handler: reply(handler, 503, b"busy")
    delivery = Delivery.objects.get()
    deliver(delivery.queued_at + GIVE_UP - timedelta(seconds=1))
    delivery.refresh_from_db()
    assert delivery.state == "pending"
    Delivery.objects.update(next_attempt_at=timezone.now())
    deliver(delivery.queued_at + GIVE_UP)
    delivery.refresh_from_db()
    assert (delivery.state, Attempt.objects.last().response) == ("dead", "busy")
    assert replay(Delivery.objects.all()) == 1
    assert replay(Delivery.objects.all()) == 0
    receiver.respond = lambda handler: reply(handler, 200)
    deliver()
    delivery.refresh_from_db()
    assert delivery.state == "delivered"


def test_a_receiver_that_is_gone_gets_no_further_attempt(receiver, submission):
    receiver.respond = lambda handler: reply(handler, 410)
    deliver()
    assert Delivery.objects.get().state == "dead"


def test_an_abandoned_attempt_is_repeated_with_the_same_id(receiver, submission):
    long_ago = timezone.now() - timedelta(minutes=3)
    Delivery.objects.update(state="sending", claimed_at=long_ago, attempts_count=1)
    deliver()
    assert Delivery.objects.get().state == "delivered"
    Delivery.objects.update(state="sending", claimed_at=timezone.now())
    assert deliver() == 0


def test_an_internal_address_is_not_reached_and_the_log_says_why(receiver, submission, settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    deliver()
    assert receiver.requests == []
    assert Attempt.objects.get().failure == "forbidden-address"


def test_an_ended_webhook_gets_nothing(receiver, webhook, submission):
    Webhook.objects.update(ended_at=timezone.now())
    assert deliver() == 0
    decline(submission)
    assert Delivery.objects.count() == 1


def test_a_trial_is_a_message_of_its_own(receiver, webhook):
    queue_trial(webhook)
    deliver()
    assert bodies(receiver)[0]["topic"] == "webhook.trial"


def test_a_secret_that_no_key_decrypts_is_an_attempt_that_failed(receiver, submission):
    Webhook.objects.update(encrypted_secret="gAAAAAB-of-an-earlier-key")
    deliver()
    assert Attempt.objects.get().failure == "no-key"
    assert Delivery.objects.get().state == "pending"
