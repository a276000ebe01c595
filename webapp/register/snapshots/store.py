"""Snapshots on disk: a directory for each version, and a link to the current one.

snapshots/current -> 20261121T214000-3f9a2c/    switched by renaming a new link over the old one
snapshots/looked-at                             its time is that of the last comparison with the register
snapshots/20261121T214000-3f9a2c/index.json     page path -> file; a page path is never used as a file path
snapshots/20261121T214000-3f9a2c/000017         a page: its bytes plain, then with gzip, then with zstd
snapshots/20261121T214000-3f9a2c/purged         groups of pages that are out of date, one a line
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from results.evidence.durable import sync_directory, write_file

FORMAT = 1
INDEX, PURGED, CURRENT, COMPARED_AT, LOCK = "index.json", "purged", "current", "looked-at", "lock"
MEMORY_MAX_BYTES = 32 * 2**20  # in each process that serves: pages of some 5,000 products, packed
OVERHEAD_BYTES = 2048  # of a response in memory: its objects
RESPONSES_MAX_BYTES = 32 * 2**20  # in each process that serves: 150 tables of 5,000 products
EARLIER_VERSIONS = 1  # a process that has not noticed the newest version yet reads the one before it


@dataclass(frozen=True)
class Entry:
    """A page of a snapshot: its file, the sizes of its forms in bytes (0 if there is none), headers, and its stamp."""

    file: str
    group: str
    stamp: str
    rendered_at: float
    sizes: tuple[int, int, int]
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Form:
    """A page in one content coding: headers, ETag and bytes."""

    headers: list[tuple[str, str]]
    etag: str
    content: bytes


@dataclass
class Forms:
    """Pages of a version in the memory of a serving process. A version never changes, so no entry expires."""

    by_page: dict[tuple[str, str], Form] = field(default_factory=dict)  # by file and coding
    room_bytes: int = MEMORY_MAX_BYTES

    def store(self, page: tuple[str, str], form: Form) -> None:
        """Store a form in memory while there is room; two threads may exceed it slightly."""
        if page not in self.by_page and len(form.content) <= self.room_bytes:
            self.room_bytes -= len(form.content)
            self.by_page[page] = form


@dataclass
class Responses:
    """Responses of Django to addresses with parameters, stored while a version is current. The oldest makes room."""

    by_address: dict[str, Form] = field(default_factory=dict)
    room_bytes: int = RESPONSES_MAX_BYTES
    lock: Lock = field(default_factory=Lock)

    def get(self, address: str) -> Form | None:
        """Return the response for an address."""
        return self.by_address.get(address)

    def store(self, address: str, form: Form) -> None:
        """Store a response, unless it alone is larger than the room for all."""
        with self.lock:
            if address in self.by_address or _size(address, form) > RESPONSES_MAX_BYTES:
                return
            while _size(address, form) > self.room_bytes:
                oldest = next(iter(self.by_address))
                self.room_bytes += _size(oldest, self.by_address.pop(oldest))
            self.by_address[address] = form
            self.room_bytes -= _size(address, form)


def _size(address: str, form: Form) -> int:
    """Return about the number of bytes that a stored response occupies: small pages are mostly headers."""
    headers = sum(len(name) + len(value) for name, value in form.headers)
    return len(form.content) + len(address) + headers + OVERHEAD_BYTES


@dataclass(frozen=True)
class Snapshot:
    """One version as listed in its index; entries by path, including the query if there is one."""

    directory: Path
    written_at: str
    entries: dict[str, Entry] = field(default_factory=dict)
    forms: Forms = field(default_factory=Forms, compare=False)
    responses: Responses = field(default_factory=Responses, compare=False)

    @property
    def moment(self) -> datetime:
        """Return the time at which it was written."""
        return datetime.fromisoformat(self.written_at)


def current_directory(root: Path) -> Path | None:
    """Return the directory of the current version; None if there is none."""
    with suppress(FileNotFoundError):
        return (root / CURRENT).resolve(strict=True)
    return None


def read(directory: Path | None) -> Snapshot | None:
    """Return a version from its index; None if there is none that this release of the register reads."""
    if directory is None:
        return None
    try:
        index = json.loads((directory / INDEX).read_bytes())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    if index.get("format") != FORMAT:
        return None
    headers = [tuple((name, value) for name, value in each) for each in index["headers"]]
    entries = {path: _entry(fields, headers) for path, fields in index["entries"].items()}
    return Snapshot(directory, index["written_at"], entries)


def _entry(fields: dict[str, Any], headers: list[tuple[tuple[str, str], ...]]) -> Entry:
    return Entry(**fields | {"sizes": tuple(fields["sizes"]), "headers": headers[fields["headers"]]})


def current(root: Path) -> Snapshot | None:
    """Return the current snapshot."""
    return read(current_directory(root))


def purged_of(directory: Path) -> frozenset[str]:
    """Return the groups of pages that are out of date in a version."""
    with suppress(FileNotFoundError):
        return frozenset((directory / PURGED).read_text().split("\n")) - {""}
    return frozenset()


def purge(directory: Path, groups: Iterable[str]) -> None:
    """Mark groups of pages of a version as out of date; serving processes notice the time of the marker."""
    new = set(groups) - purged_of(directory)
    if not new or not directory.is_dir():
        return
    with (directory / PURGED).open("a") as marker:
        marker.write("".join(f"{group}\n" for group in sorted(new)))  # one write: no mixed lines
        marker.flush()
        os.fsync(marker.fileno())


def record_comparison(root: Path) -> None:
    """Record that the register was just compared with the snapshot."""
    (root / COMPARED_AT).touch()


class Writer:
    """A version that is being written. It is invisible until `publish`."""

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o750, parents=True, exist_ok=True)
        now = datetime.now(UTC)
        self.root, self.written_at = root, now.isoformat(timespec="seconds")
        self.directory = root / f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
        self.directory.mkdir(mode=0o750)
        self.entries: dict[str, Entry] = {}

    def add(self, path: str, entry: Entry, forms: Iterable[bytes]) -> None:
        """Write a page, and give its entry the name of the file."""
        name = f"{len(self.entries):06d}"
        write_file(self.directory / name, b"".join(forms))
        self.entries[path] = replace(entry, file=name)

    def reuse(self, path: str, entry: Entry, before: Snapshot) -> bool:
        """Link a page of the version before; False if its file is gone or truncated."""
        name = f"{len(self.entries):06d}"
        try:
            os.link(before.directory / entry.file, self.directory / name)
        except FileNotFoundError:
            return False
        if (self.directory / name).stat().st_size != sum(entry.sizes):
            (self.directory / name).unlink()
            return False
        self.entries[path] = replace(entry, file=name)
        return True

    def publish(self) -> Snapshot:
        """Write the index, make this version the current one, then remove older versions."""
        numbers: dict[tuple[tuple[str, str], ...], int] = {}
        entries = {
            path: asdict(entry) | {"headers": numbers.setdefault(entry.headers, len(numbers))}
            for path, entry in self.entries.items()
        }
        index = {"format": FORMAT, "written_at": self.written_at, "headers": list(numbers), "entries": entries}
        write_file(self.directory / INDEX, json.dumps(index).encode())
        sync_directory(self.directory)
        link = self.root / f"{CURRENT}.{secrets.token_hex(3)}"
        link.symlink_to(self.directory.name)
        link.replace(self.root / CURRENT)
        sync_directory(self.root)
        remove_old(self.root)
        return Snapshot(self.directory, self.written_at, self.entries)

    def discard(self) -> None:
        """Remove the directory of this version."""
        shutil.rmtree(self.directory, ignore_errors=True)


def remove_old(root: Path) -> None:
    """Remove versions older than the current one, but for the last EARLIER_VERSIONS. Newer ones are unfinished."""
    current_name = (root / CURRENT).resolve().name
    versions = sorted(path.name for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    before = [name for name in versions if name < current_name]
    for name in before[: len(before) - EARLIER_VERSIONS]:
        shutil.rmtree(root / name, ignore_errors=True)  # another process may be removing it as well


def remove_unfinished(root: Path) -> None:
    """Remove versions that were never finished. Only for the process with the lock."""
    with suppress(FileNotFoundError):
        current_name = (root / CURRENT).resolve().name
        for path in root.iterdir():
            if path.name.startswith(f"{CURRENT}."):
                path.unlink()
            elif path.is_dir() and not path.is_symlink() and path.name > current_name != CURRENT:
                shutil.rmtree(path, ignore_errors=True)
