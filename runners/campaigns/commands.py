"""Commands of people on a campaign: start, pause, resume, change its terms, cancel."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from results.history import record_event
from results.models import Organisation, Profile
from runners.campaigns.terms import Terms, parse_terms
from runners.dispatch.orders import REASON_CHARS_MAX
from runners.dispatch.orders import cancel as cancel_dispatch
from runners.errors import RequestRefusedError
from runners.inventory.service_state import lock_in_service
from runners.models import Device
from runners.models.campaign import Campaign, CampaignEntry
from runners.models.postgres import storable, violates

DRIVE_TAKEN_CONSTRAINT = "one_open_campaign_per_drive"
State = Campaign.State
Kind = CampaignEntry.Kind
# A campaign in these states orders dispatches, now or after a person resumes it.
MAY_ORDER = (State.ACTIVE, State.PAUSED)
# The terms that may change while a campaign runs. Resolution and prep are fixed by the steps so far.
EDITABLE = (
    "max_nx", "ladder_factor", "screening_s", "load_s", "stress_s", "rest_s", "overload_rest_s", "near_pct",
    "load_near_pct", "attempts_max", "confirmations_max", "alone_on_host",
)  # fmt: skip


class DriveTakenError(RequestRefusedError):
    """Another campaign is open on the drive. That one has to end first."""

    code = "drive-taken"


@dataclass(frozen=True)
class CampaignOrder:
    """The order of a campaign: its terms, and the options and facts of each of its dispatches."""

    terms: Terms
    options: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def start(device: Device, organisation: Organisation, order: CampaignOrder, actor: AbstractBaseUser) -> Campaign:
    """Start a campaign; the next poll makes its first step. Raise DriveTakenError or OutOfServiceError."""
    profile = Profile.current()
    try:
        with transaction.atomic():
            lock_in_service(device)
            campaign = Campaign.objects.create(
                organisation=organisation,
                ordered_by_id=actor.pk,
                device=device,
                drive_key=device.drive_key,
                profile=profile,
                terms=order.terms.as_json(),
                options=order.options,
                facts=order.facts,
            )
            _add_entry(campaign, Kind.STARTED, actor, "", order.terms.as_json())
            return campaign
    except IntegrityError as error:
        if not violates(error, DRIVE_TAKEN_CONSTRAINT):
            raise
        other = open_on(device.drive_key)
        name = f"campaign {other}" if other else "a campaign that has just ended"
        raise DriveTakenError(
            f"Drive {device.drive_key} is used by {name}. Wait until that campaign has ended, or cancel it."
        ) from error


def open_on(drive_key: str) -> Campaign | None:
    """Return the open campaign of a drive. A load between its steps would be mistaken for the drive's own rest."""
    return Campaign.objects.filter(drive_key=drive_key, state__in=Campaign.OPEN_STATES).first()


def pause(campaign: Campaign, actor: AbstractBaseUser) -> bool:
    """Pause a campaign: it orders nothing more, and an active run goes on. Return False if it is not active."""
    columns = {"state": State.PAUSED, "reason": f"{actor.get_username()} paused the campaign"}
    return _transition(campaign, [State.ACTIVE], Kind.PAUSED, actor, **columns)


def resume(campaign: Campaign, actor: AbstractBaseUser) -> bool:
    """Resume a paused campaign; inconclusive runs before it no longer count. Return False if it is not paused."""
    active: dict[str, Any] = {"state": State.ACTIVE, "reason": "", "resumed_at": timezone.now()}
    return _transition(campaign, [State.PAUSED], Kind.RESUMED, actor, **active)


def change(campaign: Campaign, changes: dict[str, Any], actor: AbstractBaseUser) -> bool:
    """Change terms of an open campaign; they apply from the next step. Return False if nothing changes.

    Raise ValueError for a term that is fixed.
    """
    if fixed := set(changes) - set(EDITABLE):
        raise ValueError(f"{campaign}: {', '.join(sorted(fixed))} cannot be changed; expected some of {EDITABLE}")
    with transaction.atomic():
        current = Campaign.objects.select_for_update().filter(pk=campaign.pk, state__in=MAY_ORDER).first()
        if current is None:
            return False
        before = parse_terms(current.terms)
        after = before.changed(**changes)
        if after == before:
            return False
        Campaign.objects.filter(pk=current.pk).update(terms=after.as_json(), next_at=None)
        was, is_now = before.as_json(), after.as_json()
        differences = {name: [was[name], is_now[name]] for name in is_now if was[name] != is_now[name]}
        _add_entry(current, Kind.CHANGED, actor, "", differences)
    campaign.refresh_from_db()
    return True


def cancel(campaign: Campaign, actor: AbstractBaseUser, reason: str = "") -> bool:
    """Cancel a campaign and its active dispatch. A poll records when the host has confirmed it.

    `reason` is the person's reason for the history. It may be empty.
    """
    why = storable(reason.strip())[:REASON_CHARS_MAX]
    sentence = f"{actor.get_username()} requested the cancellation{f': {why}' if why else ''}"
    columns = {"state": State.CANCELLING, "reason": sentence}
    with transaction.atomic():
        if is_requested := _transition(campaign, MAY_ORDER, Kind.CANCEL_REQUESTED, actor, why, **columns):
            for dispatch in campaign.dispatches.filter(ended_at__isnull=True):
                cancel_dispatch(dispatch, actor, f"campaign {campaign} was cancelled")
    return is_requested


def _transition(
    campaign: Campaign, from_states: Sequence[str], kind: str, actor: AbstractBaseUser, why: str = "", **columns: Any
) -> bool:
    with transaction.atomic():
        has_changed = Campaign.objects.filter(pk=campaign.pk, state__in=from_states).update(next_at=None, **columns)
        if has_changed:
            _add_entry(campaign, kind, actor, why)
    campaign.refresh_from_db()
    return bool(has_changed)


def _add_entry(
    campaign: Campaign, kind: str, actor: AbstractBaseUser, reason: str, details: dict[str, Any] | None = None
) -> None:
    """Add an entry to the campaign's history and an event to the register's."""
    details = details or {}
    line = {"kind": kind, "actor": actor.get_username(), "reason": reason, "details": details}
    CampaignEntry.objects.create(campaign=campaign, **line)
    record_event(actor, f"campaign-{kind}", ("campaign", campaign.public_id), reason, details)
