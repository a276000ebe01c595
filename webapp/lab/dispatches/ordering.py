"""Checks before a run is ordered or cancelled, for the pages and the API. Each refusal has a code and a sentence."""

from collections.abc import Mapping
from dataclasses import replace

from results.models import Organisation
from runners.campaigns.commands import DriveTakenError, open_on
from runners.dispatch import orders
from runners.dispatch.orders import Order, expected_refusal
from runners.errors import RequestRefusedError
from runners.inventory.service_state import OutOfServiceError, out_of_service
from runners.models import Device, Dispatch
from webapp.accounts.models import User
from webapp.lab.shared.drive_status import options_with_consent

NO_LAB_MESSAGE = "You do not submit for a lab. Ask an operator to add you to an organisation of the kind lab."


def check_order(posted: Mapping[str, str], device: Device, order: Order) -> Order:
    """Return an order with the consent that was posted with it.

    Raises RequestRefusedError if the consent is missing or the order would be refused.
    """
    order = replace(order, options=options_with_consent(device, posted, order.options))
    if refusal := expected_refusal(device, order):
        raise RequestRefusedError(refusal, "host-would-refuse")
    return order


def require_lab(_device: Device, organisation: Organisation | None) -> Organisation:
    """Return the lab that orders. Raises RequestRefusedError if there is none."""
    if organisation is None:
        raise RequestRefusedError(NO_LAB_MESSAGE, "no-lab")
    return organisation


def check_orderable(device: Device, organisation: Organisation | None) -> Organisation:
    """Return the lab that orders. Raises RequestRefusedError if no run can be ordered on a device now."""
    lab = require_lab(device, organisation)
    if retired := out_of_service(device):
        raise OutOfServiceError(retired)
    if campaign := open_on(device.drive_key):
        raise DriveTakenError(f"Campaign {campaign} uses this drive. Wait until it ends, or cancel it.")
    return lab


def request_cancellation(dispatch: Dispatch, actor: User, reason: str) -> None:
    """Request the cancellation of a dispatch. Raises RequestRefusedError if that is not possible or was done."""
    if not orders.cancel(dispatch, actor, reason):
        sentence = "Not cancelled: the run has already ended, or its cancellation was already requested."
        raise RequestRefusedError(sentence, "not-cancellable")


def order_again(old: Dispatch, posted: Mapping[str, str], actor: User) -> Dispatch:
    """Order a run in place of one that failed, with a new consent. Raises RequestRefusedError."""
    check_orderable(old.device, old.organisation)
    new = orders.retry(old, check_order(posted, old.device, orders.order_of(old)), actor)
    if new is None:
        sentence = "The state of the run does not allow this, or the run was already ordered again."
        raise RequestRefusedError(sentence, "not-retryable")
    return new


def declare_ended(dispatch: Dispatch, actor: User, reason: str) -> None:
    """Record that a person verified that a lost dispatch no longer runs. Raises RequestRefusedError."""
    if not reason.strip():
        sentence = "Enter how you verified that the program does not run. The history shows your statement."
        raise RequestRefusedError(sentence, "reason-missing")
    if not orders.declare_ended(dispatch, actor, reason):
        sentence = "Nothing was changed: the dispatch is not lost, or its end was already confirmed."
        raise RequestRefusedError(sentence, "not-lost")
