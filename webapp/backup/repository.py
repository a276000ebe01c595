"""A directory of backups. They share the bytes of evidence, each stored once; each backup has a manifest.

    format                                  the version of this layout
    lock                                    held by the backup or restore that runs
    objects/plain/aa/bb/HASH                bytes of evidence; aa and bb are the first digits of the hash
    objects/FINGERPRINT/aa/bb/HASH-STORED.age   the same, encrypted for one recipient; STORED is the hash of the
                                            encrypted bytes, so that a check needs no key
    backups/NAME/manifest.json              what the backup contains, with hashes; written last, never encrypted
    backups/NAME/...                        database.dump and keys.tar (.age if encrypted), evidence.list (never)
    incoming/                               incomplete files, and backups that are being removed

A file has its name when it is complete, on disk and read back. A backup has its name when all its files are.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO

from results.evidence.base import NO_ROOM, StoreUnavailableError
from results.evidence.durable import make_directory, sync_directory, write_file
from results.locks import file_lock
from webapp.backup.encryption import (
    Digest,
    HashingReader,
    HashingWriter,
    Identities,
    Recipient,
    Source,
    copy,
    decrypt,
    digest_of,
)
from webapp.backup.errors import BackupError, RepositoryFullError, SourceDamagedError

FORMAT = "drivecert.backup.1"
MANIFEST = "manifest.json"
DUMP, EVIDENCE, KEYS = "database.dump", "evidence.list", "keys.tar"
PLAIN = "plain"
SUFFIX = ".age"
MISSING, DAMAGED = "missing", "damaged"


@dataclass(frozen=True)
class StoredFile:
    """A file of a backup: the digest of its content, and that of its bytes in the repository (encrypted or not)."""

    name: str
    content: Digest
    stored: Digest

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "StoredFile":
        """Return a file as the manifest has it."""
        return cls(document["name"], Digest(**document["content"]), Digest(**document["stored"]))


@dataclass(frozen=True)
class StoredObject:
    """The bytes of one piece of evidence in the repository: hash and length of the content, and of the stored bytes."""

    sha256: str
    size_bytes: int
    stored: Digest

    @property
    def line(self) -> str:
        """Return the line of the list of evidence."""
        return f"{self.sha256} {self.size_bytes} {self.stored.sha256} {self.stored.size_bytes}\n"

    @classmethod
    def from_line(cls, line: str) -> "StoredObject":
        """Return the object of a line."""
        sha256, size_bytes, stored_sha256, stored_bytes = line.split()
        return cls(sha256, int(size_bytes), Digest(stored_sha256, int(stored_bytes)))


@dataclass(frozen=True)
class Manifest:
    """The content of one backup. `object_set` is the folder of its evidence; `damaged` are hashes that it lacks."""

    name: str
    started_at: str
    ended_at: str
    object_set: str
    recipient: str
    files: list[StoredFile]
    evidence_count: int
    evidence_bytes: int
    rows: dict[str, int]
    migrations: list[str]
    versions: dict[str, str]
    damaged: list[str] = field(default_factory=list)

    def file(self, name: str) -> StoredFile | None:
        """Return a file by its name; None if the backup has none."""
        return next((each for each in self.files if each.name == name), None)

    @property
    def suffix(self) -> str:
        """Return the end of the names of its files."""
        return SUFFIX if self.recipient else ""


@dataclass(frozen=True)
class Fault:
    """A file of the repository that is missing or damaged. `sha256` names evidence; it is empty for other files."""

    kind: str
    path: Path
    expected: str
    found: str
    sha256: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.kind}: expected {self.expected}, found {self.found}"


class Repository:
    """The backups in a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.incoming = path / "incoming"
        self.backups = path / "backups"

    def create(self) -> None:
        """Create the directories of a new repository. Raises BackupError for a directory with other files."""
        marker = self.path / "format"
        if marker.exists():
            self._check_format()
        elif self.path.is_dir() and any(entry.name != "lost+found" for entry in self.path.iterdir()):
            raise BackupError(f"{self.path}: expected a repository of backups or an empty directory, found other files")
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with full_disk_named(self.path):
            for directory in (self.incoming, self.backups):
                make_directory(directory)
            if not marker.exists():
                write_file(marker, f"{FORMAT}\n".encode())
                sync_directory(self.path)

    def exists(self) -> bool:
        """Return whether the directory is a repository, of any format."""
        return (self.path / "format").exists()

    def open(self) -> None:
        """Raise BackupError if the directory is no repository."""
        if not self.path.is_dir():
            raise BackupError(f"{self.path}: expected a repository of backups, found no directory")
        self._check_format()

    def _check_format(self) -> None:
        try:
            found = (self.path / "format").read_text(errors="replace").strip()
        except OSError as error:
            raise BackupError(
                f"{self.path}: expected a repository of backups with a file `format`: {error.strerror}"
            ) from error
        if found != FORMAT:
            raise BackupError(f"{self.path}/format: expected {FORMAT}, found {found!r}. Use the release that wrote it")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Take the lock of the repository. Raises BackupError if another process has it."""
        with file_lock(self.path / "lock", waits=False) as is_ours:
            if not is_ours:
                raise BackupError(f"{self.path}: another backup or restore uses this repository. Wait until it ends")
            yield

    @contextmanager
    def locked_if_writable(self) -> Iterator[None]:
        """Take the lock, for a reader. A repository that is mounted read-only or of another user has no lock."""
        with ExitStack() as entered:
            try:
                entered.enter_context(self.locked())
            except OSError as error:
                if error.errno not in {errno.EROFS, errno.EACCES, errno.EPERM}:
                    raise
            yield

    def names(self) -> list[str]:
        """Return the names of the complete backups, the oldest first."""
        if not self.backups.is_dir():
            return []
        return sorted(entry.name for entry in self.backups.iterdir() if (entry / MANIFEST).exists())

    def manifest(self, name: str = "") -> Manifest:
        """Return the manifest of a backup, by default of the newest. Raises BackupError if it is missing or damaged."""
        names = self.names()
        if not names:
            raise BackupError(f"{self.path}: expected a complete backup, found none")
        if name and name not in names:
            raise BackupError(f"--backup: expected one of {', '.join(names)}, got {name}")
        path = self.backups / (name or names[-1]) / MANIFEST
        try:
            document = json.loads(path.read_bytes())
            expected, content = document["sha256"], document["backup"]
            if _digest(content) != expected:
                raise BackupError(f"{path}: damaged: its content has another hash than it states. {_other(names)}")
            content["files"] = [StoredFile.from_document(each) for each in content["files"]]
            return Manifest(**content)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BackupError(f"{path}: damaged: it cannot be read: {error}. {_other(names)}") from error

    def is_encrypted(self) -> bool:
        """Return whether the newest backup is encrypted. Its manifest may be damaged."""
        return any((self.directory_of(name) / f"{KEYS}{SUFFIX}").exists() for name in self.names()[-1:])

    def clear_incoming(self) -> None:
        """Remove what an interrupted backup left. The caller has the lock."""
        for entry in self.incoming.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def directory_of(self, name: str) -> Path:
        """Return the directory of a complete backup."""
        return self.backups / name

    def path_of_file(self, manifest: Manifest, name: str) -> Path:
        """Return where a file of a backup is."""
        return self.directory_of(manifest.name) / (name + (manifest.suffix if name != EVIDENCE else ""))

    def path_of_object(self, object_set: str, stored: StoredObject) -> Path:
        """Return where the bytes of evidence are."""
        name = stored.sha256 if object_set == PLAIN else f"{stored.sha256}-{stored.stored.sha256}{SUFFIX}"
        return self.path / "objects" / object_set / stored.sha256[:2] / stored.sha256[2:4] / name

    def objects(self, object_set: str) -> Iterator[tuple[Path, str, Digest]]:
        """Yield path, hash of the content, and stored digest as the name states it, of each object of a set."""
        for path in (self.path / "objects" / object_set).glob("??/??/*"):
            sha256, _, stored = path.name.removesuffix(SUFFIX).partition("-")
            yield path, sha256, Digest(stored or sha256, path.stat().st_size)

    def add_object(
        self, recipient: Recipient | None, sha256: str, size_bytes: int, open_source: Callable[[], BinaryIO]
    ) -> StoredObject:
        """Copy evidence and read it back. Raises SourceDamagedError if it is not the bytes of this hash."""
        temporary = self.incoming / secrets.token_hex(16)
        try:
            with _opened(open_source) as source:
                content, stored = self._write(temporary, source, recipient)
            if content != Digest(sha256, size_bytes):
                raise SourceDamagedError(
                    f"expected {size_bytes} bytes with this hash, found {content.size_bytes} with {content.sha256}"
                )
            added = StoredObject(sha256, size_bytes, stored)
            path = self.path_of_object(recipient.fingerprint if recipient else PLAIN, added)
            with full_disk_named(self.path):
                make_directory(path.parent)
                temporary.replace(path)
                sync_directory(path.parent)
            return added
        finally:
            temporary.unlink(missing_ok=True)

    def add_file(self, directory: Path, name: str, source: Source, recipient: Recipient | None) -> StoredFile:
        """Write a file of the backup that is being made, and read it back."""
        content, stored = self._write(directory / (name + (SUFFIX if recipient else "")), source, recipient)
        return StoredFile(name, content, stored)

    def _write(self, path: Path, source: Source, recipient: Recipient | None) -> tuple[Digest, Digest]:
        reader = HashingReader(source)
        try:
            with full_disk_named(self.path):
                with path.open("xb") as file:
                    writer = HashingWriter(file)
                    if recipient:
                        recipient.encrypt(reader, writer)
                    else:
                        copy(reader, writer)
                    file.flush()
                    os.fsync(file.fileno())
                found = digest_of(path)
        except OSError as error:
            if isinstance(reader.error, StoreUnavailableError):
                raise reader.error from error
            if reader.error is not None:
                raise unreadable(error) from error
            raise
        if found != writer.digest:
            raise BackupError(
                f"{path}: read back after writing: expected {writer.digest.size_bytes} bytes with hash "
                f"{writer.digest.sha256}, found {found.size_bytes} with {found.sha256}. Replace this disk"
            )
        return reader.digest, writer.digest

    def publish(self, directory: Path, manifest: Manifest) -> None:
        """Write the manifest and give the backup its name: it then exists, whole."""
        content = asdict(manifest)
        document = {"sha256": _digest(content), "backup": content}
        with full_disk_named(self.path):
            write_file(directory / MANIFEST, json.dumps(document, indent=1).encode())
            sync_directory(directory)
            directory.rename(self.directory_of(manifest.name))
            sync_directory(self.backups)
            sync_directory(self.incoming)

    def evidence_of(self, manifest: Manifest) -> list[StoredObject]:
        """Return the objects of a backup. Raises BackupError if their list is not the one of the manifest."""
        listed = manifest.file(EVIDENCE)
        path = self.path_of_file(manifest, EVIDENCE)
        if listed is None:
            raise BackupError(f"{path}: the manifest does not name it")
        if fault := fault_of(path, listed.stored):
            raise BackupError(f"{fault}. {_other(self.names())}")
        return [StoredObject.from_line(line) for line in path.read_text().splitlines()]

    def open_content(self, path: Path, target: IO[bytes], manifest: Manifest, identities: Identities) -> Digest:
        """Write the decrypted content of a file into another one, and return its digest.

        Raises SourceDamagedError if the file cannot be read.
        """
        writer = HashingWriter(target)
        if manifest.recipient and not identities:
            raise BackupError(f"{path}: encrypted for {manifest.recipient}. Give the private key by --identity")
        try:
            with path.open("rb") as file:
                if manifest.recipient:
                    decrypt(HashingReader(file), writer, identities)
                else:
                    copy(file, writer)
        except OSError as error:
            if writer.error is not None:
                raise
            raise unreadable(error) from error
        return writer.digest

    def faults(self, manifest: Manifest) -> Iterator[Fault]:
        """Hash every file of a backup and yield each that is missing or damaged. No key is needed."""
        for file in manifest.files:
            if fault := fault_of(self.path_of_file(manifest, file.name), file.stored):
                yield fault
        try:
            evidence = self.evidence_of(manifest)
        except BackupError:
            return  # the list is one of the files above
        for each in evidence:
            if fault := fault_of(self.path_of_object(manifest.object_set, each), each.stored, each.sha256):
                yield fault

    def prune(self, keep: int) -> tuple[list[str], int]:
        """Remove all but the newest backups, and objects that no backup needs. Return the names and the bytes.

        Raises BackupError, before anything is removed, if a backup that stays cannot be read.
        """
        names = self.names()
        removed, kept = names[:-keep], names[-keep:]
        needed: dict[str, set[str]] = {}
        for name in kept:
            manifest = self.manifest(name)
            paths = needed.setdefault(manifest.object_set, set())
            paths.update(self.path_of_object(manifest.object_set, each).name for each in self.evidence_of(manifest))
        for name in removed:
            # The name goes first: an interrupted removal leaves no backup without its files.
            gone = self.incoming / f"{name}.removed"
            self.directory_of(name).rename(gone)
            sync_directory(self.backups)
            shutil.rmtree(gone)
        freed_bytes = 0
        objects = self.path / "objects"
        for object_set in sorted(entry.name for entry in objects.iterdir()) if objects.is_dir() else []:
            for path, _, stored in self.objects(object_set):
                if path.name not in needed.get(object_set, set()):
                    path.unlink()
                    freed_bytes += stored.size_bytes
        return removed, freed_bytes


def unreadable(error: OSError) -> SourceDamagedError:
    """Return the error of a source that the system cannot read."""
    return SourceDamagedError(f"it cannot be read: {error.strerror or error}")


def _opened(open_source: Callable[[], BinaryIO]) -> BinaryIO:
    """Open a source. Raises SourceDamagedError for an error of its disk."""
    try:
        return open_source()
    except StoreUnavailableError:
        raise
    except OSError as error:
        raise unreadable(error) from error


def fault_of(path: Path, expected: Digest, sha256: str = "") -> Fault | None:
    """Return how a file differs from its digest; None if it does not."""
    stated = f"{expected.size_bytes} bytes with hash {expected.sha256}"
    try:
        found = digest_of(path)
    except FileNotFoundError:
        return Fault(MISSING, path, stated, "no file", sha256)
    except OSError as error:
        return Fault(DAMAGED, path, stated, f"an error of the disk ({error.strerror})", sha256)
    if found == expected:
        return None
    return Fault(DAMAGED, path, stated, f"{found.size_bytes} bytes with hash {found.sha256}", sha256)


@contextmanager
def full_disk_named(path: Path) -> Iterator[None]:
    """Turn an error that the disk has no room into RepositoryFullError."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        free = ""
        with suppress(OSError):
            free = f", {shutil.disk_usage(path).free} bytes are free"
        raise RepositoryFullError(
            f"{path}: the disk of the repository is full ({os.strerror(error.errno or errno.ENOSPC)}{free}). Make "
            "room, for example by --keep with a smaller number, and start the backup again. It goes on with the bytes "
            "that are already copied. Earlier backups are unchanged"
        ) from error


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _other(names: Sequence[str]) -> str:
    return f"Choose another one by --backup: {', '.join(names)}" if len(names) > 1 else "There is no other backup here"
