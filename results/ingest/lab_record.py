"""The lab's record of the drives of a run. The submission stores it; each run that is read from its log gets a copy."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from results.models import DriveInRun, Run

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
        document: dict[str, Any] = json.loads(json.dumps(asdict(self), default=_as_text))
        return document


def _as_text(value: datetime | Decimal) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def started_at(record: Mapping[str, Any]) -> datetime | None:
    """Return when the run was started, None of a log that no lab of the register ran."""
    at = record.get("started_at")
    return None if at is None else datetime.fromisoformat(at)


def write_drives(run: Run, record: Mapping[str, Any]) -> None:
    """Write the drives of a run; the caller holds the transaction."""
    DriveInRun.objects.bulk_create(_row(run, drive) for drive in record.get("drives", []))


def _row(run: Run, drive: Mapping[str, Any]) -> DriveInRun:
    # The columns convert the texts of times and decimals.
    states = {f"{name}_{moment}": value for moment in MOMENTS for name, value in drive[moment].items()}
    return DriveInRun(run=run, key=drive["key"], preparation_id=drive["preparation_id"], **states)
