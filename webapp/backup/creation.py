"""A backup of the running register.

Its parts are taken at different moments and still belong together: first the rows, at one snapshot, and then the bytes
that these rows refer to. Bytes of evidence exist before their row does, and are never replaced or removed. So whatever
a row of the snapshot refers to is still there, unchanged, however long the copy takes.
"""

import contextlib
import io
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from results.evidence.references import users_of
from results.evidence.store import EvidenceDamagedError, Stored, StoreUnavailableError, open_address
from results.reader.process import ReaderBrokenError, reader_version
from webapp.backup import database
from webapp.backup.encryption import Digest, Recipient, Source
from webapp.backup.errors import BackupError, RepositoryFullError, SourceDamagedError
from webapp.backup.models import Backup
from webapp.backup.repository import (
    DUMP,
    EVIDENCE,
    KEYS,
    PLAIN,
    Manifest,
    Repository,
    StoredFile,
    StoredObject,
)

# What the register cannot generate again, besides rows and evidence. The passwords of the embedded servers are not
# here: a new cluster gets new ones.
KEY_FILES = ("lab/ssh_key", "secrets/encryption", "secrets/django")
NAME_FORMAT = "%Y-%m-%dT%H%M%S.%fZ"
REPORT_PERIOD_S = 10


@dataclass(frozen=True)
class DamagedEvidence:
    """Evidence that could not be copied, the reason, and the submissions or objections that need it."""

    sha256: str
    reason: str
    users: Sequence[str]

    def __str__(self) -> str:
        return f"evidence {self.sha256} of {', '.join(self.users)}: {self.reason}"


@dataclass
class Result:
    """What a backup contains, what it copied, and what it could not copy."""

    manifest: Manifest
    copied_count: int = 0
    copied_bytes: int = 0
    duration_s: float = 0
    damaged: list[DamagedEvidence] = field(default_factory=list)
    missing_keys: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    freed_bytes: int = 0


@dataclass(frozen=True)
class Options:
    """Where a backup goes, for whom it is encrypted (None: nobody), and how many backups stay (None: all)."""

    directory: Path
    recipient: str | None = None
    keep: int | None = None


def create_backup(options: Options, report: Callable[[str], None]) -> Result:
    """Make a backup, then remove old ones if that is ordered. Raises BackupError."""
    recipient = Recipient(options.recipient) if options.recipient is not None else None
    repository = Repository(options.directory.absolute())
    try:
        if not repository.exists() and Backup.objects.filter(repository=str(repository.path)).exists():
            raise BackupError(
                f"{repository.path}: expected the repository of earlier backups, found no repository. Mount the disk, "
                "or choose another directory"
            )
        repository.create()
        with repository.locked():
            if recipient is None and repository.is_encrypted():
                raise BackupError(
                    f"{repository.path}: its newest backup is encrypted, and this one would not be. Use --recipient, "
                    "or another directory"
                )
            repository.clear_incoming()
            Backup.objects.filter(repository=str(repository.path), outcome=Backup.Outcome.RUNNING).update(
                outcome=Backup.Outcome.INTERRUPTED, ended_at=timezone.now()
            )
            return _Creation(repository, recipient, report).run(options.keep)
    except StoreUnavailableError as error:
        raise BackupError(f"{error}. The next backup goes on with what this one has copied") from error
    except PermissionError as error:
        raise BackupError(f"{error.filename}: {error.strerror}. Give the register's user the right") from error
    except OSError as error:
        where = error.filename or repository.path
        raise BackupError(
            f"{where}: {error.strerror or error}. Check this disk, then start the backup again. Earlier backups are "
            "unchanged"
        ) from error


