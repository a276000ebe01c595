"""Deliveries to a real receiver: signed, in order for each submission, repeated for a day, sent again on request."""

import hashlib
import hmac
import json
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from results.history import record_event
from results.ingest.queue import sweep
from results.locks import WEBHOOKS
from results.models import Certificate, Product, Profile, Run
from tests.results.builders import log_bytes, other_session, send
from tests.results.fixtures import evidence_dir, no_broker, program, real_reader
from tests.webapp.outbound.receiver import RECEIVER_NETWORK, Resolver, make_certificate, receiving, reply
from tests.webapp.people import exemplar, otto, vera
from webapp.accounts.encryption import encrypt
from webapp.celery import app
from webapp.webhooks import tasks
from webapp.webhooks.delivery import GIVE_UP, deliver, replay
from webapp.webhooks.models import Attempt, Delivery, Topic, Webhook
from webapp.webhooks.queueing import queue_trial

__all__ = ["evidence_dir", "exemplar", "no_broker", "otto", "program", "real_reader", "vera"]
pytestmark = pytest.mark.django_db
SECRET = "whsec_of-the-test"


@pytest.fixture
def certificate(tmp_path, settings, monkeypatch):
    Resolver(monkeypatch)
    authority, own = make_certificate(tmp_path)
    settings.OUTBOUND_CA_FILE, settings.OUTBOUND_ALLOWED_NETWORKS = str(authority), RECEIVER_NETWORK
    return own


@pytest.fixture
def receiver(certificate):
    with receiving(certificate) as receiver:
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


def topics_of(receiver, submission):
    return [message["topic"] for message in bodies(receiver) if message["submission"] == submission.public_id]


def test_all_messages_arrive_in_order_per_submission_after_the_receiver_was_down_for_an_hour(
    certificate, exemplar, vera, evidence_dir, no_broker
):
    with receiving(certificate) as down:
        make_webhook(down, exemplar, vera, Topic)
    submissions = [send(exemplar, f"log {number}".encode()) for number in range(3)]
    for kind in ("reading-done", "submission-question-asked", "submission-declined"):
        for submission in submissions:
            record_event(None, kind, ("submission", submission.public_id), "reason")
    began = timezone.now()
    for second in range(0, 3600, 60):
        deliver(began + timedelta(seconds=second))
    assert {attempt.failure for attempt in Attempt.objects.all()} == {"unreachable"}
    assert Attempt.objects.count() == 3 * 5  # only the first message of each submission is attempted
    with receiving(certificate, port=down.port) as up:
        deliver(began + timedelta(seconds=4920))
    expected = ["submission.received", "submission.read", "submission.question", "submission.declined"]
    assert [topics_of(up, submission) for submission in submissions] == [expected] * 3
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}


def test_a_slow_receiver_delays_no_other_one(certificate, exemplar, otto, vera, evidence_dir, no_broker):
    released = threading.Event()
    with receiving(certificate) as slow, receiving(certificate) as fast:
        slow.respond = lambda handler: (released.wait(60), reply(handler, 204))
        fast.respond = lambda handler: (reply(handler, 204), len(fast.requests) == 20 and released.set())
        other = otto.memberships.get().organisation
        make_webhook(slow, exemplar, vera)
        make_webhook(fast, other, otto)
        for number in range(20):
            send(exemplar, f"log {number}".encode())
            send(other, f"other log {number}".encode())
        deliver()
        assert released.is_set()
        assert len(fast.requests) == 20
    assert Delivery.objects.filter(state="delivered").count() == 40


def test_the_webhook_whose_last_attempt_is_the_longest_ago_comes_first(receiver, exemplar, otto, vera, submission):
    other = otto.memberships.get().organisation
    make_webhook(receiver, other, otto)
    later = send(other, b"another log", otto)
    now = timezone.now()
    Webhook.objects.filter(organisation=exemplar).update(last_attempt_at=now)
    Webhook.objects.filter(organisation=other).update(last_attempt_at=now - timedelta(minutes=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webapp.webhooks.delivery.PARALLEL", 1)
        deliver()
    assert [message["submission"] for message in bodies(receiver)] == [later.public_id, submission.public_id]


def test_a_redirect_to_an_internal_address_is_a_failed_attempt(receiver, submission):
    receiver.respond = lambda handler: reply(handler, 307, Location="https://127.0.0.1/")
    deliver()
    assert (Attempt.objects.get().status, len(receiver.requests)) == (307, 1)
    assert Delivery.objects.get().state == "pending"


def test_of_a_huge_response_the_log_has_the_beginning(receiver, submission):
    receiver.respond = lambda handler: reply(handler, 200, b"\0" + b"x" * 50_000_000)
    deliver()
    assert Attempt.objects.get().response == "\N{REPLACEMENT CHARACTER}" + "x" * 499
    assert Delivery.objects.get().state == "delivered"


def test_a_certificate_is_reported_for_each_of_its_submissions(receiver, exemplar, vera, real_reader, evidence_dir):
    webhook = make_webhook(receiver, exemplar, vera, [Topic.CERTIFIED])
    submissions = [send(exemplar, log_bytes(case)) for case in ("four-us", "slow-disk-ms")]
    sweep()
    product = Product.objects.create(slug="ex4", vendor="Exemplar", model="EX4", category="nvme-flash")
    certificate = Certificate.objects.create(
        product=product, profile=Profile.current(), device_count=1, nx_load=1, exact_nx="1", firmware="1", document={}
    )
    certificate.runs.add(*Run.objects.all())
    record_event(None, "certificate-issued", ("certificate", certificate.public_id))
    assert [each.subject for each in webhook.deliveries.order_by("pk")] == [each.public_id for each in submissions]


def test_only_one_process_delivers_at_a_time(receiver, submission):
    with other_session() as other:
        other.execute("SELECT pg_advisory_lock(%s, 0)", [WEBHOOKS])
        assert deliver() == 0
    assert deliver() == 1


def test_a_second_trial_waits_for_the_first(webhook):
    assert queue_trial(webhook)
    assert not queue_trial(webhook)
    deliver()
    assert queue_trial(webhook)


@pytest.mark.parametrize(("days", "left"), [(89, 1), (91, 0)])
def test_messages_are_removed_90_days_after_they_ended(webhook, days, left):
    queue_trial(webhook)
    tasks.remove_old()
    assert Delivery.objects.count() == 1  # it waits
    Delivery.objects.update(state="dead", ended_at=timezone.now() - timedelta(days=days))
    tasks.remove_old()
    assert Delivery.objects.count() == left


def test_the_worker_has_the_tasks_and_beat_starts_them():
    app.loader.import_default_modules()
    tasks_of_beat = {each["task"] for each in app.conf.beat_schedule.values()}
    assert {"webhooks.deliver", "webhooks.remove_old"} <= tasks_of_beat & set(app.tasks)
