"""Where dumps stand: a directory for each day below DRIVECERT_DATA, with a manifest that names every file in it."""

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
    """One file of a dump, as its manifest tells it; None where a file is not of rows."""

    name: str
    size_bytes: int
    sha256: str
    rows_count: int | None = None


@dataclass(frozen=True)
class Dump:
    """The register as it was at one moment."""

    directory: Path
    written_at: str
    schema: str
    licence: str
    files: list[DumpFile]
    withheld: list[str] = field(default_factory=list)  # runs that it leaves out, because their evidence is sequestered
    source: str = ""  # the address of the register that it is of

    @property
    def day(self) -> str:
        """The day it is of, which is its name."""
        return self.directory.name

    def file(self, name: str) -> DumpFile | None:
        """Return what the manifest tells of a file; nothing else of the directory has an address."""
        return next((each for each in self.files if each.name == name), None)


def shelf() -> Path:
    """Return the directory of all dumps."""
    return Path(settings.DATA_DIR / "dumps")


def dumps() -> list[Dump]:
    """Return every dump that is whole, newest first."""
    found = [read_dump(path) for path in sorted(_days(), reverse=True)]
    return [dump for dump in found if dump is not None]


def _days() -> list[Path]:
    root = shelf()
    return [path for path in root.iterdir() if DAY.fullmatch(path.name)] if root.is_dir() else []


def newest_day() -> str:
    """Return the day of the newest dump; empty where there is none."""
    return max((path.name for path in _days()), default="")


def read_dump(directory: Path) -> Dump | None:
    """Return what a dump's manifest tells; None where there is none."""
    try:
        told = json.loads((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    files = [DumpFile(**each) for each in told["files"]]
    rest = {name: told[name] for name in ("withheld", "source") if name in told}
    return Dump(directory, told["written_at"], told["schema"], told["licence"], files, **rest)


def find_dump(day: str) -> Dump | None:
    """Return the dump of a day, if it stands."""
    return read_dump(shelf() / day) if DAY.fullmatch(day) else None


def remove_dumps(told: Iterable[Dump]) -> None:
    """Remove dumps; each first loses its name, so that none is there by half."""
    for dump in told:
        gone = dump.directory.with_name(f".{dump.day}.withheld")
        shutil.rmtree(gone, ignore_errors=True)
        dump.directory.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _day_of(name: str) -> date | None:
    """Return the day that a directory is named after; None of any other, also of one like 2026-13-45."""
    try:
        return date.fromisoformat(name) if DAY.fullmatch(name) else None
    except ValueError:
        return None


def put_away(written: Path, day: date) -> Path:
    """Give a dump its place, instead of an earlier one of the same day, and remove those that are too old."""
    place = shelf() / day.isoformat()
    if place.exists():
        earlier = place.with_name(f".{place.name}.earlier")
        shutil.rmtree(earlier, ignore_errors=True)
        place.rename(earlier)
    written.rename(place)
    for path in shelf().iterdir():
        written_on = _day_of(path.name)
        is_old = written_on is not None and (day - written_on).days >= settings.DUMP_KEPT_DAYS
        if is_old or (path.name.startswith(".") and path.is_dir()):
            shutil.rmtree(path, ignore_errors=True)
    return place
