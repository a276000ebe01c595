"""Orders: ordering, retrying, cancelling and enqueueing runs.

The row is the queue: a lost message delays a dispatch by one polling period.

The pages that order, retry or plan a campaign call `expected_refusal` first: it predicts refusals from the host's last
report. `order` does not call it, nor do the later steps of a campaign. drivetest decides on the host.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import partial
from typing import Any

from celery import current_app
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from kombu.exceptions import OperationalError

from results.history import record_event
from results.logs.tracing import DISPATCH, store_trace
from results.models import Organisation
from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from runners.errors import RequestRefusedError
from runners.inventory.devices import is_missing, last_identified
from runners.inventory.health import is_listed, reported_at
from runners.inventory.safety import may_consent_on_page, signature_of
from runners.inventory.service_state import lock_in_service
from runners.inventory.ycsb_requirements import objection_to_hosts, objection_to_programs
from runners.lifecycle.transitions import add_step
from runners.models import LOST_UNCONFIRMED, Device, Dispatch, Host, Step
from runners.models.dispatch import CONSENT_OPTION
from runners.models.postgres import storable
from runners.models.states import FINAL, State
from runners.recipes import ycsb
from runners.recipes.base import YCSB, Role
from runners.recipes.ycsb_setup import objection_to_second_host, parse_setup

log = logging.getLogger(__name__)

ADVANCE_DISPATCH = "runners.advance_dispatch"  # by name, since the module of the tasks imports everything in this app
REASON_CHARS_MAX = 500
EXPIRES_S = 60  # after a minute, the periodic task has polled the dispatch


def enqueue_dispatch(dispatch_id: int) -> None:
    """Ask a worker to poll a dispatch now. Without a broker, only log that: the periodic task polls it later."""
    try:
        current_app.tasks[ADVANCE_DISPATCH].apply_async(args=(dispatch_id,), expires=EXPIRES_S, retry=False)
    except OperationalError as error:
        log.warning("dispatch %s: no worker notified (%s); the next round polls it", dispatch_id, error)


@dataclass(frozen=True)
class Order:
    """An order: the load, its duration, the slice length, and what the orderer states about the product.

    Preparations and YCSB sweeps have neither load nor duration. `load_host` is a second host that sends the requests,
    None if the drive's own host does.
    """

    nx_load: Decimal | None = None
    duration_s: int | None = None
    slice_length_s: int = SLICE_LENGTH_DEFAULT_S
    options: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    recipe: str = "act-storage"
    load_host: Host | None = None


def order(
    device: Device, organisation: Organisation, requested: Order, actor: AbstractBaseUser, **relations: Any
) -> Dispatch:
    """Queue a dispatch. A message wakes a worker after the commit; without it the next round finds the row.

    `relations` are its columns `campaign`, `campaign_step` and `purpose`, or `retry_of`.
    Raise OutOfServiceError if the device or a host is retired. Raise RequestRefusedError for a YCSB sweep on hosts that
    cannot execute it: it would format the drive and then stop.
    """
    if requested.recipe == YCSB and (objection := _objection_to_hosts(device, requested)):
        raise RequestRefusedError(objection, "host-unfit")
    with transaction.atomic():
        lock_in_service(device, requested.load_host)
        dispatch = Dispatch.objects.create(
            organisation=organisation,
            ordered_by_id=actor.pk,
            device=device,
            drive_key=device.drive_key,
            **vars(requested),
            **relations,
        )
        load = {} if requested.nx_load is None else {"nx_load": str(requested.nx_load)}
        _record(dispatch, actor, "dispatch-ordered", {"recipe": requested.recipe} | load)
        store_trace(DISPATCH, dispatch.pk)
        transaction.on_commit(partial(enqueue_dispatch, dispatch.pk))
    return dispatch


def _objection_to_hosts(device: Device, requested: Order) -> str:
    """Return why a sweep cannot use its hosts; empty if it can. Raise SetupError for options that no host can run."""
    second = requested.load_host
    if objection := objection_to_hosts(device.host, second):
        return objection
    if second is None or second == device.host or not (second.is_remote or device.host.is_remote):
        return ""  # one machine
    return objection_to_second_host(parse_setup(requested.options), second.name)


def may_be_retried(dispatch: Dispatch) -> bool:
    """Return whether a dispatch may be ordered again in its place. A campaign orders its own retries."""
    may_run = dispatch.state == State.LOST and dispatch.ended_at is None
    has_ended = dispatch.state in FINAL - {State.DONE} and not may_run
    return has_ended and dispatch.campaign_id is None and not Dispatch.objects.filter(retry_of=dispatch).exists()


def retry(dispatch: Dispatch, requested: Order, actor: AbstractBaseUser) -> Dispatch | None:
    """Order again, linked to the earlier dispatch. Return None if that is not possible or was done already.

    `requested` is what `order_of` returns, with the consent of today. Raise what `order` raises.
    """
    if not may_be_retried(dispatch):
        return None
    try:
        with transaction.atomic():
            return order(dispatch.device, dispatch.organisation, requested, actor, retry_of=dispatch)
    except IntegrityError:
        if Dispatch.objects.filter(retry_of=dispatch).exists():
            return None
        raise


def order_of(dispatch: Dispatch) -> Order:
    """Return the order of a dispatch without its consent to overwrite data: that was for the data of that time."""
    original = Order(**{each.name: getattr(dispatch, each.name) for each in fields(Order)})
    options = {name: value for name, value in original.options.items() if name != CONSENT_OPTION}
    return replace(original, options=options)


def cancel(dispatch: Dispatch, actor: AbstractBaseUser, reason: str = "") -> bool:
    """Request the cancellation of a dispatch and return whether that is still possible. The next poll acts on it.

    A lost dispatch whose program may still run can be cancelled too: it stays lost, and its program is stopped. The
    history shows the request at once, and later the worker's confirmation that nothing runs.
    """
    with transaction.atomic():
        row = Dispatch.objects.filter(~Q(state__in=FINAL) | LOST_UNCONFIRMED, pk=dispatch.pk, cancel_requested_at=None)
        is_requested = row.update(cancel_requested_at=timezone.now(), next_poll_at=Now())
        if is_requested:
            why = storable(reason.strip())[:REASON_CHARS_MAX]
            sentence = f"{actor.get_username()} requested the cancellation{f': {why}' if why else ''}"
            _add_step(dispatch, actor, Step.Kind.CANCEL_REQUESTED, sentence, why)
            _record(dispatch, actor, "dispatch-cancel-asked", {"reason": why} if why else {})
            transaction.on_commit(partial(enqueue_dispatch, dispatch.pk))
    return bool(is_requested)


def declare_ended(dispatch: Dispatch, actor: AbstractBaseUser, reason: str) -> bool:
    """Free the drive of a lost dispatch because a person knows that nothing of it runs. Return False otherwise.

    Raise ValueError without a reason: the history shows it in place of the host's confirmation.
    """
    if not reason.strip():
        raise ValueError(f"{dispatch}: expected the reason why its program has ended, got none")
    with transaction.atomic():
        lost = Dispatch.objects.filter(LOST_UNCONFIRMED, pk=dispatch.pk)
        if not lost.update(ended_at=timezone.now()):
            return False
        why = storable(reason.strip())
        sentence = f"{actor.get_username()} declared that the program has ended: {why}"
        _add_step(dispatch, actor, Step.Kind.DECLARED_ENDED, sentence, why)
        _record(dispatch, actor, "dispatch-declared-ended", {"reason": sentence})
    return True


def _add_step(dispatch: Dispatch, actor: AbstractBaseUser, kind: Step.Kind, sentence: str, why: str) -> None:
    """Add what a person requested or declared to the history. The state of the row, not of `dispatch`, is current."""
    state = Dispatch.objects.values_list("state", flat=True).get(pk=dispatch.pk)
    add_step(dispatch, state, kind, actor.get_username()[:100], sentence, {"reason": why} if why else {})


def _record(dispatch: Dispatch, actor: AbstractBaseUser, kind: str, details: dict[str, Any]) -> None:
    record_event(actor, kind, ("dispatch", dispatch.public_id), details=details)


def expected_refusal(device: Device, requested: Order) -> str:
    """Return why an order would be refused, with the remedy; empty if no report predicts a refusal.

    Raise SetupError for a YCSB sweep that cannot run as ordered.
    """
    refusals = [*_refusal_by_last_check(device), *_refusal_for_data(device, requested)]
    return " ".join([*refusals, *_refusal_for_programs(device, requested)])


def _refusal_by_last_check(device: Device) -> Iterator[str]:
    host = device.host
    if not host.is_remote:
        if is_missing(device):
            yield f"Host {host} does not find drive {device.drive_key} now. Attach it, and order again."
        return
    at = reported_at(host.health)
    when = f"as reported on {at:%-d %B %Y, %H:%M} UTC" if at else "as reported at its last check"
    if is_listed(host, device.drive_key) is False:
        yield (
            f"Host {host} would refuse the run: its operator has not listed drive {device.drive_key}, {when}. List it "
            "in /etc/drivecert/host.toml there, check the host on its page, and order again."
        )
    elif device.is_missing:
        yield (
            f"Host {host} does not find drive {device.drive_key}, {when}. Attach it, check the host on its page, and "
            "order again."
        )


def _refusal_for_data(device: Device, requested: Order) -> Iterator[str]:
    """Yield a refusal for recognised data. Overwriting needs consent; on remote hosts only the operator gives it."""
    document, at = last_identified(device)
    signature = signature_of(document)
    if not signature or requested.options.get(CONSENT_OPTION):
        return
    holds = f"{device.path} holds {signature}, as its host reported on {at:%-d %B %Y, %H:%M} UTC"
    if may_consent_on_page(device):
        yield (
            f"{holds}: order on the device's page and type the label of the device to confirm that the load may "
            "overwrite the data."
        )
    else:
        yield (
            f"{holds}, and refuses to overwrite it. Its operator wipes it there with the command on the device's "
            "page. Then refresh the device on its page."
        )


def _refusal_for_programs(device: Device, requested: Order) -> Iterator[str]:
    """Yield a refusal for programs that a sweep needs and a host's operator does not allow by name."""
    if requested.recipe != YCSB:
        return
    sweep = Dispatch(device=device, drive_key=device.drive_key, recipe=YCSB, options=requested.options)
    sweep.load_host = requested.load_host
    for role, host in ((Role.DATABASE, device.host), (Role.LOAD, requested.load_host)):
        if host is not None and (objection := objection_to_programs(host, ycsb.programs(sweep, role))):
            yield f"A sweep would be refused: {objection}."
