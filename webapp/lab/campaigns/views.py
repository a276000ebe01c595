"""Starting a campaign, watching it climb, holding it, changing its terms, ending it."""

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
from webapp.lab.campaigns.page import alongside, describe_campaign, ladder_document, version_of_campaign
from webapp.lab.dispatches.orders import NO_LAB, lab_of
from webapp.lab.shared.confirmation import ask, of_campaign_cancel
from webapp.lab.shared.consent import asked_of, consented
from webapp.lab.shared.drive_status import drive_now
from webapp.lab.shared.live_part import is_known, renewed, unchanged

PAGE_ROWS = 50


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def order_campaign(request: UserRequest, device_id: int) -> HttpResponse:
    """Start a campaign on a device, for the lab that the orderer belongs to."""
    device = get_object_or_404(Device.objects.select_related("host"), pk=device_id)
    organisation = lab_of(request.user)
    form = CampaignForm(request.POST or None, initial={"with_prep": PREP in RECIPES})
    if request.method == "POST" and organisation is None:
        form.add_error(None, NO_LAB)
    if request.method == "POST" and organisation is not None and form.is_valid():
        try:
            campaign = _start(request, device, organisation, form.wanted())
            return redirect("campaign-detail", campaign.public_id)
        except (commands.DriveTakenError, ValueError) as error:
            form.add_error(None, str(error))
    context = {"form": form, "organisation": organisation, "may_certify": device.may_certify, "now": drive_now(device)}
    return render(request, "lab/campaigns/order.html", context | asked_of(device) | {"section": "lab"})


def _start(
    request: UserRequest, device: Device, organisation: Organisation, wanted: commands.CampaignOrder
) -> Campaign:
    """Start a campaign. Raises DriveTakenError, and ValueError without consent or where an order would be refused."""
    wanted = replace(wanted, options=consented(device, request.POST, wanted.options))
    if refusal := expected_refusal(device, Order(options=wanted.options)):
        raise ValueError(refusal)
    return commands.start(device, organisation, wanted, request.user)


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
    """Show a campaign; the live part renews itself."""
    campaign = _find(public_id)
    form = EditableTermsForm(initial=vars(parse_terms(campaign.terms)))
    context = describe_campaign(campaign, rungs_of(campaign)) | {"form": form, "section": "lab"}
    return renewed(request, "lab/campaigns/campaign.html", context)


@require_safe
@staff_only
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Answer with the part of the page that changes, and with 204 while it has not."""
    campaign = _find(public_id)
    rungs = rungs_of(campaign)
    if is_known(request, version_of_campaign(campaign, rungs, alongside(campaign))):
        return unchanged()
    return renewed(request, "lab/campaigns/live.html", describe_campaign(campaign, rungs))


@require_safe
@staff_only
def ladder_json(request: UserRequest, public_id: str) -> HttpResponse:
    """Answer with the ladder for scripts."""
    return JsonResponse(ladder_document(_find(public_id)))


@require_POST
@staff_only
def pause_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """Order nothing more for now."""
    done = "Paused. A run that is under way goes on to its end."
    return _do(request, public_id, commands.pause, done, "Nothing to pause: it is not active.")


@require_POST
@staff_only
def resume_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """Go on."""
    return _do(request, public_id, commands.resume, "It goes on.", "Nothing to go on with: it is not paused.")


@require_POST
@staff_only
def cancel_campaign(request: UserRequest, public_id: str) -> HttpResponse:
    """End it, and the run that is under way."""
    done = "Cancel asked for. Here it says when the host has confirmed it."
    cancel = partial(commands.cancel, reason=request.POST.get("reason", ""))
    return _do(request, public_id, cancel, done, "Nothing to cancel: it has ended, or a cancel was asked for.")


@require_safe
@staff_only
def confirm_cancel(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask once before it is ended."""
    return ask(request, of_campaign_cancel(_find(public_id)))


def _do(
    request: UserRequest, public_id: str, deed: Callable[[Campaign, User], bool], done: str, not_done: str
) -> HttpResponse:
    if deed(_find(public_id), request.user):
        messages.success(request, done)
    else:
        messages.error(request, not_done)
    return redirect("campaign-detail", public_id)


@require_POST
@staff_only
def change_terms(request: UserRequest, public_id: str) -> HttpResponse:
    """Change terms; where one is wrong nothing is changed, and the page says which."""
    campaign = _find(public_id)
    form = EditableTermsForm(request.POST, initial=vars(parse_terms(campaign.terms)))
    if not form.is_valid():
        context = describe_campaign(campaign, rungs_of(campaign)) | {"form": form, "section": "lab"}
        return renewed(request, "lab/campaigns/campaign.html", context)
    if commands.change(campaign, form.changes(), request.user):
        messages.success(request, "Changed. The next step is decided by the new terms.")
    else:
        messages.error(request, "Nothing was changed: the terms are as they were, or the campaign has ended.")
    return redirect("campaign-detail", public_id)


def _find(public_id: str) -> Campaign:
    related = Campaign.objects.select_related("device__host", "organisation", "ordered_by", "profile")
    return get_object_or_404(related, public_id=public_id)
