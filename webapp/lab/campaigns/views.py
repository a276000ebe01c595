"""Views of campaigns: start, watch, pause, resume, change the terms, cancel."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render

from results.models import Organisation
from runners.campaigns import commands
from runners.campaigns.ladder import rungs_of
from runners.campaigns.scheduler import PREP
from runners.campaigns.terms import parse_terms
from runners.dispatch.orders import Order
from runners.models import Device
from runners.models.campaign import Campaign
from runners.recipes import RECIPES
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest
from webapp.lab.campaigns.forms import CampaignForm, EditableTermsForm
from webapp.lab.campaigns.page import campaign_context, concurrent_dispatches, ladder_document, version_of_campaign
from webapp.lab.dispatches.orders import OrderPage, check_order, render_order, require_lab
from webapp.lab.shared.confirmation import campaign_cancel_question, confirmation_page
from webapp.lab.shared.views import live_response, render_live, report, staff_action, staff_form, staff_page

PAGE_ROWS = 50


@staff_form
def order_campaign(request: UserRequest, device_id: int) -> HttpResponse:
    """Start a campaign on a device, for the lab of the orderer."""
    form = CampaignForm(request.POST or None, initial={"with_prep": PREP in RECIPES})

    def start(device: Device, organisation: Organisation) -> HttpResponse:
        campaign_order = form.campaign_order()
        checked = check_order(request, device, Order(options=campaign_order.options))
        campaign_order = replace(campaign_order, options=checked.options)
        campaign = commands.start(device, organisation, campaign_order, request.user)
        return redirect("campaign-detail", campaign.public_id)

    return render_order(request, device_id, form, OrderPage("lab/campaigns/order.html", require_lab, start))


@staff_page
def campaign_list(request: UserRequest) -> HttpResponse:
    """List campaigns, newest first."""
    campaigns = Campaign.objects.select_related("device__host").order_by("-ordered_at", "-pk")
    page = Paginator(campaigns, PAGE_ROWS).get_page(request.GET.get("page"))
    return render(request, "lab/campaigns/list.html", {"page": page, "section": "lab"})


@staff_page
def detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a campaign; its live part refreshes itself."""
    campaign = _find(public_id)
    form = EditableTermsForm(initial=vars(parse_terms(campaign.terms)))
    context = campaign_context(campaign, rungs_of(campaign)) | {"form": form, "section": "lab"}
    return render_live(request, "lab/campaigns/campaign.html", context)


@staff_page
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the live part of the page, or 204 if it has not changed."""
    campaign = _find(public_id)
    rungs = rungs_of(campaign)
    version = version_of_campaign(campaign, rungs, concurrent_dispatches(campaign))
    return live_response(request, version, "lab/campaigns/live.html", lambda: campaign_context(campaign, rungs))


@staff_page
def ladder_json(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the ladder as JSON."""
    return JsonResponse(ladder_document(_find(public_id)))


@staff_action
def pause_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """Pause a campaign: it orders no more runs."""
    success = "Paused. A current run continues to its end."
    return _run_command(request, public_id, commands.pause, success, "Not paused: the campaign is not active.")


@staff_action
def resume_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """Resume a paused campaign."""
    return _run_command(request, public_id, commands.resume, "Resumed.", "Not resumed: the campaign is not paused.")


@staff_action
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


@staff_page
def confirm_cancel(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for confirmation before a campaign is cancelled."""
    return confirmation_page(request, campaign_cancel_question(_find(public_id)))


def _run_command(
    request: UserRequest, public_id: str, command: Callable[[Campaign, User], bool], success: str, failure: str
) -> HttpResponse:
    report(request, command(_find(public_id), request.user), success, failure)
    return redirect("campaign-detail", public_id)


@staff_action
def change_terms(request: UserRequest, public_id: str) -> HttpResponse:
    """Change the terms; if one of them is invalid, change nothing and show the error."""
    campaign = _find(public_id)
    form = EditableTermsForm(request.POST, initial=vars(parse_terms(campaign.terms)))
    if not form.is_valid():
        context = campaign_context(campaign, rungs_of(campaign)) | {"form": form, "section": "lab"}
        return render_live(request, "lab/campaigns/campaign.html", context)
    failure = "No term was changed: the values are the same, or the campaign has ended."
    is_changed = commands.change(campaign, form.changes(), request.user)
    report(request, is_changed, "Terms changed. They apply from the next step on.", failure)
    return redirect("campaign-detail", public_id)


def _find(public_id: str) -> Campaign:
    related = Campaign.objects.select_related("device__host", "organisation", "ordered_by", "profile")
    return get_object_or_404(related, public_id=public_id)
