"""Copy chosen members of an archive into files: unpack.py ARCHIVE DIRECTORY.

A script of its own that runs under the limits of `sandbox`, because the archive may be hostile. DIRECTORY has the file
`wanted.json`, a list of pairs of size in bytes and SHA-256. A member with such a pair becomes DIRECTORY/SHA256. Names
of members are never used. Exit status 0: all were found; 4: the archive does not have all of them.
"""

import gzip
import hashlib
import json
import lzma
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import zstandard

CHUNK_BYTES = 1024**2
NOT_FOUND = 4
# The first bytes of each format, as in runners/drivetest/crates/cli/src/input: a zip with files, and an empty one.
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\0"
ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60)))  # also skippable


def unpack(archive: Path, directory: Path) -> int:
    """Write the wanted members and return the exit status. Members after the last wanted one are not read."""
    wanted = {(size, sha256) for size, sha256 in json.loads((directory / "wanted.json").read_bytes())}
    temporary = directory / "unpacking"
    for size_bytes, stream in _members(archive, {size for size, _ in wanted}):
        found = (size_bytes, _copy(stream, temporary))
        if found in wanted:  # another member of the same size is overwritten by the next one
            temporary.replace(directory / found[1])
            wanted.discard(found)
        if not wanted:
            break
    temporary.unlink(missing_ok=True)
    return 0 if not wanted else NOT_FOUND


def _members(archive: Path, sizes: set[int]) -> Iterator[tuple[int, IO[bytes]]]:
    """Yield the regular files of these sizes, in the order of the archive."""
    if _starts_with(archive, *ZIP):
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if entry.file_size in sizes and not entry.is_dir():
                    with opened.open(entry) as stream:
                        yield entry.file_size, stream
        return
    with _decompressed(archive) as text, tarfile.open(fileobj=text, mode="r|") as tar:
        for member in tar:
            if member.isreg() and member.size in sizes:
                yield member.size, cast("IO[bytes]", tar.extractfile(member))


def _decompressed(archive: Path) -> IO[bytes]:
    if _starts_with(archive, GZIP):
        return cast("IO[bytes]", gzip.open(archive))
    if _starts_with(archive, XZ):
        return cast("IO[bytes]", lzma.open(archive))
    raw = archive.open("rb")
    if _starts_with(archive, *ZSTD):
        return cast("IO[bytes]", zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
    return raw


def _starts_with(archive: Path, *magics: bytes) -> bool:
    """Return whether a file starts as one of a format. The reader decides by the start, too: other bytes may follow."""
    with archive.open("rb") as file:
        return file.read(max(map(len, magics))).startswith(magics)


def _copy(stream: IO[bytes], path: Path) -> str:
    """Write a member into a file, and return its hash."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(unpack(Path(sys.argv[1]), Path(sys.argv[2])))
