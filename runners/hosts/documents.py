"""JSON documents that drivetest prints on any lab host: identity, drives, status and removal, parsed and checked.

docs/reference/formats.md describes them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from types import NoneType
from typing import Any

from runners.errors import HostUnavailableError
from runners.hosts.protocol import FoundDrive, Identity, ProgramState, ProgramStatus
from runners.models.exit_codes import end_cause_of

# The types of a drive's fields, unless the field is plain text.
TYPES_OF_DRIVE: Mapping[str, set[type]] = {"size_bytes": {int}, "model": {str, NoneType}, "serial": {str, NoneType}}


@contextmanager
def expecting(schema: str, document: object) -> Iterator[None]:
    """Raise HostUnavailableError if reading a document shows that a field is missing or has another type."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise HostUnavailableError(f"drivetest: expected {schema}, got {document!r:.500} ({error})") from error


def parse_identity(path: str, document: Mapping[str, Any]) -> Identity:
    """Parse a drivecert.identity/1. Raise HostUnavailableError if a field is missing."""
    with expecting("drivecert.identity/1", document):
        return Identity(
            path=path,
            kind=document["kind"],
            drive_key=document["drive_key"],
            size_bytes=document["size_bytes"],
            refusals=tuple(refusal["sentence"] for refusal in document["refusals"]),
            document=document,
        )


def parse_drives(document: Mapping[str, Any]) -> list[FoundDrive]:
    """Parse a drivecert.drives/1. Raise HostUnavailableError if a field is missing or has another type."""
    with expecting("drivecert.drives/1", document):
        return [_found_drive(drive) for drive in document["drives"]]


def _found_drive(document: Mapping[str, Any]) -> FoundDrive:
    """Return one drive. Raise KeyError, or TypeError that names a field of another type."""
    drive = FoundDrive(**{each.name: document[each.name] for each in fields(FoundDrive)})
    for name, value in vars(drive).items():
        if type(value) not in TYPES_OF_DRIVE.get(name, {str}):
            raise TypeError(f"{name}: {value!r:.40}")
    return drive


def parse_status(document: Mapping[str, Any]) -> ProgramStatus:
    """Parse a drivecert.detached/1. Raise HostUnavailableError if a field is missing."""
    with expecting("drivecert.detached/1", document):
        return ProgramStatus(
            state=ProgramState(document["state"]),
            generation=document["generation"] or 0,
            **{name: document[name] for name in ("pid", "exit_status", "log_bytes", "side_file_bytes", "reason")},
            end_cause=end_cause_of(document),
            boot_ids=(document["boot_id"],) if document.get("boot_id") else (),
        )


def parse_removal(document: Mapping[str, Any]) -> str:
    """Return from a drivecert.removal/1 why a directory was not removed.

    Raises HostUnavailableError for other documents.
    """
    with expecting("drivecert.removal/1", document):
        return "" if document["removed"] else document["reason"] or "not removed; its host gave no reason"
