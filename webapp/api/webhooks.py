"""Endpoints of webhooks, for owners of an organisation: list, create, change, end, deliveries and replay."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import JSONParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from webapp.accounts.audit.trail import actor_of
from webapp.accounts.models import APIToken
from webapp.accounts.permissions import Action, may
from webapp.api.authentication import token_of
from webapp.api.pagination import NewestFirst, OldestFirst
from webapp.api.payloads import fields_of_form, stated_fields, valid_fields, valid_form
from webapp.api.permissions import NeedsScope
from webapp.api.problems import Problem
from webapp.api.views import CURSOR, DetailView, ListView, ReadOrChange
from webapp.webhooks.delivery import replay
from webapp.webhooks.models import Attempt, Delivery, Webhook
from webapp.webhooks.queueing import queue_trial
from webapp.webhooks.registration import (
    TOPIC_CHOICES,
    WebhookForm,
    change_webhook,
    create_webhook,
    current_webhooks,
    end_webhook,
)

NOT_ENDED = "The message {message} still waits. Only messages that were delivered or are dead are replayed."
TRIAL_WAITS = "An earlier trial message still waits. Read its attempts in the deliveries of the webhook."


class OwnersOnly(BasePermission):
    """Only the personal token of an owner: a machine or a submitter does not choose where messages go."""

    message = "Only owners of the organisation may do this, with a personal token."

    def has_permission(self, request: Request, view: APIView) -> bool:
        token = token_of(request)
        is_personal = token.kind == APIToken.Kind.PERSONAL
        return is_personal and may(request.user, Action.MANAGE, token.organisation_id)


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook, without its secret."""

    id = serializers.CharField(source="public_id")
    topics = serializers.ListField(child=serializers.ChoiceField(choices=TOPIC_CHOICES))

    class Meta:
        """Fields of a webhook."""

        model = Webhook
        fields = ["id", "url", "topics", "created_at"]


class NewWebhookSerializer(WebhookSerializer):
    """A webhook that was created now, with its secret. No later response has the secret."""

    secret = serializers.CharField()

    class Meta(WebhookSerializer.Meta):
        """Fields of a webhook, and its secret."""

        fields = [*WebhookSerializer.Meta.fields, "secret"]


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    """A request of a delivery. `status` is null without a response; `failure` then has a code.

    `response` has the first 500 characters of the response.
    """

    class Meta:
        """Fields of an attempt."""

        model = Attempt
        fields = ["at", "status", "failure", "duration_ms", "response"]


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """A message with its attempts. `submission` is null for a trial; `body` is what the receiver gets."""

    id = serializers.CharField(source="public_id")
    submission = serializers.SerializerMethodField()
    body = serializers.JSONField(source="document")
    attempts = AttemptSerializer(many=True)

    class Meta:
        """Fields of a message."""

        model = Delivery
        fields = [
            "id", "topic", "submission", "state", "created_at", "next_attempt_at", "ended_at", "body", "attempts",
        ]  # fmt: skip

    def get_submission(self, delivery: Delivery) -> str | None:
        return delivery.subject if delivery.event_id else None


Count = inline_serializer("ReplayCount", {"queued": serializers.IntegerField()})


class WebhookAccess(ReadOrChange):
    """Access for owners: the scope read-own to read, and the scope submit to change something."""

    permission_classes = [NeedsScope, OwnersOnly]
    parser_classes = [JSONParser]

    def get_queryset(self) -> QuerySet[Webhook]:
        return current_webhooks(token_of(self.request).organisation_id)

    def webhook(self, public_id: str) -> Webhook:
        """Return a webhook of the organisation of the token. Raises Http404."""
        return get_object_or_404(WebhookAccess.get_queryset(self), public_id=public_id)


class WebhookList(WebhookAccess, ListView):
    """GET returns the webhooks of the organisation of the token. POST creates one."""

    serializer_class = WebhookSerializer
    pagination_class = OldestFirst

    @extend_schema(
        summary="Create a webhook",
        description=(
            "POST creates a webhook: an address, and the topics of the messages that it gets. Only this response has "
            "the secret, which signs each message. If the organisation has 20 webhooks, the response is 409 with the "
            "code too-many-webhooks."
        ),
        request=inline_serializer("WebhookFields", fields_of_form(WebhookForm)),
        responses={201: NewWebhookSerializer},
    )
    def post(self, request: Request) -> Response:
        form = valid_form(WebhookForm, request)
        webhook, secret = create_webhook(token_of(request).organisation, form.cleaned_data, actor_of(request))
        body = {**WebhookSerializer(webhook).data, "secret": secret}
        headers = {"Location": f"/api/v1/webhooks/{webhook.public_id}/", "Cache-Control": "private, no-store"}
        return Response(body, 201, headers=headers)


