"""The lines of stored files, numbered as the reader counts them, however the file was packed."""

import gzip
import io
import lzma
from collections.abc import Iterator
from itertools import islice
from typing import IO, BinaryIO

import zstandard

from results.evidence_store import EvidenceDamagedError, open_evidence
from results.models import Evidence

LINE_BYTES = 1024**2  # what is looked at of a line; an array of JSON stands on one
NOT_LOOKED_UP = (EvidenceDamagedError, OSError, EOFError, lzma.LZMAError, zstandard.ZstdError)
Numbered = Iterator[tuple[int, bytes]]


def numbered_lines(file: Evidence, first_line: int = 1, last_line: int | None = None) -> Numbered:
    """Yield number and text of the lines of a stored file. Raises what NOT_LOOKED_UP names."""
    with open_evidence(file) as stored, _decompressed(stored) as text:
        yield from islice(enumerate(_lines(text), start=1), first_line - 1, last_line)


def _lines(text: IO[bytes]) -> Iterator[bytes]:
    """Yield each line, cut at LINE_BYTES: the rest of a longer one is passed over, and counts as no line of its own."""
    while line := text.readline(LINE_BYTES):
        yield line
        while line and not line.endswith(b"\n"):
            line = text.readline(LINE_BYTES)


def _decompressed(stored: BinaryIO) -> IO[bytes]:
    """Open by the first bytes; what is none of these is taken as it is, and shows no lines where it is packed."""
    magic = stored.read(6)
    stored.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return io.BufferedReader(gzip.open(stored))
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(stored, read_across_frames=True))
    return io.BufferedReader(lzma.open(stored)) if magic == b"\xfd7zXZ\x00" else stored
