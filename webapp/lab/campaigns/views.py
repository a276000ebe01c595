"""Views of campaigns: start, watch, pause, resume, change the terms, cancel."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.models import Organisation
from runners.campaigns import commands
from runners.campaigns.ladder import rungs_of
from runners.campaigns.scheduler import PREP
from runners.campaigns.terms import parse_terms
from runners.dispatch.orders import Order
from runners.dispatch.preflight import expected_refusal
from runners.models import Device
from runners.models.campaign import Campaign
from runners.recipes import RECIPES
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.campaigns.forms import CampaignForm, EditableTermsForm
from webapp.lab.campaigns.page import campaign_context, concurrent_dispatches, ladder_document, version_of_campaign
from webapp.lab.dispatches.orders import NO_LAB_MESSAGE, lab_of
from webapp.lab.shared.confirmation import campaign_cancel_question, confirmation_page
from webapp.lab.shared.consent import consent_context, options_with_consent
from webapp.lab.shared.drive_status import availability_of
from webapp.lab.shared.live_part import is_current, not_changed, render_live

PAGE_ROWS = 50


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def order_campaign(request: UserRequest, device_id: int) -> HttpResponse:
    """Start a campaign on a device, for the lab of the orderer."""
    device = get_object_or_404(Device.objects.select_related("host"), pk=device_id)
    organisation = lab_of(request.user)
    form = CampaignForm(request.POST or None, initial={"with_prep": PREP in RECIPES})
    if request.method == "POST" and organisation is None:
        form.add_error(None, NO_LAB_MESSAGE)
    if request.method == "POST" and organisation is not None and form.is_valid():
        try:
            campaign = _start(request, device, organisation, form.campaign_order())
            return redirect("campaign-detail", campaign.public_id)
        except (commands.DriveTakenError, ValueError) as error:
            form.add_error(None, str(error))
    context = {
        "form": form,
        "organisation": organisation,
        "may_certify": device.may_certify,
        "availability": availability_of(device),
    }
    return render(request, "lab/campaigns/order.html", context | consent_context(device) | {"section": "lab"})


def _start(request: UserRequest, device: Device, organisation: Organisation, order: commands.CampaignOrder) -> Campaign:
    """Start a campaign.

    Raises DriveTakenError, and ValueError if the consent is missing or its runs would be refused.
    """
    order = replace(order, options=options_with_consent(device, request.POST, order.options))
    if refusal := expected_refusal(device, Order(options=order.options)):
        raise ValueError(refusal)
    return commands.start(device, organisation, order, request.user)


@require_safe
@staff_only
def campaign_list(request: UserRequest) -> HttpResponse:
    """List campaigns, newest first."""
    campaigns = Campaign.objects.select_related("device__host").order_by("-ordered_at", "-pk")
    page = Paginator(campaigns, PAGE_ROWS).get_page(request.GET.get("page"))
    return render(request, "lab/campaigns/list.html", {"page": page, "section": "lab"})


@require_safe
@staff_only
def detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a campaign; its live part refreshes itself."""
    campaign = _find(public_id)
    form = EditableTermsForm(initial=vars(parse_terms(campaign.terms)))
    context = campaign_context(campaign, rungs_of(campaign)) | {"form": form, "section": "lab"}
    return render_live(request, "lab/campaigns/campaign.html", context)


@require_safe
@staff_only
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the live part of the page, or 204 if it has not changed."""
    campaign = _find(public_id)
    rungs = rungs_of(campaign)
    if is_current(request, version_of_campaign(campaign, rungs, concurrent_dispatches(campaign))):
        return not_changed()
    return render_live(request, "lab/campaigns/live.html", campaign_context(campaign, rungs))


@require_safe
@staff_only
def ladder_json(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the ladder as JSON."""
    return JsonResponse(ladder_document(_find(public_id)))


@require_POST
@staff_only
def pause_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """Pause a campaign: it orders no more runs."""
    success = "Paused. A current run continues to its end."
    return _run_command(request, public_id, commands.pause, success, "Not paused: the campaign is not active.")


@require_POST
@staff_only
def resume_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """Resume a paused campaign."""
    return _run_command(request, public_id, commands.resume, "Resumed.", "Not resumed: the campaign is not paused.")


@require_POST
@staff_only
def cancel_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """Cancel a campaign and its current run."""
    success = "Cancellation requested. This page shows when the host has confirmed it."
    cancel = partial(commands.cancel, reason=request.POST.get("reason", ""))
    return _run_command(
        request,
        public_id,
        cancel,
        success,
        "Not cancelled: the campaign has ended, or its cancellation was already requested.",
    )


@require_safe
@staff_only
def confirm_cancel(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for confirmation before a campaign is cancelled."""
    return confirmation_page(request, campaign_cancel_question(_find(public_id)))


def _run_command(
    request: UserRequest, public_id: str, command: Callable[[Campaign, User], bool], success: str, failure: str
) -> HttpResponse:
    if command(_find(public_id), request.user):
        messages.success(request, success)
    else:
        messages.error(request, failure)
    return redirect("campaign-detail", public_id)


@require_POST
@staff_only
def change_terms(request: UserRequest, public_id: str) -> HttpResponse:
    """Change the terms; if one of them is invalid, change nothing and show the error."""
    campaign = _find(public_id)
    form = EditableTermsForm(request.POST, initial=vars(parse_terms(campaign.terms)))
    if not form.is_valid():
        context = campaign_context(campaign, rungs_of(campaign)) | {"form": form, "section": "lab"}
        return render_live(request, "lab/campaigns/campaign.html", context)
    if commands.change(campaign, form.changes(), request.user):
        messages.success(request, "Terms changed. They apply from the next step on.")
    else:
        messages.error(request, "No term was changed: the values are the same, or the campaign has ended.")
    return redirect("campaign-detail", public_id)


def _find(public_id: str) -> Campaign:
    related = Campaign.objects.select_related("device__host", "organisation", "ordered_by", "profile")
    return get_object_or_404(related, public_id=public_id)
