"""A restore into an empty machine, which proves every hash and every verdict, and names what is missing."""

import os
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.management import call_command
from django.db import Error, connection

from results.evidence.durable import sync_directory
from results.evidence.references import references_query, users_of
from results.evidence.store import (
    EvidenceDamagedError,
    Stored,
    StoreError,
    StoreUnavailableError,
    open_address,
    prepare_store,
    store,
)
from results.reader.process import reader_version
from results.reevaluation.verification import Verification, verify_verdicts
from webapp.backup import database
from webapp.backup.creation import KEY_FILES
from webapp.backup.encryption import CHUNK_BYTES, Digest, HashingReader, Identities
from webapp.backup.errors import BackupError, SourceDamagedError
from webapp.backup.repository import DUMP, KEYS, Fault, Manifest, Repository, StoredObject, fault_of, unreadable
from webapp.embedded import Postgres
from webapp.supervisor.data_directory import DataDirectory
from webapp.supervisor.lock_files import acquire
from webapp.supervisor.supervisor import database_connected

REPORT_PERIOD_S = 10


@dataclass
class Result:
    """What was restored and proven, and what is missing or differs (`problems`, a sentence each).

    `unproven` are results that another version of drivetest judged, and that this one judges in another way.
    """

    manifest: Manifest
    evidence_count: int = 0
    evidence_bytes: int = 0
    duration_s: float = 0
    evidence_s: float = 0
    problems: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    verification: Verification = field(default_factory=Verification)


@dataclass(frozen=True)
class Options:
    """The repository, the backup in it (default: the newest), and the file with the private key.

    `files_only` restores evidence and keys, and leaves the database alone.
    """

    directory: Path
    backup: str = ""
    identities: Identities = ()
    files_only: bool = False


def check_backup(options: Options, report: Callable[[str], None]) -> tuple[Manifest, list[Fault]]:
    """Hash every file of a backup without restoring it. Return the faults, each reported at once."""
    repository = Repository(options.directory.absolute())
    repository.open()
    manifest = repository.manifest(options.backup)
    faults = []
    for fault in repository.faults(manifest):
        report(str(fault))
        faults.append(fault)
    return manifest, faults


def restore(options: Options, report: Callable[[str], None]) -> Result:
    """Restore a backup into an empty data directory and an empty database. Raises BackupError if it cannot begin.

    Damaged or missing evidence does not end the restore: what is there is restored, and the result names the rest.
    """
    repository = Repository(options.directory.absolute())
    repository.open()
    try:
        with repository.locked_if_writable():
            manifest = repository.manifest(options.backup)
            restoration = _Restoration(repository, manifest, options.identities, report)
            if options.files_only:
                return restoration.run_files()
            with target_database(report):
                return restoration.run()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise BackupError(
            f"{where}{error.strerror or error}. Nothing is lost: fix this, and start the restore again"
        ) from error


@contextmanager
def target_database(report: Callable[[str], None]) -> Iterator[None]:
    """Provide the database that DATABASE_URL names, or else that of the data directory, started for the restore."""
    if settings.DATABASE_URL:
        yield
        return
    directory = DataDirectory(Path(settings.DATA_DIR), report=report)
    directory.create()
    lock = acquire(directory.path / "lock")
    if lock is None:
        raise BackupError(f"{directory.path}: a register runs on it. Set DRIVECERT_DATA to an empty directory")
    with os.fdopen(lock):
        server = Postgres(directory)
        try:
            server.start()
            with database_connected(server.url):
                yield
        finally:
            server.child.stop()
            directory.remove_sockets()


