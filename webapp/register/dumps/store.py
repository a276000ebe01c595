"""Dumps on disk: a directory for each day below DRIVECERT_DATA, with a manifest that lists every file in it."""

import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from django.conf import settings

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class DumpFile:
    """One file of a dump as listed in its manifest; `rows_count` is None for files without rows."""

    name: str
    size_bytes: int
    sha256: str
    rows_count: int | None = None


@dataclass(frozen=True)
class Dump:
    """The public register at one moment."""

    directory: Path
    written_at: str
    schema: str
    licence: str
    files: list[DumpFile]
    withheld: list[str] = field(default_factory=list)  # runs left out because their evidence is withheld
    source: str = ""  # the address of the source register

    @property
    def day(self) -> str:
        """Return the day of the dump, which is also the name of its directory."""
        return self.directory.name

    def file(self, name: str) -> DumpFile | None:
        """Return a file that the manifest lists; other files of the directory have no URL."""
        return next((each for each in self.files if each.name == name), None)


def dumps_directory() -> Path:
    """Return the directory of all dumps."""
    return Path(settings.DATA_DIR / "dumps")


def dumps() -> list[Dump]:
    """Return all complete dumps, newest first."""
    found = [read_dump(path) for path in sorted(_days(), reverse=True)]
    return [dump for dump in found if dump is not None]


def _days() -> list[Path]:
    root = dumps_directory()
    return [path for path in root.iterdir() if DAY.fullmatch(path.name)] if root.is_dir() else []


def newest_day() -> str:
    """Return the day of the newest dump; empty if there is none."""
    return max((path.name for path in _days()), default="")


def read_dump(directory: Path) -> Dump | None:
    """Return a dump from its manifest; None if there is none."""
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    files = [DumpFile(**each) for each in manifest["files"]]
    rest = {name: manifest[name] for name in ("withheld", "source") if name in manifest}
    return Dump(directory, manifest["written_at"], manifest["schema"], manifest["licence"], files, **rest)


def find_dump(day: str) -> Dump | None:
    """Return the dump of a day, if there is one."""
    return read_dump(dumps_directory() / day) if DAY.fullmatch(day) else None


def remove_dumps(outdated: Iterable[Dump]) -> None:
    """Remove dumps. Each is renamed first, so that no client finds a partial dump."""
    for dump in outdated:
        gone = dump.directory.with_name(f".{dump.day}.withheld")
        shutil.rmtree(gone, ignore_errors=True)
        dump.directory.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _day_of(name: str) -> date | None:
    """Return the day in the name of a directory; None for any other name, including 2026-13-45."""
    try:
        return date.fromisoformat(name) if DAY.fullmatch(name) else None
    except ValueError:
        return None


def publish_dump(written: Path, day: date) -> Path:
    """Move a dump to its final place, replacing an earlier one of the same day, and remove expired dumps."""
    place = dumps_directory() / day.isoformat()
    if place.exists():
        earlier = place.with_name(f".{place.name}.earlier")
        shutil.rmtree(earlier, ignore_errors=True)
        place.rename(earlier)
    written.rename(place)
    for path in dumps_directory().iterdir():
        written_on = _day_of(path.name)
        is_old = written_on is not None and (day - written_on).days >= settings.DUMP_KEPT_DAYS
        if is_old or (path.name.startswith(".") and path.is_dir()):
            shutil.rmtree(path, ignore_errors=True)
    return place
