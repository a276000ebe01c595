"""Enqueueing of dispatches. The row is the queue: a lost message delays a dispatch by one polling period."""

import logging
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

from results.models import Event, Organisation
from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from runners.inventory.service_state import hold_in_service
from runners.inventory.ycsb_requirements import objection_to_hosts
from runners.lifecycle.transitions import CANCEL_ASKED
from runners.models import UNCONFIRMED, Device, Dispatch, Host, Step
from runners.models.campaign import Campaign
from runners.models.dispatch import DESTROY
from runners.models.postgres import storable
from runners.models.states import FINAL, State
from runners.recipes.base import YCSB

log = logging.getLogger(__name__)

ADVANCE_DISPATCH = "runners.advance_dispatch"  # by name, since the module of the tasks imports everything in this app
EXPIRES_S = 60  # after a minute, the periodic task has polled the dispatch


def enqueue_dispatch(dispatch_id: int) -> None:
    """Ask a worker to poll a dispatch now. Without a broker, only log that: the periodic task polls it later."""
    try:
        current_app.tasks[ADVANCE_DISPATCH].apply_async(args=(dispatch_id,), expires=EXPIRES_S, retry=False)
    except OperationalError as error:
        log.warning("dispatch %s: no worker woken (%s); the next look finds it", dispatch_id, error)


REASON_AT_MOST = 500
DECLARED = "nothing of it runs: "


@dataclass(frozen=True)
class Order:
    """What is to be run: the load, how long, how the log is cut, and what is stated about the product.

    A preparation and a YCSB sweep have neither load nor duration: None. `load_host` is a second host that sends the
    requests, None where the drive's own does.
    """

    nx_load: Decimal | None = None
    duration_s: int | None = None
    slice_length_s: int = SLICE_LENGTH_DEFAULT_S
    options: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    recipe: str = "act-storage"
    load_host: Host | None = None


@dataclass(frozen=True)
class Place:
    """Where a dispatch stands among others: in a campaign, and in place of which one it is made."""

    campaign: Campaign | None = None
    campaign_step: int | None = None
    purpose: str = ""
    retry_of: Dispatch | None = None


def order(
    device: Device, organisation: Organisation, asked: Order, actor: AbstractBaseUser, place: Place | None = None
) -> Dispatch:
    """Queue a dispatch; the worker is woken after the commit, and finds the row at its next look where that fails.

    Raises OutOfServiceError where the device or a host is retired, and ValueError for a YCSB sweep on hosts that cannot
    carry it out: it would format the drive and then stop.
    """
    if asked.recipe == YCSB and (objection := objection_to_hosts(device.host, asked.load_host)):
        raise ValueError(objection)
    with transaction.atomic():
        hold_in_service(device, asked.load_host)
        dispatch = Dispatch.objects.create(
            organisation=organisation,
            ordered_by_id=actor.pk,
            device=device,
            drive_key=device.drive_key,
            recipe=asked.recipe,
            nx_load=asked.nx_load,
            duration_s=asked.duration_s,
            slice_length_s=asked.slice_length_s,
            options=asked.options,
            load_host=asked.load_host,
            facts=asked.facts,
            **vars(place or Place()),
        )
        _record(actor, "dispatch-ordered", "dispatch", dispatch.public_id, _told(asked))
        transaction.on_commit(partial(enqueue_dispatch, dispatch.pk))
    return dispatch


def _told(asked: Order) -> dict[str, Any]:
    load = {} if asked.nx_load is None else {"nx_load": str(asked.nx_load)}
    return {"recipe": asked.recipe} | load


def may_be_retried(dispatch: Dispatch) -> bool:
    """Tell whether a new attempt may be made in place of a dispatch; a campaign makes its own."""
    has_ended = dispatch.state in {State.FAILED, State.REFUSED, State.CANCELLED} or (
        dispatch.state == State.LOST and dispatch.ended_at is not None
    )
    return has_ended and dispatch.campaign_id is None and not Dispatch.objects.filter(retry_of=dispatch).exists()


def retry(dispatch: Dispatch, asked: Order, actor: AbstractBaseUser) -> Dispatch | None:
    """Order again, linked to the old one; None where it may not be, or was by somebody else just now.

    `asked` is what `asked_of` returns, with the consent of today. Raises what `order` raises.
    """
    if not may_be_retried(dispatch):
        return None
    try:
        with transaction.atomic():
            return order(dispatch.device, dispatch.organisation, asked, actor, Place(retry_of=dispatch))
    except IntegrityError:
        if Dispatch.objects.filter(retry_of=dispatch).exists():
            return None
        raise


def asked_of(dispatch: Dispatch) -> Order:
    """Return what was ordered with a dispatch, without its consent to write over data: that was for what lay there."""
    asked = Order(**{each.name: getattr(dispatch, each.name) for each in fields(Order)})
    return replace(asked, options={name: value for name, value in asked.options.items() if name != DESTROY})


def cancel(dispatch: Dispatch, actor: AbstractBaseUser, reason: str = "") -> bool:
    """Ask for a dispatch to be cancelled and return whether that can still be: the next look acts on it.

    A lost dispatch whose program may still run can be cancelled too: it stays lost, and its program is ended.
    Who asked stands in the history at once; that nothing of it runs is told there later, by the worker.
    """
    with transaction.atomic():
        open_ones = Dispatch.objects.filter(~Q(state__in=FINAL) | UNCONFIRMED)
        asked = open_ones.filter(pk=dispatch.pk, cancel_requested_at__isnull=True).update(
            cancel_requested_at=timezone.now(), next_look_at=Now()
        )
        if asked:
            why = storable(reason.strip())[:REASON_AT_MOST]
            _enter(dispatch, actor, f"{CANCEL_ASKED}: {why}" if why else CANCEL_ASKED)
            _record(actor, "dispatch-cancel-asked", "dispatch", dispatch.public_id, {"reason": why} if why else {})
            transaction.on_commit(partial(enqueue_dispatch, dispatch.pk))
    return bool(asked)


def declare_ended(dispatch: Dispatch, actor: AbstractBaseUser, reason: str) -> bool:
    """Free the drive of a lost dispatch because a person knows that nothing of it runs; False where it is no such one.

    Raises ValueError without a reason: it stands in the history for good, where the host's own word is missing.
    """
    if not reason.strip():
        raise ValueError(f"{dispatch}: expected how it is known that nothing of it runs, got nothing")
    with transaction.atomic():
        lost = Dispatch.objects.filter(UNCONFIRMED, pk=dispatch.pk)
        if not lost.update(ended_at=timezone.now()):
            return False
        said = f"{DECLARED}{storable(reason.strip())}"
        _enter(dispatch, actor, said)
        _record(actor, "dispatch-declared-ended", "dispatch", dispatch.public_id, {"reason": said})
    return True


def _enter(dispatch: Dispatch, actor: AbstractBaseUser, reason: str) -> None:
    """Write into the history what a person asked or said of a dispatch, in the state in which it stands by now."""
    state = Dispatch.objects.values_list("state", flat=True).get(pk=dispatch.pk)
    here = {"from_state": state, "to_state": state}
    Step.objects.create(dispatch=dispatch, actor=actor.get_username()[:100], reason=reason, **here)


def _record(actor: AbstractBaseUser, kind: str, subject_type: str, subject_id: str, details: dict[str, Any]) -> None:
    subject = {"subject_type": subject_type, "subject_id": subject_id}
    Event.objects.create(actor_id=actor.pk, kind=kind, details=details, **subject)