class _Restoration:
    """One restore."""

    def __init__(
        self, repository: Repository, manifest: Manifest, identities: Identities, report: Callable[[str], None]
    ) -> None:
        self.repository, self.manifest, self.identities, self.report = repository, manifest, identities, report
        self.result = Result(manifest)

    def run(self) -> Result:
        """Restore everything. The database is last of the parts: a restore that was interrupted can be repeated."""
        started = time.monotonic()
        self._check_target()
        self._restore_files()
        self.report("restoring the database")
        with self._content(DUMP) as dump:
            database.restore_dump(dump)
        call_command("migrate", interactive=False, verbosity=0)
        try:
            self.report("comparing the rows with the evidence")
            self._check_rows()
            self.report("reading every log again, to prove the verdicts")
            self._prove_verdicts()
        except OSError as error:
            raise BackupError(
                f"{error}. Everything is restored, but not yet proven. Fix this, then finish with `manage.py scrub "
                "--all` and `manage.py recompute_verdicts --dry-run`"
            ) from error
        self.result.duration_s = time.monotonic() - started
        return self.result

    def run_files(self) -> Result:
        """Restore the evidence and the keys, for a database that is recovered in another way."""
        started = time.monotonic()
        faults = self._restore_files()
        lacks = [f"the backup lacks evidence {sha256}: it was damaged before" for sha256 in self.manifest.damaged]
        self.result.problems.extend([*faults, *lacks])
        self.result.duration_s = time.monotonic() - started
        return self.result

    def _restore_files(self) -> list[str]:
        """Restore keys and evidence. Return the files of evidence that are missing or damaged."""
        started = time.monotonic()
        Path(settings.DATA_DIR).mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_files()
        objects = self.repository.evidence_of(self.manifest)
        with self._content(KEYS) as keys:  # first, so that a wrong identity or other keys end the restore at once
            _write_keys(keys)
        try:
            prepare_store(is_new=True)
        except StoreError as error:
            raise BackupError(str(error)) from error
        self.report(f"restoring {len(objects)} files of evidence")
        faults = self._restore_evidence(objects)
        self.result.evidence_s = time.monotonic() - started
        return faults

    def _check_target(self) -> None:
        """Raise BackupError unless the target is empty, and this release can read the backup and its logs."""
        reader_version()  # without it, no verdict could be proven
        try:
            tables = database.tables_count()
        except Error as error:
            raise BackupError(f"the database cannot be opened: {str(error).strip()}") from error
        if tables:
            raise BackupError(
                f"database {connection.settings_dict['NAME']}: expected an empty database, found {tables} tables. A "
                "restore never replaces rows: set DRIVECERT_DATA to an empty directory, or DATABASE_URL to an empty "
                "database"
            )
        if unknown := database.unknown_migrations(self.manifest.migrations):
            raise BackupError(
                f"backup {self.manifest.name}: made by a later release, which has the migrations {', '.join(unknown)}. "
                "Restore it with that release"
            )

    def _check_files(self) -> None:
        """Raise BackupError if the dump, the keys or the list of evidence are damaged: nothing was changed then."""
        faults = [
            fault
            for file in self.manifest.files
            if (fault := fault_of(self.repository.path_of_file(self.manifest, file.name), file.stored))
        ]
        if faults:
            others = [name for name in self.repository.names() if name != self.manifest.name]
            remedy = f"Restore another backup: {', '.join(others)}" if others else "The repository has no other backup"
            raise BackupError("\n".join([*map(str, faults), f"Nothing was changed. {remedy}"]))

    @contextmanager
    def _content(self, name: str) -> Iterator[IO[bytes]]:
        """Provide the decrypted content of a file of the backup. Raises BackupError if its hash is another one."""
        path, file = self.repository.path_of_file(self.manifest, name), self.manifest.file(name)
        with tempfile.TemporaryFile(dir=settings.DATA_DIR) as content:
            try:
                found = self.repository.open_content(path, content, self.manifest, self.identities)
            except SourceDamagedError as error:
                raise BackupError(f"{path}: {error}. Choose another backup by --backup") from error
            if file is None or file.content != found:
                raise BackupError(f"{path}: its content has another hash than the manifest states")
            content.seek(0)
            yield content

    def _restore_evidence(self, objects: Sequence[StoredObject]) -> list[str]:
        """Restore what is there. Report and return the files that are missing or damaged."""
        reported, faults = time.monotonic(), []
        for number, each in enumerate(objects, start=1):
            path = self.repository.path_of_object(self.manifest.object_set, each)
            try:
                self._restore_object(path, each)
                self.result.evidence_count += 1
                self.result.evidence_bytes += each.size_bytes
            except FileNotFoundError:
                faults.append(f"MISSING {path}: expected {each.size_bytes} bytes of evidence, found no file")
                self.report(faults[-1])
            except (SourceDamagedError, EvidenceDamagedError) as error:
                faults.append(f"DAMAGED {path}: {error}")
                self.report(faults[-1])
            except StoreError as error:
                raise BackupError(f"{error}. Nothing is lost: fix this, and start the restore again") from error
            if time.monotonic() - reported > REPORT_PERIOD_S:
                reported = time.monotonic()
                self.report(f"evidence: {number} of {len(objects)}, {self.result.evidence_bytes / 1e6:.0f} MB")
        return faults

    def _restore_object(self, path: Path, each: StoredObject) -> None:
        """Store the bytes of evidence. They are hashed on the way, and get no name if the hash is another one."""
        with tempfile.TemporaryFile(dir=settings.DATA_DIR) as content:
            if self.manifest.recipient:
                if fault := fault_of(path, each.stored):
                    if not path.exists():
                        raise FileNotFoundError(path)
                    raise SourceDamagedError(f"expected {fault.expected}, found {fault.found}")
                self.repository.open_content(path, content, self.manifest, self.identities)
                content.seek(0)
                store(_Checked(content, each))
            else:
                try:
                    file = path.open("rb")
                except FileNotFoundError:
                    raise
                except OSError as error:
                    raise unreadable(error) from error
                with file:
                    store(_Checked(file, each))

    def _check_rows(self) -> None:
        """Hash each piece of evidence that a row refers to. Name those that are missing or differ, and who needs them.

        Also files that the store had before: no restore has hashed them.
        """
        reported = time.monotonic()
        with connection.cursor() as cursor:
            cursor.execute(references_query())
            references = cursor.fetchall()
        for number, (sha256, size_bytes) in enumerate(references, start=1):
            try:
                if fault := _fault_of_stored(Stored(sha256, size_bytes)):
                    self.result.problems.append(f"evidence {sha256} of {', '.join(users_of(sha256))}: {fault}")
            except EvidenceDamagedError:
                users = ", ".join(users_of(sha256))
                is_lacking = sha256 in self.manifest.damaged
                reason = "the backup lacks it" if is_lacking else "its file in the repository is missing or damaged"
                self.result.problems.append(f"evidence {sha256} of {users} is missing: {reason}")
            if time.monotonic() - reported > REPORT_PERIOD_S:
                reported = time.monotonic()
                self.report(f"compared: {number} of {len(references)}")

    def _prove_verdicts(self) -> None:
        reported = [time.monotonic()]

        def show(whole: Verification) -> None:
            if time.monotonic() - reported[0] > REPORT_PERIOD_S:
                reported[0] = time.monotonic()
                self.report(f"logs: {whole.logs_count}, differences: {len(whole.differences)}")

        self.result.verification = verify_verdicts(show)
        for each in self.result.verification.differences:
            (self.result.unproven if each.is_other_reader else self.result.problems).append(str(each))


