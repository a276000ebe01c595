"""The webhooks of an organisation: creation, change and end, each with an entry in the audit trail."""

from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from results.models import Organisation
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.encryption import encrypt
from webapp.outbound.client import OutboundError, refuse_url
from webapp.webhooks.models import Delivery, Topic, Webhook
from webapp.webhooks.signing import new_secret

WEBHOOKS_MAX = 20  # of an organisation
TOPIC_CHOICES = [(topic.value, f"{topic.value}: {topic.label}") for topic in Topic]
TOPICS_FIRST = (Topic.READ, Topic.FAILED, Topic.QUESTION, Topic.PUBLISHED)


class TooManyWebhooksError(Exception):
    """An organisation has as many webhooks as it may have."""


class WebhookForm(forms.Form):
    """The address of a webhook, and its topics."""

    url = forms.CharField(label="Address", max_length=2000, help_text="It begins with https://, and is public.")
    topics = forms.MultipleChoiceField(
        label="Topics",
        widget=forms.CheckboxSelectMultiple,
        choices=TOPIC_CHOICES,
        initial=[topic.value for topic in TOPICS_FIRST],
        help_text="The webhook gets a message about each change of these.",
    )

    def clean_url(self) -> str:
        """Refuse an address that no message can be sent to."""
        url: str = self.cleaned_data["url"].strip()
        try:
            refuse_url(url)
        except OutboundError as error:
            raise forms.ValidationError(f"No message can be sent there: {error}.") from error
        return url


def current_webhooks(organisation: Organisation | int) -> QuerySet[Webhook]:
    """Return the webhooks of an organisation that have not ended, in the order of their creation."""
    return Webhook.objects.filter(organisation=organisation, ended_at__isnull=True).order_by("pk")


@transaction.atomic
def create_webhook(organisation: Organisation, fields: Mapping[str, Any], actor: Actor) -> tuple[Webhook, str]:
    """Create a webhook; return it with its secret, which is shown once. Raises TooManyWebhooksError."""
    Organisation.objects.select_for_update(of=("self",)).get(pk=organisation.pk)
    if current_webhooks(organisation).count() >= WEBHOOKS_MAX:
        raise TooManyWebhooksError(f"{organisation} has {WEBHOOKS_MAX} webhooks already. End one first.")
    secret = new_secret()
    webhook = Webhook.objects.create(
        organisation=organisation,
        url=fields["url"],
        topics=_ordered(fields["topics"]),
        encrypted_secret=encrypt(secret),
        created_by=actor.person,
    )
    record(Kind.WEBHOOK_CREATED, actor, organisation=organisation, webhook=webhook.public_id)
    return webhook, secret


@transaction.atomic
def change_webhook(webhook: Webhook, fields: Mapping[str, Any], actor: Actor) -> None:
    """Change address and topics. Messages that wait go to the new address; the secret stays."""
    webhook.url, webhook.topics = fields["url"], _ordered(fields["topics"])
    webhook.save(update_fields=["url", "topics"])
    record(Kind.WEBHOOK_CHANGED, actor, organisation=webhook.organisation, webhook=webhook.public_id)


@transaction.atomic
def end_webhook(webhook: Webhook, actor: Actor) -> None:
    """End a webhook. Its secret is deleted, and messages that wait are not sent."""
    now = timezone.now()
    Webhook.objects.filter(pk=webhook.pk).update(ended_at=now, encrypted_secret="")
    webhook.deliveries.filter(state=Delivery.State.PENDING).update(state=Delivery.State.DEAD, ended_at=now)
    record(Kind.WEBHOOK_ENDED, actor, organisation=webhook.organisation, webhook=webhook.public_id)


def _ordered(topics: Collection[str]) -> list[str]:
    return [topic.value for topic in Topic if topic in topics]
