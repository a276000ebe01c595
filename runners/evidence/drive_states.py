"""Drive states before and after a dispatch, and the last format or trim that follows from them."""

from datetime import datetime
from decimal import Decimal
from typing import Any, TypeGuard

from results.ingest.rows import LabRecord, RecordedDrive, RecordedState
from runners.errors import DeviceUnknownError
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity, LabHost
from runners.models.dispatch import Dispatch, DriveState
from runners.models.postgres import storable
from runners.models.states import State

PREP = "prep"  # the recipe that prepares
Moment = DriveState.Moment


def record(dispatch: Dispatch, host: LabHost, moment: Moment) -> None:
    """Identify the drive and store its state. Also store that it cannot be identified any more. Repeatable."""
    if dispatch.drive_states.filter(moment=moment).exists():
        return
    try:
        store_state(dispatch, moment, host.identify(dispatch.device.path))
    except DeviceUnknownError as error:
        _create(dispatch, moment, {"reason": storable(str(error))})


def store_state(dispatch: Dispatch, moment: Moment, identity: Identity) -> None:
    """Store a drive's state from its identity; the first of a moment stays. Another drive's state is not stored."""
    if dispatch.drive_key not in keys_of(identity.drive_key):
        reason = f"{identity.path}: expected drive {dispatch.drive_key}, found {identity.drive_key}"
        _create(dispatch, moment, {"reason": storable(reason)})
        return
    document = identity.document
    discards = document.get("discards") or {}
    health = document.get("health") or {}
    columns = {
        "firmware": document.get("firmware"),
        "size_bytes": identity.size_bytes,
        "over_provisioning_pct": _over_provisioning_pct(dispatch, identity.size_bytes),
        "temperature_c": document.get("temperature_c"),
        "wear_pct": document.get("wear_pct"),
        "throttled_s": health.get("throttled_s"),
        "boot_id": discards.get("boot_id"),
        "discards_count": discards.get("requests_count"),
        "document": dict(document),
    }
    _create(dispatch, moment, columns)


def _create(dispatch: Dispatch, moment: Moment, columns: dict[str, Any]) -> None:
    defaults = {"drive_key": dispatch.drive_key} | columns
    DriveState.objects.get_or_create(dispatch=dispatch, moment=moment, defaults=defaults)


def _over_provisioning_pct(dispatch: Dispatch, size_bytes: int) -> Decimal | None:
    """Return the order's over-provisioning if the drive still has its size of that time: no drive reports it."""
    stated = dispatch.facts.get("over_provisioning_pct")
    return None if stated is None or size_bytes != dispatch.device.size_bytes else Decimal(stated)


def lab_record(dispatch: Dispatch) -> LabRecord:
    """Return what the lab recorded about the run and its drive, for the intake."""
    prepared = last_preparation_attempt(dispatch)
    finished = prepared if prepared and prepared.preparation_id else None
    states = {state.moment: state for state in dispatch.drive_states.all()}
    before, after = (_recorded(dispatch, finished, states.get(moment)) for moment in (Moment.BEFORE, Moment.AFTER))
    drive = RecordedDrive(dispatch.drive_key, finished.preparation_id if finished else None, before, after)
    return LabRecord(begun_at(dispatch), (drive,))


def begun_at(dispatch: Dispatch) -> datetime | None:
    """Return when the register began to start it, by its own clock: before that its program did nothing."""
    return dispatch.steps.filter(to_state=State.PREPARING).values_list("at", flat=True).first()


def last_preparation_attempt(dispatch: Dispatch) -> Dispatch | None:
    """Return the last attempt to prepare the drive before a dispatch, also one that failed: it wrote over the drive.

    One whose start was never answered may have written too; it counts unless the host has shut it out.
    """
    earlier = Dispatch.objects.filter(drive_key=dispatch.drive_key, generation__lt=dispatch.generation)
    begun = earlier.filter(recipe=PREP, steps__to_state=State.PREPARING, is_never_started=False)
    return begun.order_by("-generation").first()


def _recorded(dispatch: Dispatch, prepared: Dispatch | None, state: DriveState | None) -> RecordedState:
    if state is None:
        return RecordedState()
    reset_at, never = _last_reset(dispatch, prepared, state) if prepared else (None, None)
    return RecordedState(state.firmware, state.over_provisioning_pct, reset_at, never)


def _last_reset(dispatch: Dispatch, prepared: Dispatch, state: DriveState) -> tuple[datetime | None, bool | None]:
    """Return when the drive was last formatted or trimmed since its preparation began, or that it never was.

    The register's own formats are known. Others show in the kernel's count of discards, from the state before the
    preparation to this one. A reboot in between resets the count; then nothing is known.
    """
    ours = Dispatch.objects.filter(
        drive_key=dispatch.drive_key, resets_drive_at__isnull=False, generation__gt=prepared.generation,
        generation__lte=dispatch.generation,
    )  # fmt: skip
    reset = ours.order_by("-resets_drive_at").first()
    if reset is not None:
        return reset.resets_drive_at, None
    earlier = prepared.drive_states.filter(moment=Moment.BEFORE).first()
    if not _is_comparable(earlier, state):
        return None, None
    return (None, True) if earlier.discards_count == state.discards_count else (state.at, None)


def _is_comparable(earlier: DriveState | None, later: DriveState) -> TypeGuard[DriveState]:
    """Return whether both states counted discards since the same boot of the host."""
    if earlier is None or earlier.discards_count is None or later.discards_count is None:
        return False
    return later.boot_id is not None and earlier.boot_id == later.boot_id
