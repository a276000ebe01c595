"""Members of an archive as files of their own, for an archive whose logs become submissions of their own."""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from results.reader.process import ReaderLimits, run_confined

SCRIPT = Path(__file__).with_name("unpack.py")


class UnpackError(Exception):
    """The archive does not give the members that the reader reported, or not within the limits of a reading."""


def unpack_members(archive: Path, wanted: Iterable[tuple[int, str]], directory: Path) -> None:
    """Write members, given by size and SHA-256, into a directory as files that are named by their hash.

    The archive is read in a process with the limits of the reader. Raises UnpackError; ReaderKilledError at a limit of
    time.
    """
    pairs = sorted(set(wanted))
    (directory / "wanted.json").write_text(json.dumps(pairs))
    limits = replace(ReaderLimits.of_settings(), output_bytes=max((size for size, _ in pairs), default=0) + 1)
    command = [sys.executable, "-I", str(SCRIPT), str(archive), str(directory)]
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        status = run_confined(command, limits, [], stdout, stderr)
    missing = [sha256 for _, sha256 in pairs if not (directory / sha256).is_file()]
    if status != 0 or missing:
        raise UnpackError(
            f"{archive.name}: expected {len(pairs)} members, {len(missing)} are missing (status {status})"
        )
