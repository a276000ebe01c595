"""Views of a dispatch: order it, show its progress, cancel it, archive its leftover files and order it again."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from results.models import Organisation
from runners.dispatch import orders
from runners.dispatch.orders import Order
from runners.errors import RequestRefusedError
from runners.inventory.ycsb_requirements import missing_programs
from runners.models import Device, Dispatch
from runners.models.states import State
from runners.retention import leftover_archive
from webapp.accounts.models import User
from webapp.accounts.permissions import Action, organisations_of
from webapp.accounts.requests import UserRequest
from webapp.lab.dispatches import ordering
from webapp.lab.dispatches.forms import OrderForm, YcsbForm, order_like, preset_commands
from webapp.lab.dispatches.ordering import check_order, check_orderable, request_cancellation
from webapp.lab.dispatches.page import dispatch_context, version_of_dispatch
from webapp.lab.shared import order_templates
from webapp.lab.shared.drive_status import availability_of, consent_context
from webapp.lab.shared.order_templates import SavableForm, saved_settings
from webapp.lab.shared.views import (
    confirmation_page,
    find_device,
    live_response,
    operator_command,
    operator_form,
    operator_page,
    render_page,
)

# The effect of a cancellation by the state of the dispatch. States that are missing here cannot be cancelled.
CANCEL_EFFECTS = {
    State.QUEUED: "No program was started. The run is taken out of the queue.",
    State.CLAIMED: "No program was started yet. If a program starts in the meantime, the host stops it.",
    State.PREPARING: "The program is being started. The host stops this program; its measurements are discarded.",
    State.RUNNING: "The host stops the program. The run cannot be continued; its measurements are discarded.",
    State.COLLECTING: "The program has ended, and the register stores its log. If the log cannot be stored, the run is "
    "cancelled and the log stays on the host.",
    State.LOST: "The run stays lost. If the program of the run still runs, the host stops it. The drive is free once "
    "the host confirms that no program runs.",
}
NOTHING_TO_CANCEL = "The run has already ended. There is nothing to cancel."


@operator_page
def detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a dispatch; its live part refreshes itself."""
    return render_page(request, "lab/dispatches/dispatch.html", dispatch_context(_find(public_id)))


@operator_page
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the live part of the page, or 204 if it has not changed."""
    dispatch = _find(public_id)
    version = version_of_dispatch(dispatch)
    return live_response(request, version, "lab/dispatches/live.html", lambda: dispatch_context(dispatch))


@operator_command("dispatch-detail")
def cancel_dispatch(request: UserRequest, public_id: str) -> str:
    """Request the cancellation of a dispatch."""
    request_cancellation(_find(public_id), request.user, request.POST.get("reason", ""))
    return "Cancellation requested. This page shows when the host has stopped the program."


@operator_page
def confirm_cancel(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for confirmation before a run is cancelled."""
    dispatch = _find(public_id)
    is_freed = dispatch.state == State.LOST and dispatch.ended_at is not None
    effect = NOTHING_TO_CANCEL if is_freed else CANCEL_EFFECTS.get(State(dispatch.state), NOTHING_TO_CANCEL)
    return confirmation_page(request, dispatch, "cancel", "Cancel this run?", effect)


@operator_command("dispatch-detail")
def declare_ended(request: UserRequest, public_id: str) -> str:
    """Record that a person confirmed that a lost dispatch no longer runs, with their reason."""
    ordering.declare_ended(_find(public_id), request.user, request.POST.get("reason", ""))
    return "The drive is free. Your statement is shown in the steps of the dispatch."


@operator_command("dispatch-detail", "The leftover files are not archived:")
def archive_leftovers(request: UserRequest, public_id: str) -> str:
    """Request that the leftover files of an ended dispatch are archived soon, not only before they are removed."""
    leftover_archive.request_fetch(_find(public_id), request.user)
    return ""


