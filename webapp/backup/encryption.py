"""Encryption of the files of a backup for one recipient, in the format of age.

The library pyrage encrypts as a stream of 64 KiB chunks, each authenticated, so that memory does not grow with a file.
It writes the same format as the program `age`, which can decrypt a backup without the register. A library is used and
not the program, because a program for each of 10,000 small files would take longer than their encryption.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import pyrage

from webapp.backup.errors import BackupError

CHUNK_BYTES = 1024 * 1024
SECRET_KEY = "AGE-SECRET-KEY-"
Identities = Sequence[object]


class Source(Protocol):
    """A stream that is read to its end."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, none at the end."""
        ...


@dataclass(frozen=True)
class Digest:
    """SHA-256 and number of the bytes of a stream."""

    sha256: str
    size_bytes: int


class HashingReader:
    """A source that is hashed while it is read. It keeps an error of the source, which pyrage would replace."""

    def __init__(self, source: Source) -> None:
        self._source, self._hash, self._size_bytes = source, hashlib.sha256(), 0
        self.error: Exception | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, none at the end."""
        try:
            piece = self._source.read(size)
        except Exception as error:
            self.error = error
            raise
        self._hash.update(piece)
        self._size_bytes += len(piece)
        return piece

    @property
    def digest(self) -> Digest:
        """Return the digest of what was read so far."""
        return Digest(self._hash.hexdigest(), self._size_bytes)


class HashingWriter:
    """A file that is hashed while it is written. It keeps an error of the file, which pyrage would replace."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash, self._size_bytes = file, hashlib.sha256(), 0
        self.error: Exception | None = None

    def write(self, piece: bytes, /) -> int:
        """Write all bytes of a piece."""
        try:
            self._file.write(piece)
        except Exception as error:
            self.error = error
            raise
        self._hash.update(piece)
        self._size_bytes += len(piece)
        return len(piece)

    def flush(self) -> None:
        """Do nothing: the owner of the file flushes it."""

    @property
    def digest(self) -> Digest:
        """Return the digest of what was written so far."""
        return Digest(self._hash.hexdigest(), self._size_bytes)


class Recipient:
    """The public key for which a backup is encrypted: `age1...`, or a public key of SSH.

    `fingerprint` names the objects that are encrypted for it.
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        kind = pyrage.ssh if self.text.startswith("ssh-") else pyrage.x25519
        try:
            self._key = kind.Recipient.from_str(self.text)
        except pyrage.RecipientError as error:
            raise BackupError(
                f"--recipient: expected a public key of age (age1...) or SSH (ssh-ed25519 ...), got {text!r}: {error}. "
                "Create a key with: age-keygen"
            ) from error
        self.fingerprint = hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def encrypt(self, source: HashingReader, target: HashingWriter) -> None:
        """Encrypt a stream to its end."""
        try:
            pyrage.encrypt_io(source, target, [self._key])
        except pyrage.EncryptError as error:
            raise source.error or target.error or error from error


def copy(source: Source, target: HashingWriter) -> None:
    """Copy a stream to its end."""
    while piece := source.read(CHUNK_BYTES):
        target.write(piece)


def decrypt(source: HashingReader, target: HashingWriter, identities: Identities) -> None:
    """Decrypt a stream to its end. Raises BackupError if no identity fits, or if the bytes were changed."""
    try:
        pyrage.decrypt_io(source, target, identities)
    except pyrage.DecryptError as error:
        raise (
            source.error
            or target.error
            or BackupError(
                f"none of the identities decrypts it ({error}). Give the file with the private key by --identity"
            )
        ) from error
    except OSError as error:  # pyrage reports changed or missing bytes so
        raise source.error or target.error or BackupError(f"the encrypted bytes were changed: {error}") from error


def read_identities(path: Path) -> Identities:
    """Return the private keys of a file: lines of age-keygen, or a private key of SSH."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BackupError(f"--identity: cannot read {path}: {error.strerror}") from error
    try:
        if b"PRIVATE KEY-----" in content:
            return [pyrage.ssh.Identity.from_buffer(content)]
        lines = [line.strip() for line in content.decode().splitlines()]
        found = [pyrage.x25519.Identity.from_str(line) for line in lines if line.startswith(SECRET_KEY)]
    except (pyrage.IdentityError, ValueError) as error:
        raise BackupError(f"--identity: {path} cannot be used: {error}") from error
    if not found:
        raise BackupError(f"--identity: expected a line {SECRET_KEY}... in {path}, found none")
    return found


def digest_of(path: Path) -> Digest:
    """Return the digest of a file as it is on disk: its pages are dropped from the cache first."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        size_bytes = os.fstat(file.fileno()).st_size
        return Digest(hashlib.file_digest(file, "sha256").hexdigest(), size_bytes)
