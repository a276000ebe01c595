"""The pages of webhooks: the secret is shown once; owners change, try, replay and end webhooks."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.webapp.people import as_user, exemplar, otto, vera
from webapp.accounts.encryption import decrypt
from webapp.accounts.models import AccountEvent
from webapp.webhooks.models import Webhook
from webapp.webhooks.registration import WEBHOOKS_MAX

__all__ = ["as_user", "exemplar", "otto", "vera"]
pytestmark = pytest.mark.django_db
WEBHOOKS = "/accounts/organisations/exemplar/webhooks/"
FORM = {"url": "https://receiver.example/hook", "topics": ["run.published", "submission.read"]}


@pytest.fixture
def owner(as_user, vera):
    return as_user(vera)


@pytest.fixture
def webhook(owner):
    owner.post(WEBHOOKS, FORM)
    return Webhook.objects.get()


def kinds():
    return list(AccountEvent.objects.filter(kind__startswith="webhook").order_by("pk").values_list("kind", flat=True))


def test_the_secret_is_shown_once_and_stored_encrypted(owner):
    response = owner.post(WEBHOOKS, FORM, follow=True)
    webhook, secret = Webhook.objects.get(), response.context["secret"]
    assert secret in response.text
    assert "no-store" in response.headers["Cache-Control"]
    assert secret not in webhook.encrypted_secret
    assert decrypt(webhook.encrypted_secret) == secret
    assert webhook.topics == ["submission.read", "run.published"]
    for address in (WEBHOOKS, f"{WEBHOOKS}{webhook.public_id}/"):
        assert secret not in owner.get(address).text
        assert FORM["url"] in owner.get(address).text


def test_a_page_that_is_reloaded_creates_no_second_webhook_and_shows_no_secret(owner):
    response = owner.post(WEBHOOKS, FORM)
    assert (response.status_code, response.headers["Location"]) == (302, WEBHOOKS)
    assert "secret" not in owner.head(WEBHOOKS).context
    assert "Secret of the webhook" in owner.get(WEBHOOKS).text
    assert "Secret of the webhook" not in owner.get(WEBHOOKS).text
    assert Webhook.objects.count() == 1


def test_a_session_of_another_owner_shows_no_secret(owner, as_user, otto, exemplar):
    otto.memberships.create(organisation=exemplar, role="owner")
    owner.post(WEBHOOKS, FORM)
    assert "Secret of the webhook" not in as_user(otto).get(WEBHOOKS).text


@pytest.mark.parametrize(("changed", "complaint"), [
    ({"url": "ftp://receiver.example/"}, "expected https://HOST/PATH"),
    ({"url": "https://user:pass@receiver.example/"}, "without a user name"),
    ({"topics": []}, "required"),
    ({"topics": ["run.unknown"]}, "run.unknown is not one of the available choices"),
])  # fmt: skip
def test_an_invalid_address_or_topic_is_refused(owner, changed, complaint):
    assert complaint in owner.post(WEBHOOKS, FORM | changed).text
    assert Webhook.objects.count() == 0


@pytest.mark.parametrize(("is_production", "count"), [(True, 0), (False, 1)])
def test_https_is_required_under_production(owner, settings, is_production, count):
    settings.PRODUCTION = is_production
    owner.post(WEBHOOKS, FORM | {"url": "http://receiver.example/"})
    assert Webhook.objects.count() == count


def test_an_organisation_has_at_most_20_webhooks_that_have_not_ended(owner):
    for _ in range(WEBHOOKS_MAX):
        owner.post(WEBHOOKS, FORM)
    assert "has 20 webhooks already" in owner.post(WEBHOOKS, FORM).text
    assert Webhook.objects.count() == WEBHOOKS_MAX
    Webhook.objects.filter(pk=Webhook.objects.latest("pk").pk).update(ended_at=timezone.now())
    owner.post(WEBHOOKS, FORM)
    assert Webhook.objects.count() == WEBHOOKS_MAX + 1


def test_a_webhook_is_changed_and_ended_with_entries_in_the_audit_trail(owner, webhook):
    address = f"{WEBHOOKS}{webhook.public_id}/"
    assert "expected https" in owner.post(address, FORM | {"url": "receiver.example"}).text
    owner.post(address, {"url": "https://other.example/", "topics": ["run.withdrawn"]})
    webhook.refresh_from_db()
    assert (webhook.url, webhook.topics) == ("https://other.example/", ["run.withdrawn"])
    owner.post(f"{address}trial/")
    owner.post(f"{address}end/")
    webhook.refresh_from_db()
    assert webhook.encrypted_secret == ""
    assert webhook.deliveries.get().state == "dead"
    assert owner.get(address).status_code == 404
    assert kinds() == ["webhook-created", "webhook-changed", "webhook-ended"]
    assert f"Webhook ended: {webhook.public_id}" in owner.get("/accounts/organisations/exemplar/events/").text


def test_the_log_shows_attempts_and_replays_what_has_ended(owner, webhook):
    address = f"{WEBHOOKS}{webhook.public_id}/"
    owner.post(f"{address}trial/")
    delivery = webhook.deliveries.get()
    replay = f"{address}deliveries/{delivery.public_id}/replay/"
    assert "The message still waits." in owner.post(replay, follow=True).text
    delivery.attempts.create(failure="forbidden-address")
    delivery.attempts.create(status=503, duration_ms=12, response="<b>busy</b>")
    delivery.attempts.create(failure="no-key")
    webhook.deliveries.update(state="dead", ended_at=timezone.now())
    page = owner.get(address).text
    assert "an address in a network that is not public" in page
    assert "status 503" in page
    assert "&lt;b&gt;busy&lt;/b&gt;" in page
    assert "cannot decrypt the secret" in page
    assert "Send 1 dead message again" in page
    assert "queued again" in owner.post(replay, follow=True).text
    webhook.deliveries.update(state="dead", ended_at=timezone.now())
    assert "1 dead messages are queued again" in owner.post(f"{address}replay/", follow=True).text
    delivery.refresh_from_db()
    assert (delivery.state, delivery.ended_at) == ("pending", None)


def test_the_log_needs_as_many_queries_for_20_messages_as_for_one(owner, webhook, django_assert_num_queries):
    def add(count):
        for _ in range(count):
            delivery = webhook.deliveries.create(topic="webhook.trial", subject="x", body="{}", state="dead")
            delivery.attempts.create(status=500, duration_ms=1)

    address = f"{WEBHOOKS}{webhook.public_id}/"
    add(1)
    with CaptureQueriesContext(connection) as one:
        owner.get(address)
    add(19)
    with django_assert_num_queries(len(one)):
        owner.get(address)


def test_the_keys_of_secrets_can_be_rotated(owner, webhook, settings):
    secret = decrypt(webhook.encrypted_secret)
    settings.ENCRYPTION_KEYS = ["new", *settings.ENCRYPTION_KEYS]
    call_command("reencrypt_secrets")
    settings.ENCRYPTION_KEYS = ["new"]
    webhook.refresh_from_db()
    assert decrypt(webhook.encrypted_secret) == secret
    settings.ENCRYPTION_KEYS = ["another"]
    with pytest.raises(CommandError, match=webhook.public_id):
        call_command("reencrypt_secrets")
    Webhook.objects.update(ended_at=timezone.now(), encrypted_secret="")
    call_command("reencrypt_secrets")
