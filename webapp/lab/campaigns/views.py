"""Views of campaigns: start, watch, pause, resume, change the terms, cancel."""

from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect

from results.models import Organisation
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.terms import parse_terms
from runners.models import Device
from runners.models.campaign import Campaign
from webapp.accounts.requests import UserRequest
from webapp.lab.campaigns import ordering
from webapp.lab.campaigns.forms import CampaignForm, EditableTermsForm
from webapp.lab.campaigns.ordering import pause, request_cancellation, resume, start_campaign
from webapp.lab.campaigns.page import campaign_context, concurrent_dispatches, ladder_document, version_of_campaign
from webapp.lab.campaigns.templates import TEMPLATES, initial_of
from webapp.lab.dispatches.ordering import require_lab
from webapp.lab.dispatches.views import lab_of, render_order
from webapp.lab.shared.views import (
    PAGE_ROWS,
    confirmation_page,
    live_response,
    operator_command,
    operator_form,
    operator_page,
    render_page,
)


@operator_form
def order_campaign(request: UserRequest, device_id: int) -> HttpResponse:
    """Start a campaign on a device, for the lab of the orderer."""
    initial = initial_of(request.GET.get("like", ""), lab_of(request.user))
    form = CampaignForm(request.POST or None, initial=initial)

    def start(device: Device, organisation: Organisation) -> HttpResponse:
        campaign = start_campaign(request.POST, device, organisation, form.campaign_order(), request.user)
        return redirect("campaign-detail", campaign.public_id)

    return render_order(request, device_id, form, "lab/campaigns/order.html", require_lab, start, templates=TEMPLATES)


@operator_page
def campaign_list(request: UserRequest) -> HttpResponse:
    """List campaigns, newest first."""
    campaigns = Campaign.objects.select_related("device__host").order_by("-ordered_at", "-pk")
    page = Paginator(campaigns, PAGE_ROWS).get_page(request.GET.get("page"))
    return render_page(request, "lab/campaigns/list.html", {"page": page})


@operator_page
def detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a campaign; its live part refreshes itself."""
    campaign = _find(public_id)
    return _render_campaign(request, campaign, EditableTermsForm(initial=vars(parse_terms(campaign.terms))))


@operator_page
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the live part of the page, or 204 if it has not changed."""
    campaign = _find(public_id)
    rungs = rungs_of(campaign)
    version = version_of_campaign(campaign, rungs, concurrent_dispatches(campaign))
    return live_response(request, version, "lab/campaigns/live.html", lambda: campaign_context(campaign, rungs))


@operator_page
def ladder_json(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the ladder as JSON."""
    return JsonResponse(ladder_document(_find(public_id)))


@operator_command("campaign-detail")
def pause_campaign(request: UserRequest, public_id: str) -> str:
    """Pause a campaign: it orders no more runs."""
    pause(_find(public_id), request.user)
    return "The campaign is paused. A run that has started continues to its end."


@operator_command("campaign-detail")
def resume_campaign(request: UserRequest, public_id: str) -> str:
    """Resume a paused campaign."""
    resume(_find(public_id), request.user)
    return "The campaign is resumed."


@operator_command("campaign-detail")
def cancel_campaign(request: UserRequest, public_id: str) -> str:
    """Cancel a campaign and its current run."""
    request_cancellation(_find(public_id), request.user, request.POST.get("reason", ""))
    return "Cancellation requested. This page shows when the host has confirmed that no run of the campaign runs."


@operator_page
def confirm_cancel(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for confirmation before a campaign is cancelled."""
    effect = "The host stops a run that has started; its measurements are discarded. Completed runs stay. "
    effect += "A cancelled campaign cannot be resumed."
    return confirmation_page(request, _find(public_id), "cancel", "Cancel the campaign?", effect)


@operator_command("campaign-detail")
def change_terms(request: UserRequest, public_id: str) -> str | HttpResponse:
    """Change the terms; if one of them is invalid, change nothing and show the error."""
    campaign = _find(public_id)
    form = EditableTermsForm(request.POST, initial=vars(parse_terms(campaign.terms)))
    if not form.is_valid():
        return _render_campaign(request, campaign, form)
    ordering.change_terms(campaign, form.changes(), request.user)
    return "Terms changed. The new terms apply from the next step of the campaign on."


def _render_campaign(request: UserRequest, campaign: Campaign, form: EditableTermsForm) -> HttpResponse:
    context = campaign_context(campaign, rungs_of(campaign)) | {"form": form}
    return render_page(request, "lab/campaigns/campaign.html", context)


def _find(public_id: str) -> Campaign:
    related = Campaign.objects.select_related("device__host", "organisation", "ordered_by", "profile")
    return get_object_or_404(related, public_id=public_id)