class WebhookDetail(WebhookAccess, DetailView):
    """GET returns a webhook. PATCH changes it, DELETE ends it."""

    serializer_class = WebhookSerializer

    @extend_schema(
        summary="Change a webhook",
        description=(
            "PATCH changes the address or the topics of a webhook; what is left out stays. Messages that wait go to "
            "the new address. The secret stays."
        ),
        request=inline_serializer("WebhookChanges", fields_of_form(WebhookForm, optional=WebhookForm.base_fields)),
        responses=WebhookSerializer,
    )
    def patch(self, request: Request, public_id: str) -> Response:
        webhook = self.webhook(public_id)
        form = valid_fields(WebhookForm, {"url": webhook.url, "topics": webhook.topics} | stated_fields(request))
        change_webhook(webhook, form.cleaned_data, actor_of(request))
        return Response(WebhookSerializer(webhook).data)

    @extend_schema(
        summary="End a webhook",
        description="DELETE ends a webhook and deletes its secret. Messages that wait are not sent.",
        responses={204: None},
    )
    def delete(self, request: Request, public_id: str) -> Response:
        end_webhook(self.webhook(public_id), actor_of(request))
        return Response(status=204)


class WebhookTrial(WebhookAccess):
    """POST queues a message that reports no change."""

    @extend_schema(
        summary="Send a trial message",
        description=(
            "POST queues a message with the topic webhook.trial, which reports no change. If an earlier one still "
            "waits, the response is 409 with the code trial-waits."
        ),
        request=None,
        responses=WebhookSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        webhook = self.webhook(public_id)
        if not queue_trial(webhook):
            raise Problem(409, TRIAL_WAITS, code="trial-waits")
        return Response(WebhookSerializer(webhook).data)


class WebhookReplay(WebhookAccess):
    """POST queues all dead messages of a webhook again."""

    @extend_schema(
        summary="Replay the dead messages",
        description="POST queues all dead messages of a webhook again, in their order. `queued` is their number.",
        request=None,
        responses=Count,
    )
    def post(self, request: Request, public_id: str) -> Response:
        dead = self.webhook(public_id).deliveries.filter(state=Delivery.State.DEAD)
        return Response({"queued": replay(dead)})


@extend_schema_view(get=extend_schema(parameters=[OpenApiParameter("state", str, enum=Delivery.State.values)]))
class DeliveryList(WebhookAccess, ListView):
    """GET returns the messages of a webhook with their attempts, newest first."""

    serializer_class = DeliverySerializer
    pagination_class = NewestFirst
    parameters = (CURSOR, "state")

    def get_queryset(self) -> QuerySet[Any]:
        state = self.request.query_params.get("state")
        if state and state not in Delivery.State.values:
            expected = ", ".join(Delivery.State.values)
            raise ValidationError({"state": [f"Expected one of {expected}, got {state[:40]}."]})
        found = self.webhook(self.kwargs["public_id"]).deliveries.prefetch_related("attempts")
        return found.filter(state=state) if state else found


class DeliveryReplay(WebhookAccess):
    """POST queues a message again."""

    @extend_schema(
        summary="Replay a message",
        description=(
            "POST queues a message that was delivered or is dead again, with the same id and body. If it has not "
            "ended, the response is 409 with the code not-ended."
        ),
        request=None,
        responses=DeliverySerializer,
    )
    def post(self, request: Request, public_id: str, delivery_id: str) -> Response:
        deliveries = self.webhook(public_id).deliveries
        delivery = get_object_or_404(deliveries, public_id=delivery_id)
        if not replay(deliveries.filter(pk=delivery.pk)):
            raise Problem(409, NOT_ENDED.format(message=delivery_id), code="not-ended")
        delivery.refresh_from_db()
        return Response(DeliverySerializer(delivery).data)
