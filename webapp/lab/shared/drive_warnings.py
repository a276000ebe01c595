"""Warnings about a drive: codes with their details, and the sentences that pages and the API show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import TextChoices

from runners.inventory.service_state import out_of_service
from runners.models import Device, Dispatch, Host
from webapp.templatetags.units import counted, duration, moment

MINUTE = timedelta(minutes=1)


class WarningCode(TextChoices):
    """Codes of warnings, which scripts read; their labels are what pages show."""

    RETIRED = "retired", "retired"
    NOT_CHECKED = "not-checked", "not checked"
    HOLDS_DATA = "holds-data", "holds data"
    DATA_UNKNOWN = "data-unknown", "data unknown"
    MAY_HOLD_DATA = "may-hold-data", "may hold data"
    OVERLOADED = "overloaded", "overloaded"
    LIST_UNKNOWN = "list-unknown", "list unknown"
    NOT_LISTED = "not-listed", "not listed"


@dataclass(frozen=True)
class DriveWarning:
    """A warning about a drive: its code, and the details from which its text is made."""

    code: WarningCode
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the sentences of the warning."""
        return _TEXTS[self.code](**self.details)


def _retired(device: Device) -> str:
    return out_of_service(device)


def _not_checked(path: str) -> str:
    return f"{path} is in use, so its content was not checked."


def _holds_data(host: Host, path: str, signature: str, reported_at: datetime | None) -> str:
    remedy = "To overwrite this data, type the label of the device when you order."
    if host.is_remote:
        remedy = f"Host {host} refuses every run on this drive. Wipe the drive at the host, then refresh the device."
    return f"{path} holds {signature} ({_reported(reported_at)}). {remedy}"


def _data_unknown(path: str, error: str, reported_at: datetime | None) -> str:
    cause = f" The host could not read the drive: {error}." if error else ""
    return (
        f"It is not known whether {path} holds data ({_reported(reported_at)}).{cause} A run is refused if the drive "
        "has a file system or a partition table. A run destroys all other data on the drive."
    )


def _may_hold_data(path: str, reported_at: datetime | None) -> str:
    return (
        f"No data was recognised on {path} ({_reported(reported_at)}). The drive may still hold data: a database can "
        "use a drive without a file system. A run destroys all data on the drive."
    )


def _reported(at: datetime | None) -> str:
    """Return when a host identified a drive; None is now."""
    return f"reported on {moment(at)}" if at else "reported now"


def _overloaded(dispatch: Dispatch, ended_ago: timedelta, rest: timedelta) -> str:
    return (
        f"The last run, {dispatch}, overloaded the drive and ended {counted(ended_ago // MINUTE, 'minute')} ago. The "
        f"drive may be slower than usual for some hours. A campaign waits {duration(rest.seconds)} before the next run."
    )


def _list_unknown(host: Host) -> str:
    return f"Host {host} has not reported yet which drives may be overwritten. Check the host first."


def _not_listed(host: Host, drive_key: str, reported_at: datetime | None) -> str:
    reported = f"reported on {moment(reported_at)}" if reported_at else "reported at the last check"
    return (
        f"Drive {drive_key} is not in /etc/drivecert/host.toml of host {host} ({reported}). No run starts on it "
        "until the operator of the host lists it."
    )


_TEXTS: Mapping[WarningCode, Callable[..., str]] = {
    WarningCode.RETIRED: _retired,
    WarningCode.NOT_CHECKED: _not_checked,
    WarningCode.HOLDS_DATA: _holds_data,
    WarningCode.DATA_UNKNOWN: _data_unknown,
    WarningCode.MAY_HOLD_DATA: _may_hold_data,
    WarningCode.OVERLOADED: _overloaded,
    WarningCode.LIST_UNKNOWN: _list_unknown,
    WarningCode.NOT_LISTED: _not_listed,
}
