"""The pages of webhooks, for the owners of an organisation: list, creation, log of deliveries, trial and replay."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.models import Organisation
from webapp.accounts.encryption import encrypt
from webapp.accounts.requests import UserRequest, find_own_organisation, members_only, require_owner
from webapp.outbound.client import Failure, OutboundError, refuse_url
from webapp.webhooks.delivery import replay
from webapp.webhooks.models import Delivery, Topic, Webhook
from webapp.webhooks.queueing import queue_trial
from webapp.webhooks.signing import new_secret

WEBHOOKS_MAX = 20  # of an organisation
PAGE_ROWS = 50
FAILURES = dict(Failure.choices)


class WebhookForm(forms.Form):
    """The address of a webhook, and what it is told of."""

    url = forms.CharField(label="Address", max_length=2000, help_text="It begins with https://, and is public.")
    topics = forms.MultipleChoiceField(
        label="Told when",
        widget=forms.CheckboxSelectMultiple,
        choices=[(topic.value, topic.label) for topic in Topic],
        initial=[Topic.READ.value, Topic.FAILED.value, Topic.QUESTION.value, Topic.PUBLISHED.value],
    )

    def __init__(self, organisation: Organisation, *args: Any) -> None:
        super().__init__(*args)
        self.organisation = organisation

    def clean_url(self) -> str:
        """Refuse an address that no message can be sent to."""
        url: str = self.cleaned_data["url"].strip()
        try:
            refuse_url(url)
        except OutboundError as error:
            raise forms.ValidationError(f"No message can be sent there: {error}.") from error
        return url

    def clean(self) -> dict[str, Any]:
        """Refuse more webhooks than an organisation may have."""
        if current_webhooks(self.organisation).count() >= WEBHOOKS_MAX:
            raise forms.ValidationError(f"{self.organisation} has {WEBHOOKS_MAX} webhooks already. End one first.")
        return self.cleaned_data


def current_webhooks(organisation: Organisation) -> Any:
    """Return the webhooks of an organisation that have not ended, in the order of their creation."""
    return Webhook.objects.filter(organisation=organisation, ended_at__isnull=True).order_by("pk")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def webhook_list(request: UserRequest, slug: str) -> HttpResponse:
    """List the webhooks of an organisation, and create one with a POST request."""
    organisation = _own(request, slug)
    form = WebhookForm(organisation, request.POST or None)
    page: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        page["secret"] = new_secret()
        page["created"] = Webhook.objects.create(
            organisation=organisation,
            created_by=request.user,
            encrypted_secret=encrypt(page["secret"]),
            **form.cleaned_data,
        )
        form = WebhookForm(organisation)
    page |= {"organisation": organisation, "form": form, "webhooks": current_webhooks(organisation)}
    return render(request, "accounts/organisations/webhooks.html", page)


@require_safe
@members_only
def delivery_list(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    """List the deliveries of a webhook with their attempts, newest first."""
    webhook = _find(request, slug, public_id)
    found = webhook.deliveries.prefetch_related("attempts").order_by("-pk")
    page = Paginator(found, PAGE_ROWS).get_page(request.GET.get("page"))
    context = {"organisation": webhook.organisation, "webhook": webhook, "page": page, "failures": FAILURES}
    return render(request, "accounts/organisations/deliveries.html", context)


@require_POST
@members_only
def try_webhook(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    """Send a message that tells of no change."""
    queue_trial(_find(request, slug, public_id))
    messages.success(request, "The register sends a trial message within a minute.")
    return redirect("delivery-list", slug, public_id)


@require_POST
@members_only
def replay_delivery(request: UserRequest, slug: str, public_id: str, delivery_id: str) -> HttpResponse:
    """Send a message again."""
    webhook = _find(request, slug, public_id)
    is_queued = replay(get_object_or_404(Delivery, webhook=webhook, public_id=delivery_id))
    messages.success(request, "The message is sent again." if is_queued else "The message is still being sent.")
    return redirect("delivery-list", slug, public_id)


@require_POST
@members_only
def end_webhook(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    """End a webhook; messages that wait are not sent."""
    webhook = _find(request, slug, public_id)
    Webhook.objects.filter(pk=webhook.pk).update(ended_at=timezone.now(), encrypted_secret="")
    messages.success(request, "The webhook is ended.")
    return redirect("webhook-list", slug)


def _own(request: UserRequest, slug: str) -> Organisation:
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    return organisation


def _find(request: UserRequest, slug: str, public_id: str) -> Webhook:
    return get_object_or_404(current_webhooks(_own(request, slug)), public_id=public_id)
