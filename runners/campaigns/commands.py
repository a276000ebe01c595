"""What people ask of a campaign: to start, to hold it, to let it go on, to change its terms, to cancel it."""

from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from results.models import Event, Organisation, Profile
from runners.campaigns.terms import Terms, terms_of
from runners.dispatch.orders import REASON_AT_MOST
from runners.dispatch.orders import cancel as cancel_dispatch
from runners.inventory.service_state import hold_in_service
from runners.lifecycle.transitions import CANCEL_ASKED
from runners.models import Device
from runners.models.campaign import Campaign, CampaignEntry
from runners.models.postgres import is_second, storable

PROFILE = "operational-database"
ONE_PER_DRIVE = "one_open_campaign_per_drive"
State = Campaign.State
Kind = CampaignEntry.Kind
# What may change while a campaign runs. Loads already run are multiples of the resolution, and prep is made or not.
EDITABLE = (
    "max_nx", "ladder_factor", "screening_s", "load_s", "stress_s", "rest_s", "overload_rest_s", "near_pct",
    "load_near_pct", "attempts_max", "confirmations_max",
)  # fmt: skip


class DriveTakenError(Exception):
    """Another campaign is open on the drive; end that one first."""


@dataclass(frozen=True)
class Wanted:
    """What a campaign is started with: its terms, and what each of its orders takes over."""

    terms: Terms
    options: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def start(device: Device, organisation: Organisation, wanted: Wanted, actor: AbstractBaseUser) -> Campaign:
    """Start a campaign; the next look makes its first step. Raises DriveTakenError, and OutOfServiceError."""
    profile = Profile.objects.filter(name=PROFILE).latest("rule_version")
    try:
        with transaction.atomic():
            hold_in_service(device)
            campaign = Campaign.objects.create(
                organisation=organisation,
                ordered_by_id=actor.pk,
                device=device,
                drive_key=device.drive_key,
                profile=profile,
                terms=wanted.terms.as_json(),
                options=wanted.options,
                facts=wanted.facts,
            )
            _enter(campaign, Kind.STARTED, actor, "", wanted.terms.as_json())
            return campaign
    except IntegrityError as error:
        if not is_second(error, ONE_PER_DRIVE):
            raise
        raise DriveTakenError(_taken(device)) from error


def _taken(device: Device) -> str:
    holder = open_on(device.drive_key)
    return (
        f"Drive {device.drive_key}: campaign {holder or 'that has just ended'} is open on it; wait for it, or cancel it"
    )


def open_on(drive_key: str) -> Campaign | None:
    """Return the campaign that has a drive; a load between its steps would be mistaken for the drive's own rest."""
    return Campaign.objects.filter(drive_key=drive_key, state__in=Campaign.OPEN_STATES).first()


def pause(campaign: Campaign, actor: AbstractBaseUser) -> bool:
    """Order nothing more until it is told to go on; a run that is under way goes on. False where it is not active."""
    return _move(campaign, State.ACTIVE, Kind.PAUSED, actor, state=State.PAUSED, reason="paused by a person")


def resume(campaign: Campaign, actor: AbstractBaseUser) -> bool:
    """Let a paused campaign go on, and excuse what told nothing before. False where it is not paused."""
    return _move(campaign, State.PAUSED, Kind.RESUMED, actor, state=State.ACTIVE, reason="", resumed_at=timezone.now())


def change(campaign: Campaign, changes: dict[str, Any], actor: AbstractBaseUser) -> bool:
    """Change terms of an open campaign; the next step is decided by them. False where it has ended, or nothing changes.

    Raises ValueError for a term that is fixed.
    """
    if fixed := set(changes) - set(EDITABLE):
        raise ValueError(f"{campaign}: {', '.join(sorted(fixed))} cannot be changed; expected some of {EDITABLE}")
    with transaction.atomic():
        kept = (
            Campaign.objects.select_for_update().filter(pk=campaign.pk, state__in=[State.ACTIVE, State.PAUSED]).first()
        )
        if kept is None:
            return False
        before = terms_of(kept.terms)
        after = before.changed(**changes)
        if after == before:
            return False
        Campaign.objects.filter(pk=kept.pk).update(terms=after.as_json(), next_at=None)
        _enter(kept, Kind.CHANGED, actor, "", _differences(before, after))
    campaign.refresh_from_db()
    return True


def _differences(before: Terms, after: Terms) -> dict[str, Any]:
    was, is_now = before.as_json(), after.as_json()
    return {name: [was[name], is_now[name]] for name in is_now if was[name] != is_now[name]}


def cancel(campaign: Campaign, actor: AbstractBaseUser, reason: str = "") -> bool:
    """Cancel a campaign and the dispatch that is under way; a look says when the host has confirmed it.

    `reason` is what the person gives, for the history; it may be empty.
    """
    why = storable(reason.strip())[:REASON_AT_MOST]
    columns = {"state": State.CANCELLING, "reason": f"{CANCEL_ASKED}: {why}" if why else CANCEL_ASKED}
    with transaction.atomic():
        asked = [
            _move(campaign, state, Kind.CANCEL_ASKED, actor, why, **columns) for state in (State.ACTIVE, State.PAUSED)
        ]
        if any(asked):
            for dispatch in campaign.dispatches.filter(ended_at__isnull=True):
                cancel_dispatch(dispatch, actor, f"of its campaign {campaign}")
    return any(asked)


def _move(
    campaign: Campaign, from_state: str, kind: str, actor: AbstractBaseUser, why: str = "", **columns: Any
) -> bool:
    with transaction.atomic():
        moved = Campaign.objects.filter(pk=campaign.pk, state=from_state).update(next_at=None, **columns)
        if moved:
            _enter(campaign, kind, actor, why)
    campaign.refresh_from_db()
    return bool(moved)


def _enter(
    campaign: Campaign, kind: str, actor: AbstractBaseUser, reason: str, details: dict[str, Any] | None = None
) -> None:
    """Write the campaign's history and the register's."""
    told = details or {}
    CampaignEntry.objects.create(campaign=campaign, kind=kind, actor=actor.get_username(), reason=reason, details=told)
    Event.objects.create(
        actor_id=actor.pk,
        kind=f"campaign-{kind}",
        subject_type="campaign",
        subject_id=campaign.public_id,
        reason=reason,
        details=told,
    )
