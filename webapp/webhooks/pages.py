"""The pages of webhooks, for the owners of an organisation: list, creation, change, log of deliveries and replay."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from results.models import Organisation
from webapp.accounts.audit.trail import actor_of
from webapp.accounts.encryption import decrypt
from webapp.accounts.requests import UserRequest, find_own_organisation, members_only, require_owner
from webapp.outbound.client import Failure
from webapp.webhooks import registration
from webapp.webhooks.delivery import NO_KEY, replay
from webapp.webhooks.models import Delivery, Webhook
from webapp.webhooks.queueing import queue_trial
from webapp.webhooks.registration import TooManyWebhooksError, WebhookForm, current_webhooks

PAGE_ROWS = 50
NEW_WEBHOOK = "new-webhook"  # in a session: the webhook whose secret its next page shows
FAILURES = dict(Failure.choices) | {
    NO_KEY: "the register cannot decrypt the secret of the webhook: an operator removed its key"
}


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def webhook_list(request: UserRequest, slug: str) -> HttpResponse:
    """List the webhooks of an organisation, and create one with a POST request."""
    organisation = _own(request, slug)
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            created, _ = registration.create_webhook(organisation, form.cleaned_data, actor_of(request))
        except TooManyWebhooksError as error:
            form.add_error(None, str(error))
        else:
            request.session[NEW_WEBHOOK] = created.public_id
            return redirect("webhook-list", slug)
    page = {"organisation": organisation, "form": form, "webhooks": current_webhooks(organisation)}
    page |= _new_secret(request, organisation) if request.method == "GET" else {}
    return render(request, "accounts/organisations/webhooks.html", page)


def _new_secret(request: UserRequest, organisation: Organisation) -> dict[str, Any]:
    """Return the webhook that this session has just created, with its secret. The next request gets neither."""
    public_id = request.session.get(NEW_WEBHOOK)
    created = current_webhooks(organisation).filter(public_id=public_id).first() if public_id else None
    if created is None:
        return {}
    del request.session[NEW_WEBHOOK]
    return {"created": created, "secret": decrypt(created.encrypted_secret)}


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def webhook_detail(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    """List the deliveries of a webhook with their attempts, newest first. A POST request changes the webhook."""
    webhook = _find(request, slug, public_id)
    stated = {"url": webhook.url, "topics": webhook.topics}
    form = WebhookForm(request.POST or None, initial=stated)
    if request.method == "POST" and form.is_valid():
        registration.change_webhook(webhook, form.cleaned_data, actor_of(request))
        messages.success(request, "The webhook is changed.")
        return redirect("webhook-detail", slug, public_id)
    found = webhook.deliveries.prefetch_related("attempts").order_by("-pk")
    context = {
        "organisation": webhook.organisation,
        "webhook": webhook,
        "form": form,
        "page": Paginator(found, PAGE_ROWS).get_page(request.GET.get("page")),
        "dead_count": _dead(webhook).count(),
        "failures": FAILURES,
    }
    return render(request, "accounts/organisations/webhook.html", context)


@require_POST
@members_only
def try_webhook(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    """Queue a message that reports no change."""
    is_queued = queue_trial(_find(request, slug, public_id))
    messages.success(request, "The trial message is queued." if is_queued else "An earlier trial message waits.")
    return redirect("webhook-detail", slug, public_id)


@require_POST
@members_only
def replay_delivery(request: UserRequest, slug: str, public_id: str, delivery_id: str) -> HttpResponse:
    """Queue a message again."""
    webhook = _find(request, slug, public_id)
    get_object_or_404(Delivery, webhook=webhook, public_id=delivery_id)
    is_queued = replay(webhook.deliveries.filter(public_id=delivery_id))
    messages.success(request, "The message is queued again." if is_queued else "The message still waits.")
    return redirect("webhook-detail", slug, public_id)


@require_POST
@members_only
def replay_dead(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    """Queue all dead messages of a webhook again."""
    count = replay(_dead(_find(request, slug, public_id)))
    messages.success(request, f"{count} dead messages are queued again.")
    return redirect("webhook-detail", slug, public_id)


@require_POST
@members_only
def end_webhook(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    """End a webhook; messages that wait are not sent."""
    registration.end_webhook(_find(request, slug, public_id), actor_of(request))
    messages.success(request, "The webhook has ended.")
    return redirect("webhook-list", slug)


def _own(request: UserRequest, slug: str) -> Organisation:
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    return organisation


def _find(request: UserRequest, slug: str, public_id: str) -> Webhook:
    return get_object_or_404(current_webhooks(_own(request, slug)), public_id=public_id)


def _dead(webhook: Webhook) -> Any:
    return webhook.deliveries.filter(state=Delivery.State.DEAD)
