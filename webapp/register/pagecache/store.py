"""Snapshots on disk: a directory for each version, and a link to the one that stands.

snapshots/current -> 20261121T214000-3f9a2c/    switched by renaming a new link over the old one
snapshots/looked-at                             its time is when the register was last compared with the snapshot
snapshots/20261121T214000-3f9a2c/index.json     what is where; no path of a page is ever a path of a file
snapshots/20261121T214000-3f9a2c/000017         a page: its bytes as they are, then by gzip, then by zstd
snapshots/20261121T214000-3f9a2c/purged         groups of pages that are out of date, a line each
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMAT = 1
INDEX, PURGED, CURRENT, LOOKED_AT, LOCK = "index.json", "purged", "current", "looked-at", "lock"
MEMORY_MAX_BYTES = 32 * 2**20  # in each process that serves: pages of some 5,000 products, packed
KEPT_BEFORE = 1  # a process that has not noticed the newest one yet reads the one before


@dataclass(frozen=True)
class Entry:
    """A page of a snapshot: its file, the bytes of each form in it (0 where there is none), headers, and its stamp."""

    file: str
    group: str
    stamp: str
    rendered_at: float
    sizes: tuple[int, int, int]
    headers: tuple[tuple[str, str], ...]


@dataclass
class Form:
    """A page in one coding as it is sent: headers, ETag, and the bytes once they were read while there was room."""

    headers: list[tuple[str, str]]
    etag: str
    content: bytes | None = None


@dataclass
class Forms:
    """What a process that serves a version has of it in memory: a version never changes, so nothing gets old."""

    by_page: dict[tuple[str, str], Form] = field(default_factory=dict)  # by file and coding
    room_bytes: int = MEMORY_MAX_BYTES

    def keep(self, form: Form, content: bytes) -> None:
        """Keep the bytes of a form while there is room; two threads at once may take a little more."""
        if form.content is None and len(content) <= self.room_bytes:
            self.room_bytes -= len(content)
            form.content = content


@dataclass(frozen=True)
class Snapshot:
    """One version, as its index tells it; entries by path, with the query where there is one."""

    directory: Path
    written_at: str
    entries: dict[str, Entry] = field(default_factory=dict)
    forms: Forms = field(default_factory=Forms, compare=False)

    @property
    def moment(self) -> datetime:
        """When it was written."""
        return datetime.fromisoformat(self.written_at)


def standing_directory(root: Path) -> Path | None:
    """Return the directory of the version that stands; None where there is none."""
    try:
        return (root / CURRENT).resolve(strict=True)
    except FileNotFoundError:
        return None


def read(directory: Path | None) -> Snapshot | None:
    """Return a version as its index tells it; None where there is none that this release of the register reads."""
    if directory is None:
        return None
    try:
        told = json.loads((directory / INDEX).read_bytes())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    if told.get("format") != FORMAT:
        return None
    headers = [tuple((name, value) for name, value in each) for each in told["headers"]]
    entries = {path: _entry(fields, headers) for path, fields in told["entries"].items()}
    return Snapshot(directory, told["written_at"], entries)


def _entry(fields: dict[str, Any], headers: list[tuple[tuple[str, str], ...]]) -> Entry:
    return Entry(**fields | {"sizes": tuple(fields["sizes"]), "headers": headers[fields["headers"]]})


def current(root: Path) -> Snapshot | None:
    """Return the snapshot that stands."""
    return read(standing_directory(root))


def purged_of(directory: Path) -> frozenset[str]:
    """Return the groups of pages that are out of date in a version."""
    try:
        return frozenset((directory / PURGED).read_text().split("\n")) - {""}
    except FileNotFoundError:
        return frozenset()


def purge(directory: Path, groups: Iterable[str]) -> None:
    """Mark groups of pages of a version as out of date; whoever serves them sees it by the marker's time."""
    new = set(groups) - purged_of(directory)
    if not new or not directory.is_dir():
        return
    with (directory / PURGED).open("a") as marker:
        marker.write("".join(f"{group}\n" for group in sorted(new)))  # one write: two who append do not mix lines
        marker.flush()
        os.fsync(marker.fileno())


def note_look(root: Path) -> None:
    """Note that the register was just compared with the snapshot."""
    (root / LOOKED_AT).touch()


class Writer:
    """A version in the making; nothing sees it before `stand`."""

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o750, parents=True, exist_ok=True)
        now = datetime.now(UTC)
        self.root, self.written_at = root, now.isoformat(timespec="seconds")
        self.directory = root / f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
        self.directory.mkdir(mode=0o750)
        self.entries: dict[str, Entry] = {}

    def add(self, path: str, entry: Entry, forms: Iterable[bytes]) -> None:
        """Write a page; the entry's file is given here."""
        name = f"{len(self.entries):06d}"
        with (self.directory / name).open("wb") as file:
            for form in forms:
                file.write(form)
            file.flush()
            os.fsync(file.fileno())
        self.entries[path] = Entry(**vars(entry) | {"file": name})

    def keep(self, path: str, entry: Entry, before: Snapshot) -> bool:
        """Take a page over as it stands in the version before; False where its file is gone or cut."""
        name = f"{len(self.entries):06d}"
        try:
            os.link(before.directory / entry.file, self.directory / name)
        except FileNotFoundError:
            return False
        if (self.directory / name).stat().st_size != sum(entry.sizes):
            (self.directory / name).unlink()
            return False
        self.entries[path] = Entry(**vars(entry) | {"file": name})
        return True

    def stand(self) -> Snapshot:
        """Write the index and put this version in the place of the one before; then remove older ones."""
        self._write_index()
        _sync(self.directory)
        link = self.root / f"{CURRENT}.{secrets.token_hex(3)}"
        link.symlink_to(self.directory.name)
        link.replace(self.root / CURRENT)
        _sync(self.root)
        remove_old(self.root)
        return Snapshot(self.directory, self.written_at, self.entries)

    def give_up(self) -> None:
        """Leave nothing of it."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def _write_index(self) -> None:
        numbers: dict[tuple[tuple[str, str], ...], int] = {}
        entries = {
            path: asdict(entry) | {"headers": numbers.setdefault(entry.headers, len(numbers))}
            for path, entry in self.entries.items()
        }
        told = {"format": FORMAT, "written_at": self.written_at, "headers": list(numbers), "entries": entries}
        with (self.directory / INDEX).open("w") as file:
            json.dump(told, file)
            file.flush()
            os.fsync(file.fileno())


def remove_old(root: Path) -> None:
    """Remove every version but the one that stands and those kept beside it; what is newer is being made."""
    standing = (root / CURRENT).resolve().name
    versions = sorted(path.name for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    before = [name for name in versions if name < standing]
    for name in before[: len(before) - KEPT_BEFORE]:
        shutil.rmtree(root / name, ignore_errors=True)  # another process may be removing it, too


def remove_unfinished(root: Path) -> None:
    """Remove what somebody began and never finished; only for who holds the lock."""
    with suppress(FileNotFoundError):
        standing = (root / CURRENT).resolve().name
        for path in root.iterdir():
            if path.name.startswith(f"{CURRENT}."):
                path.unlink()
            elif path.is_dir() and not path.is_symlink() and path.name > standing != CURRENT:
                shutil.rmtree(path, ignore_errors=True)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
