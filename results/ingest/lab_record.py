"""The lab's record of the drives of a run. The submission stores it; each run that is read from its log gets a copy."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from results.models import DriveInRun, Run

DECIMALS = ("over_provisioning_pct",)
TIMES = ("reset_at",)
MOMENTS = ("before", "after")


@dataclass(frozen=True)
class RecordedState:
    """A drive before or after a run; None means not recorded. `never_reset`: not since its preparation began."""

    firmware: str | None = None
    over_provisioning_pct: Decimal | None = None
    reset_at: datetime | None = None
    never_reset: bool | None = None


@dataclass(frozen=True)
class RecordedDrive:
    """One physical drive, the preparation it had (its row's number), and its states."""

    key: str
    preparation_id: int | None
    before: RecordedState
    after: RecordedState


@dataclass(frozen=True)
class LabRecord:
    """The start time of the run by the register's own clock, and the drives that it ran on."""

    started_at: datetime | None
    drives: tuple[RecordedDrive, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the record as the submission stores it: times as ISO 8601, decimals as text."""
        at = self.started_at.isoformat() if self.started_at else None
        return {"started_at": at, "drives": [_drive_as_json(drive) for drive in self.drives]}


def _drive_as_json(drive: RecordedDrive) -> dict[str, Any]:
    document = {"key": drive.key, "preparation_id": drive.preparation_id}
    return document | {moment: _state_as_json(getattr(drive, moment)) for moment in MOMENTS}


def _state_as_json(state: RecordedState) -> dict[str, Any]:
    return {name: _plain(value) for name, value in asdict(state).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def started_at(record: Mapping[str, Any]) -> datetime | None:
    """Return when the run was started, None of a log that no lab of the register ran."""
    at = record.get("started_at")
    return None if at is None else datetime.fromisoformat(at)


def write_drives(run: Run, record: Mapping[str, Any]) -> None:
    """Write the drives of a run; the caller holds the transaction."""
    DriveInRun.objects.bulk_create(_row(run, drive) for drive in record.get("drives", []))


def _row(run: Run, drive: Mapping[str, Any]) -> DriveInRun:
    states = {f"{name}_{moment}": _typed(name, value) for moment in MOMENTS for name, value in drive[moment].items()}
    return DriveInRun(run=run, key=drive["key"], preparation_id=drive["preparation_id"], **states)


def _typed(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in DECIMALS:
        return Decimal(value)
    return datetime.fromisoformat(value) if name in TIMES else value