class _Creation:
    """One backup that is being made."""

    def __init__(self, repository: Repository, recipient: Recipient | None, report: Callable[[str], None]) -> None:
        self.repository, self.recipient, self.report = repository, recipient, report
        self.started = time.monotonic()
        self.started_at = datetime.now(UTC)
        self.name = self.started_at.strftime(NAME_FORMAT)
        self.object_set = recipient.fingerprint if recipient else PLAIN
        self.row = Backup(repository=str(repository.path), name=self.name, is_encrypted=recipient is not None)
        self.row.started_at = self.started_at
        self.damaged: list[DamagedEvidence] = []
        self.copied_count = self.copied_bytes = 0

    def run(self, keep: int | None) -> Result:
        """Make the backup. The row of this register gets the outcome, also after an error."""
        try:
            result = self._make()
        except BaseException as error:
            if self.row.pk is not None:
                is_full = isinstance(error, RepositoryFullError)
                outcome = Backup.Outcome.DISK_FULL if is_full else Backup.Outcome.FAILED
                with contextlib.suppress(Exception):  # the database may be what failed
                    self._end(Backup.Outcome.INTERRUPTED if isinstance(error, KeyboardInterrupt) else outcome)
            raise
        self._end(Backup.Outcome.INCOMPLETE if result.damaged else Backup.Outcome.GOOD)
        if keep is not None and result.damaged:
            self.report("no backup is removed, because this one is incomplete")
        elif keep is not None:  # the backup is complete, whatever happens to older ones
            result.removed, result.freed_bytes = self.repository.prune(keep)
        result.duration_s = time.monotonic() - self.started
        return result

    def _make(self) -> Result:
        directory = self.repository.incoming / self.name
        directory.mkdir(mode=0o700)
        self.report("dumping the database")
        with database.snapshot() as snapshot:
            self.row.save()  # after the snapshot: a restored register has no row of a backup that runs
            with database.dump_of(snapshot.name) as dump:
                files = [self._add(directory, DUMP, dump)]
        keys, missing_keys = _key_archive()
        files.append(self._add(directory, KEYS, io.BytesIO(keys)))
        objects = self._copy_evidence(snapshot.references)
        listing = "".join(each.line for each in objects).encode()
        # Never encrypted: it has the hashes that also are the names of the objects, and a check needs no key.
        files.append(self.repository.add_file(directory, EVIDENCE, io.BytesIO(listing), None))
        manifest = Manifest(
            name=self.name,
            started_at=self.started_at.isoformat(),
            ended_at=datetime.now(UTC).isoformat(),
            object_set=self.object_set,
            recipient=self.recipient.text if self.recipient else "",
            files=files,
            evidence_count=len(objects),
            evidence_bytes=sum(each.size_bytes for each in objects),
            rows=snapshot.rows,
            migrations=database.migrations(),
            versions={"PostgreSQL": database.server_version(), "drivetest": _reader_version()},
            damaged=[each.sha256 for each in self.damaged],
        )
        self.repository.publish(directory, manifest)
        self.row.dump_bytes = files[0].stored.size_bytes
        self.row.evidence_count, self.row.evidence_bytes = manifest.evidence_count, manifest.evidence_bytes
        return Result(manifest, self.copied_count, self.copied_bytes, damaged=self.damaged, missing_keys=missing_keys)

    def _add(self, directory: Path, name: str, source: Source) -> StoredFile:
        return self.repository.add_file(directory, name, source, self.recipient)

    def _copy_evidence(self, references: Sequence[tuple[str, int]]) -> list[StoredObject]:
        """Copy the evidence that the repository does not have, and return all objects of the backup."""
        stored: dict[str, Digest] = {}
        for _, sha256, digest in self.repository.objects(self.object_set):
            if sha256 not in stored or stored[sha256].size_bytes < digest.size_bytes:  # not one that is cut off
                stored[sha256] = digest
        objects, reported = [], time.monotonic()
        for number, (sha256, size_bytes) in enumerate(references, start=1):
            found = stored.get(sha256)
            # Encrypted bytes are longer than the content, plain ones are as long; others are of a damaged repository.
            if found is not None and (
                found.size_bytes > size_bytes if self.recipient else found.size_bytes == size_bytes
            ):
                objects.append(StoredObject(sha256, size_bytes, found))
                continue
            try:
                objects.append(self._copy(sha256, size_bytes))
            except (SourceDamagedError, EvidenceDamagedError) as error:
                damage = DamagedEvidence(sha256, str(error), users_of(sha256))
                self.damaged.append(damage)
                self.report(f"DAMAGED {damage}")
            if time.monotonic() - reported > REPORT_PERIOD_S:
                reported = time.monotonic()
                self.report(f"evidence: {number} of {len(references)}, {self.copied_bytes / 1e6:.0f} MB copied")
        return objects

    def _copy(self, sha256: str, size_bytes: int) -> StoredObject:
        address = Stored(sha256, size_bytes)
        added = self.repository.add_object(self.recipient, sha256, size_bytes, lambda: open_address(address))
        self.copied_count += 1
        self.copied_bytes += size_bytes
        return added

    def _end(self, outcome: Backup.Outcome) -> None:
        self.row.outcome, self.row.ended_at = outcome, timezone.now()
        self.row.copied_bytes, self.row.damaged_count = self.copied_bytes, len(self.damaged)
        self.row.save()


def _key_archive() -> tuple[bytes, list[str]]:
    """Return the keys as a tar archive, and the names of those that this data directory does not have."""
    archive, missing = io.BytesIO(), []
    # The content of a symbolic link is stored, not the link: its target is in no backup.
    with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
        for name in KEY_FILES:
            path = Path(settings.DATA_DIR) / name
            if path.is_file():
                tar.add(path, arcname=name, recursive=False)
            else:
                missing.append(name)
    return archive.getvalue(), missing


def _reader_version() -> str:
    try:
        return reader_version()
    except ReaderBrokenError:
        return "not known"