class _Checked:
    """A stream of evidence that ends with an error unless its bytes have the expected hash."""

    def __init__(self, source: IO[bytes], expected: StoredObject) -> None:
        self._reader = HashingReader(source)
        self._expected = Digest(expected.sha256, expected.size_bytes)

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes. Raises SourceDamagedError at the end of other bytes: the store keeps none then."""
        try:
            piece = self._reader.read(size)
        except OSError as error:
            raise unreadable(error) from error
        if not piece and self._reader.digest != self._expected:
            found = self._reader.digest
            raise SourceDamagedError(
                f"expected {self._expected.size_bytes} bytes with hash {self._expected.sha256}, found "
                f"{found.size_bytes} with {found.sha256}"
            )
        return piece


def _fault_of_stored(address: Stored) -> str:
    """Hash stored bytes. Return how they differ from their address, or an empty text.

    Raises EvidenceDamagedError if they are missing or of another length, and StoreUnavailableError.
    """
    remedy = "Move this file away, and restore it from the backup (docs/how-to/back-up-and-restore.md)"
    try:
        with open_address(address) as file:
            reader = HashingReader(file)
            while reader.read(CHUNK_BYTES):
                pass
    except StoreUnavailableError:
        raise
    except OSError as error:
        return f"the stored file cannot be read: {error.strerror or error}. {remedy}"
    found = reader.digest.sha256
    return "" if found == address.sha256 else f"the stored file has other bytes, with hash {found}. {remedy}"


def _write_keys(archive: IO[bytes]) -> None:
    """Write the keys into the data directory. Raises BackupError if it has other ones."""
    with tarfile.open(fileobj=archive) as tar:
        for member in tar.getmembers():
            source = tar.extractfile(member) if member.name in KEY_FILES else None
            if source is None:
                raise BackupError(f"{KEYS}: expected {', '.join(KEY_FILES)}, found {member.name}")
            content, path = source.read(), Path(settings.DATA_DIR) / member.name
            if path.exists():
                if path.read_bytes() != content:
                    remedy = "Set DRIVECERT_DATA to an empty directory"
                    raise BackupError(f"{path}: expected no key, found another one. {remedy}")
                continue
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = path.with_name(f"{path.name}.new")
            new.unlink(missing_ok=True)
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            new.rename(path)
            sync_directory(path.parent)