@operator_page
def confirm_retry(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for confirmation before a run is ordered again; like an order, it may need the label."""
    old = _find(public_id)
    effect = f"The new run has the same settings and overwrites {old.device.path}."
    return confirmation_page(request, old, "retry", "Order this run again?", effect, **consent_context(old.device))


@operator_command("dispatch-detail", "The run was not ordered again.")
def retry_dispatch(request: UserRequest, public_id: str) -> HttpResponse:
    """Order the same run again, linked to the old one; it needs a new consent to overwrite data."""
    new = ordering.order_again(_find(public_id), request.POST, request.user)
    return redirect("dispatch-detail", new.public_id)


def _find(public_id: str) -> Dispatch:
    related = Dispatch.objects.select_related(
        "device__host", "organisation", "ordered_by", "submission__log", "campaign", "retry_of", "retry"
    )
    return get_object_or_404(related, public_id=public_id)


@operator_form
def order_run(request: UserRequest, device_id: int) -> HttpResponse:
    """Order an ACT run on a device, for the lab of the orderer."""
    like = request.GET.get("like", "")
    initial = order_like(like) or saved_settings(like, lab_of(request.user), OrderForm.template_kind)
    form = OrderForm(request.POST or None, initial=initial)

    def place(device: Device, organisation: Organisation) -> HttpResponse:
        return place_order(request, device, organisation, form.order())

    return render_order(request, device_id, form, "lab/dispatches/order.html", check_orderable, place)


@operator_command("lab-device", "The preparation was not ordered.")
def prepare(request: UserRequest, device_id: int) -> HttpResponse:
    """Order the preparation of a drive."""
    device = find_device(device_id)
    organisation = check_orderable(device, lab_of(request.user))
    return place_order(request, device, organisation, Order(recipe="prep"))


@operator_form
def order_ycsb(request: UserRequest, device_id: int) -> HttpResponse:
    """Order a YCSB sweep from a preset; the page shows the command lines of each preset."""
    initial = saved_settings(request.GET.get("like", ""), lab_of(request.user), YcsbForm.template_kind)
    form = YcsbForm(request.POST or None, initial=initial)

    def place(device: Device, organisation: Organisation) -> HttpResponse:
        return place_order(request, device, organisation, form.order())

    presets = {"presets": preset_commands(), "missing_programs": missing_programs(find_device(device_id).host)}
    return render_order(request, device_id, form, "lab/dispatches/order_ycsb.html", check_orderable, place, **presets)


def render_order(
    request: UserRequest,
    device_id: int,
    form: SavableForm,
    template: str,
    check: Callable[[Device, Organisation | None], Organisation],
    place: Callable[[Device, Organisation], HttpResponse],
    **context: Any,
) -> HttpResponse:
    """Show an order form for a device. If a valid form was posted, place the order; show why it was refused.

    `check` returns the lab that orders; `place` orders, and returns the next page. The settings may be saved as a
    template instead.
    """
    device, organisation = find_device(device_id), lab_of(request.user)
    if order_templates.is_posted(request):
        if saved := order_templates.save_posted(request, organisation, form):
            return redirect(f"{request.path}?like={saved.public_id}")
    elif request.method == "POST":
        try:
            lab = check(device, organisation)
            if form.is_valid():
                return place(device, lab)
        except RequestRefusedError as error:
            form.add_error(None, str(error))
    context |= {"form": form, "organisation": organisation, "availability": availability_of(device)}
    context["saved"] = order_templates.templates_of(organisation, form.template_kind)
    return render_page(request, template, context | consent_context(device))


def place_order(request: UserRequest, device: Device, organisation: Organisation, order: Order) -> HttpResponse:
    """Create a dispatch from an order of a page, and show it.

    Raises RequestRefusedError, before anything is stored, if the consent is missing or the order would be refused.
    """
    dispatch = orders.order(device, organisation, check_order(request.POST, device, order), request.user)
    return redirect("dispatch-detail", dispatch.public_id)


def lab_of(user: User) -> Organisation | None:
    """Return the lab of a user: the first one that they joined and may submit for."""
    labs = organisations_of(user, Action.SUBMIT).filter(kind=Organisation.Kind.LAB)
    memberships = user.memberships.filter(organisation__in=labs).select_related("organisation")
    first = memberships.order_by("pk").first()
    return first.organisation if first else None
