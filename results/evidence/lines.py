"""The lines of stored files, numbered as the reader counts them, however the file was packed."""

import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import IO, BinaryIO

import zstandard

from results.evidence.store import EvidenceDamagedError, open_evidence
from results.models import Evidence

LINE_BYTES = 1024**2  # longest part of a line that is read; a JSON array can be one line
ZIP = b"PK\x03\x04"
Numbered = Iterator[tuple[int, bytes]]


class MemberMissingError(Exception):
    """An archive has no readable member with the name from its reading."""


NOT_LOOKED_UP = (
    EvidenceDamagedError,
    MemberMissingError,
    OSError,
    EOFError,
    lzma.LZMAError,
    zstandard.ZstdError,
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,  # zipfile: a member with a password, or packed in a way that it does not know
)


def numbered_lines(file: Evidence, first_line: int = 1, last_line: int | None = None, member: str = "") -> Numbered:
    """Yield number and text of the lines of a stored file, or of a member of an archive. Raises NOT_LOOKED_UP."""
    with open_evidence(file) as stored, _text_of(stored, member) as text:
        yield from islice(enumerate(_lines(text), start=1), first_line - 1, last_line)


@contextmanager
def _text_of(stored: BinaryIO, member: str) -> Iterator[IO[bytes]]:
    with ExitStack() as opened:
        file: IO[bytes] = stored
        if member:
            is_zip = stored.read(len(ZIP)) == ZIP
            stored.seek(0)
            file = _zip_member(opened, stored, member) if is_zip else _tar_member(opened, stored, member)
        yield opened.enter_context(_decompressed(file))


def _zip_member(opened: ExitStack, stored: BinaryIO, member: str) -> IO[bytes]:
    archive = opened.enter_context(zipfile.ZipFile(stored))
    if member not in archive.NameToInfo:
        raise MemberMissingError(member)
    return opened.enter_context(archive.open(member))


def _tar_member(opened: ExitStack, stored: BinaryIO, member: str) -> IO[bytes]:
    plain = opened.enter_context(_decompressed(stored))
    archive = opened.enter_context(tarfile.TarFile.open(fileobj=plain, mode="r|"))
    for entry in archive:
        found = archive.extractfile(entry) if entry.name == member and entry.isfile() else None
        if found is not None:
            return found
    raise MemberMissingError(member)


def _lines(text: IO[bytes]) -> Iterator[bytes]:
    """Yield each line, cut at LINE_BYTES: the rest of a longer one is passed over, and counts as no line of its own."""
    while line := text.readline(LINE_BYTES):
        yield line
        while line and not line.endswith(b"\n"):
            line = text.readline(LINE_BYTES)


def _decompressed(stored: IO[bytes]) -> IO[bytes]:
    """Open a file by its first bytes. An unknown format is read unchanged, and shows no lines if it is packed."""
    stored = stored if isinstance(stored, io.BufferedReader) else io.BufferedReader(stored)  # type: ignore[type-var]
    magic = stored.peek(6)[:6]
    if magic.startswith(b"\x1f\x8b"):
        return io.BufferedReader(gzip.open(stored))
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(stored, read_across_frames=True))
    return io.BufferedReader(lzma.open(stored)) if magic == b"\xfd7zXZ\x00" else stored
