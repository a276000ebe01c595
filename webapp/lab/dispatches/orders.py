"""Views that order a dispatch: an ACT run, a preparation or a YCSB sweep."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from results.models import Organisation
from runners.campaigns.commands import open_on
from runners.dispatch import orders
from runners.dispatch.orders import Order
from runners.dispatch.preflight import expected_refusal
from runners.inventory.service_state import out_of_service
from runners.inventory.ycsb_requirements import missing_programs
from runners.models import Device, Host
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest
from webapp.lab.dispatches.forms import OrderForm, YcsbForm, preset_commands
from webapp.lab.shared.consent import consent_context, options_with_consent
from webapp.lab.shared.drive_status import availability_of
from webapp.lab.shared.views import staff_action, staff_form

NO_LAB_MESSAGE = "You are not a member of a lab. Ask an operator to add you to an organisation of the kind lab."


@staff_form
def order_run(request: UserRequest, device_id: int) -> HttpResponse:
    """Order an ACT run on a device, for the lab of the orderer."""
    form = OrderForm(request.POST or None)

    def place(device: Device, organisation: Organisation) -> HttpResponse:
        return place_order(request, device, organisation, form.order())

    return render_order(request, device_id, form, OrderPage("lab/dispatches/order.html", check_orderable, place))


@staff_action
def prepare(request: UserRequest, device_id: int) -> HttpResponse:
    """Order the preparation of a drive."""
    device = _find(device_id)
    try:
        organisation = check_orderable(device, lab_of(request.user))
        return place_order(request, device, organisation, Order(recipe="prep"))
    except NotOrderableError as objection:
        messages.error(request, str(objection))
    except ValueError as error:
        messages.error(request, f"The preparation was not ordered. {error}")
    return redirect("lab-device", device_id)


@staff_form
def order_ycsb(request: UserRequest, device_id: int) -> HttpResponse:
    """Order a YCSB sweep from a preset; the page shows the command lines of each preset."""
    form = YcsbForm(request.POST or None)

    def place(device: Device, organisation: Organisation) -> HttpResponse:
        order = Order(recipe="ycsb", options=form.options(), load_host=form.cleaned_data["load_host"])
        return place_order(request, device, organisation, order)

    presets = {"presets": preset_commands(), "missing_programs": missing_programs(_find(device_id).host)}
    page = OrderPage("lab/dispatches/order_ycsb.html", _check_sweep, place, presets)
    return render_order(request, device_id, form, page)


def _check_sweep(device: Device, organisation: Organisation | None) -> Organisation:
    """Return the lab that orders. Raises NotOrderableError: SSH hosts do not format, mount or start databases."""
    if device.host.kind != Host.Kind.LOCAL:
        name = device.host.name
        raise NotOrderableError(f"Host {name} is a host over SSH. YCSB sweeps run only on the register's own machine.")
    return check_orderable(device, organisation)


@dataclass(frozen=True)
class OrderPage:
    """A page with an order form. `check` returns the lab that orders; `place` orders, and returns the next page."""

    template: str
    check: Callable[[Device, Organisation | None], Organisation]
    place: Callable[[Device, Organisation], HttpResponse]
    context: Mapping[str, Any] = field(default_factory=dict)


def render_order(request: UserRequest, device_id: int, form: Form, page: OrderPage) -> HttpResponse:
    """Show an order form for a device. If a valid form was posted, place the order; show why it was refused."""
    device, organisation = _find(device_id), lab_of(request.user)
    if request.method == "POST":
        try:
            lab = page.check(device, organisation)
            if form.is_valid():
                return page.place(device, lab)
        except ValueError as error:
            form.add_error(None, str(error))
    shown: dict[str, Any] = {"form": form, "organisation": organisation, "may_certify": device.may_certify}
    shown |= {"availability": availability_of(device), "section": "lab"} | consent_context(device)
    return render(request, page.template, shown | dict(page.context))


def _find(device_id: int) -> Device:
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)


def place_order(request: UserRequest, device: Device, organisation: Organisation, order: Order) -> HttpResponse:
    """Create a dispatch from an order of a page, and show it.

    Raises ValueError, before anything is stored, if the consent is missing or the order would be refused.
    """
    dispatch = orders.order(device, organisation, check_order(request, device, order), request.user)
    return redirect("dispatch-detail", dispatch.public_id)


def check_order(request: UserRequest, device: Device, order: Order) -> Order:
    """Return an order with the consent of the page.

    Raises ValueError if the consent is missing or the order would be refused.
    """
    order = replace(order, options=options_with_consent(device, request.POST, order.options))
    if refusal := expected_refusal(device, order):
        raise ValueError(refusal)
    return order


class NotOrderableError(ValueError):
    """No run can be ordered on a device now. The text gives the reason and the remedy."""


def require_lab(_device: Device, organisation: Organisation | None) -> Organisation:
    """Return the lab that orders. Raises NotOrderableError if there is none."""
    if organisation is None:
        raise NotOrderableError(NO_LAB_MESSAGE)
    return organisation


def check_orderable(device: Device, organisation: Organisation | None) -> Organisation:
    """Return the lab that orders. Raises NotOrderableError if no run can be ordered on a device now."""
    lab = require_lab(device, organisation)
    if retired := out_of_service(device):
        raise NotOrderableError(retired)
    if campaign := open_on(device.drive_key):
        raise NotOrderableError(f"Campaign {campaign} uses this drive. Wait until it ends, or cancel it.")
    return lab


def lab_of(user: User) -> Organisation | None:
    """Return the lab of a user: the first one that they joined."""
    memberships = user.memberships.filter(organisation__kind=Organisation.Kind.LAB).select_related("organisation")
    first = memberships.order_by("pk").first()
    return first.organisation if first else None
