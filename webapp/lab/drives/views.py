"""Views of all drives: the overview, and a campaign on each drive of a selection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.http import urlencode

from results.models import Organisation
from runners.campaigns import commands
from runners.campaigns.commands import CampaignOrder
from runners.errors import RequestRefusedError
from runners.inventory.service_state import lock_all
from runners.models import Campaign, Device
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest
from webapp.lab.campaigns.forms import CampaignForm
from webapp.lab.campaigns.ordering import check_campaign
from webapp.lab.campaigns.templates import TEMPLATES, initial_of
from webapp.lab.dispatches.ordering import require_lab
from webapp.lab.dispatches.views import lab_of
from webapp.lab.drives.overview import DriveFilter, drive_page
from webapp.lab.shared import order_templates
from webapp.lab.shared.drive_status import LABEL_FIELD, LOCATION_FIELD, SHOWN_FIELD, consent_context
from webapp.lab.shared.views import operator_form, operator_page, render_page
from webapp.register.http.query_params import ParameterError, read_parameters, text, word
from webapp.register.http.responses import parameter_error_page

SELECTED_MAX = 100
PARAMETERS = (
    text("q", "Search"),
    word("state", DriveFilter.values, "Show"),
    text("like", "Campaign or template to repeat"),
    text("after", "After the drive"),
)
ROW_ID_DIGITS = 18  # fewer than those of the largest number of its column
NONE_SELECTED = "No drive is selected. Select drives in the table, then start the campaign."
TOO_MANY_SELECTED = f"Expected at most {SELECTED_MAX} drives, got {{count}}. Select fewer drives."


class SelectionRefusedError(RequestRefusedError):
    """Campaigns that were not started. `reasons` has a sentence for each drive that refuses one."""

    code = "selection-refused"

    def __init__(self, reasons: Mapping[int, str]) -> None:
        super().__init__("No campaign was started, because some drives refuse it.")
        self.reasons = dict(reasons)


@dataclass(frozen=True)
class SelectedDrive:
    """A drive of a selection, with what its consent shows, and why it refuses the campaign."""

    device: Device
    consent: dict[str, Any]
    refusal: str


@operator_page
def overview(request: UserRequest) -> HttpResponse:
    """List drives in service, from the one after `after` on; a form selects some of them for a campaign."""
    try:
        query = read_parameters(request.GET, PARAMETERS)
    except ParameterError as error:
        return parameter_error_page(request, error)
    words, drive_filter, after = query["q"], DriveFilter(query["state"]), query["after"]
    first = Device.objects.select_related("host").filter(pk=int(after)).first() if is_row_id(after) else None
    rows, last = drive_page(words, drive_filter, first)
    more = urlencode(query | {"after": str(last)}) if last else ""
    context = {"rows": rows, "words": words, "drive_filter": drive_filter, "like": query["like"], "more": more}
    return render_page(request, "lab/drives/list.html", context | {"filters": DriveFilter.choices})


@operator_form
def order_campaigns(request: UserRequest) -> HttpResponse:
    """Start the same campaign on each selected drive, or on none of them."""
    devices = selected_devices(request.POST if request.method == "POST" else request.GET)
    if not devices:
        messages.error(request, NONE_SELECTED)
        return redirect("lab-drives")
    if len(devices) > SELECTED_MAX:
        messages.error(request, TOO_MANY_SELECTED.format(count=len(devices)))
        return redirect("lab-drives")
    organisation = lab_of(request.user)
    form = CampaignForm(request.POST or None, initial=initial_of(request.GET.get("like", ""), organisation))
    if order_templates.is_posted(request):
        if saved := order_templates.save_posted(request, organisation, form):
            query = urlencode([("like", saved.public_id), *(("device", each.pk) for each in devices)])
            return redirect(f"{request.path}?{query}")
    elif request.method == "POST" and form.is_valid():
        return _start_posted(request, devices, organisation, form)
    return _render_selection(request, devices, organisation, form, {})


def _start_posted(
    request: UserRequest, devices: list[Device], organisation: Organisation | None, form: CampaignForm
) -> HttpResponse:
    """Start the campaigns that were posted; if they are refused, show the form with the reasons."""
    try:
        lab = require_lab(devices[0], organisation)
        started = start_campaigns(request.POST, devices, lab, form.campaign_order(), request.user)
    except RequestRefusedError as error:
        form.add_error(None, str(error))
        reasons = error.reasons if isinstance(error, SelectionRefusedError) else {}
        return _render_selection(request, devices, organisation, form, reasons)
    messages.success(request, f"Campaigns were started: {len(started)}.")
    return redirect("lab-drives")


def _render_selection(
    request: UserRequest,
    devices: list[Device],
    organisation: Organisation | None,
    form: CampaignForm,
    refusals: Mapping[int, str],
) -> HttpResponse:
    context = {
        "form": form,
        "drives": [SelectedDrive(each, consent_context(each), refusals.get(each.pk, "")) for each in devices],
        "templates": TEMPLATES,
        "saved": order_templates.templates_of(organisation, form.template_kind),
        "organisation": organisation,
    }
    return render_page(request, "lab/drives/order.html", context)


def is_row_id(text: str) -> bool:
    """Return whether a text can be the id of a row."""
    return text.isascii() and text.isdigit() and len(text) <= ROW_ID_DIGITS


def selected_devices(query: QueryDict) -> list[Device]:
    """Return the devices that a query selects, in the order of the overview."""
    ids = [value for value in query.getlist("device") if is_row_id(value)]
    devices = Device.objects.filter(pk__in=ids).select_related("host")
    return list(devices.order_by("host__name", "pk"))


def start_campaigns(
    posted: Mapping[str, str], devices: list[Device], organisation: Organisation, order: CampaignOrder, actor: User
) -> list[Campaign]:
    """Start a campaign on each device. Raises SelectionRefusedError, before anything is stored, if one is refused.

    The consent of a device is posted in fields that end with its id, such as typed_label-12.
    """
    started, checked, reasons = [], {}, {}
    for device in devices:  # outside of the transaction: hosts answer slowly, and agent hosts only after a commit
        fields = (LABEL_FIELD, SHOWN_FIELD, LOCATION_FIELD)
        consent = {name: posted[key] for name in fields if (key := f"{name}-{device.pk}") in posted}
        try:
            checked[device.pk] = check_campaign(consent, device, order)
        except RequestRefusedError as error:
            reasons[device.pk] = str(error)
    with transaction.atomic():
        lock_all(devices)
        for device in (device for device in devices if device.pk in checked):
            try:
                started.append(commands.start(device, organisation, checked[device.pk], actor))
            except RequestRefusedError as error:
                reasons[device.pk] = str(error)
        if reasons:
            raise SelectionRefusedError(reasons)
    return started
