"""This machine as a lab host: drivetest runs directly, and run directories are in the register's data directory."""

import errno
import hashlib
import json
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from results.evidence.durable import sync_directory, write_file
from runners import errors
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import (
    FoundDrive,
    Identity,
    ProgramStatus,
    expecting,
    parse_drives,
    parse_identity,
    parse_removal,
    parse_status,
)

# Exit statuses of docs/reference/formats.md.
SUCCESS, REFUSED, USAGE = 0, 2, 64
# The unit of /sys/class/block/*/size, independent of the device's own sector size.
SECTOR_BYTES = 512
BLOCK_DEVICES = Path("/sys/class/block")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# The part of the worker's environment that a load gets. The rest contains the register's key and the database password.
ENVIRONMENT_PASSED = ("PATH", "LANG", "HOME")


class LocalHost:
    """Calls the drivetest of this machine. Processes that it starts outlive the register."""

    def __init__(self) -> None:
        self.program = Path(settings.DRIVETEST)
        self.directory = Path(settings.LAB_DIR)

    def identify(self, path: str) -> Identity:
        answer = self._run("identify", path, "--json")
        return parse_identity(path, _document(answer, f"{path}: cannot be identified", errors.DeviceUnknownError))

    def list_drives(self) -> list[FoundDrive]:
        return parse_drives(_document(self._run("identify", "--json"), "its drives cannot be listed"))

    def version(self) -> str:
        """Return the program's name and version: drivetest 0.4.0."""
        return self._run("--version").stdout.strip()

    def find(self, drive_key: str, size_bytes: int) -> list[str]:
        return [path for path in _devices_of_size(size_bytes) if self._is_drive(path, drive_key)]

    def _is_drive(self, path: str, drive_key: str) -> bool:
        try:
            return drive_key in keys_of(self.identify(path).drive_key)
        except errors.DeviceUnknownError:
            return False

    def first_bytes(self, path: str, limit: int) -> bytes:
        try:
            with Path(path).open("rb") as stream:
                return stream.read(limit)
        except OSError as error:
            raise errors.DeviceUnknownError(f"{path}: cannot be read: {error.strerror}") from error

    def create_file(self, path: str, size_bytes: int) -> None:
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                _allocate(path, stream.fileno(), size_bytes)
        except FileExistsError as error:
            raise errors.FileExistsOnHostError(
                f"{path}: exists already and was not changed; add it without a size"
            ) from error
        except OSError as error:
            raise errors.DeviceUnknownError(f"{path}: cannot be created: {error.strerror}") from error

    def put(self, run: str, files: Mapping[str, bytes]) -> None:
        directory = self._run_dir(run)
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, content in files.items():
                _write_atomically(directory / name, content)
            sync_directory(directory)
        except OSError as error:
            raise errors.HostFaultError(f"{directory}: cannot be written: {error.strerror}") from error

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        answer = self._run("start", *self._generation_options(run, drive_key, generation), "--", *argv)
        if answer.returncode == REFUSED:
            raise errors.StartRefusedError(_refusal_reason(answer, "the host refuses to start it"))
        if answer.returncode == USAGE:
            raise errors.StartFailedError(_error_text(answer, "drivetest cannot start it"))
        # Without an answer the outcome is unknown. The same start may be repeated and leads to one process.
        return parse_status(_document(answer, f"{run}: start gave no answer"))

    def status(self, run: str) -> ProgramStatus:
        return self._query(run, "status")

    def stop(self, run: str) -> ProgramStatus:
        return self._query(run, "stop")

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        answer = self._run("remove", *self._generation_options(run, drive_key, generation))
        return parse_removal(_document(answer, f"{run}: cannot be removed", accepted={SUCCESS, REFUSED}))

    def boot_ids(self) -> tuple[str, ...]:
        return (BOOT_ID.read_text().strip(),) if BOOT_ID.exists() else ()

    def read(self, run: str, file: str, offset: int, limit: int) -> bytes:
        with self.fetch(run, file) as stream:
            stream.seek(offset)
            return stream.read(limit)

    def fetch(self, run: str, file: str) -> BinaryIO:
        path = self._run_dir(run) / file
        try:
            return _open_regular_file(self._run_dir(run), Path(file).parts)
        except FileNotFoundError as error:
            raise errors.FileMissingError(f"{path}: expected a file of the run, found none") from error
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENXIO}:
                raise errors.FileMissingError(
                    f"{path}: expected a plain file of the run, found another kind of file"
                ) from error
            raise errors.HostUnavailableError(f"{path}: cannot be read: {error.strerror}") from error

    def _query(self, run: str, command: str) -> ProgramStatus:
        answer = self._run(command, "--run-dir", str(self._run_dir(run)))
        return parse_status(_document(answer, f"{run}: {command} gave no answer"))

    def _generation_options(self, run: str, drive_key: str, generation: int) -> list[str]:
        locked = ["--run-dir", str(self._run_dir(run)), "--drive-lock", str(self._drive_lock(drive_key))]
        return [*locked, "--generation", str(generation)]

    def _run_dir(self, run: str) -> Path:
        return self.directory / run

    def _drive_lock(self, drive_key: str) -> Path:
        """Return the lock file of a drive. Its name is a hash, because a key may contain what file names cannot."""
        locks = self.directory / "locks"
        locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        return locks / hashlib.sha256(drive_key.encode()).hexdigest()

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        try:
            return subprocess.run(
                [self.program, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=settings.HOST_ANSWER_TIMEOUT_S,
                check=False,
                env={name: os.environ[name] for name in ENVIRONMENT_PASSED if name in os.environ},
            )
        except subprocess.TimeoutExpired as error:
            seconds = settings.HOST_ANSWER_TIMEOUT_S
            raise errors.HostUnavailableError(f"drivetest {arguments[0]}: no answer within {seconds} s") from error
        except OSError as error:
            raise errors.ProgramMissingError(
                f"{self.program}: cannot be run: {error.strerror}; "
                "run `cargo build --release` in runners/drivetest, or set DRIVETEST"
            ) from error


def _devices_of_size(size_bytes: int) -> list[str]:
    """Return the block devices of one size: each identification takes a second, and few have the same size."""
    sectors = str(size_bytes // SECTOR_BYTES)
    sizes = BLOCK_DEVICES.glob("*/size")
    return sorted(f"/dev/{size.parent.name}" for size in sizes if _read_size(size) == sectors)


def _read_size(size: Path) -> str:
    """Return the size that the kernel reports; empty for a device that disappeared after it was listed."""
    try:
        return size.read_text().strip()
    except OSError:
        return ""


def _document(
    answer: "subprocess.CompletedProcess[str]",
    otherwise: str,
    error: type[errors.HostError] = errors.HostUnavailableError,
    accepted: Set[int] = frozenset({SUCCESS}),
) -> dict[str, Any]:
    """Return the JSON of an answer. Raise `error` with its text, or else `otherwise`, for any other exit status."""
    if answer.returncode not in accepted:
        raise error(_error_text(answer, otherwise))
    with expecting("a JSON object", answer.stdout[:200] + answer.stderr[:200]):
        document = json.loads(answer.stdout)
        if not isinstance(document, dict):
            raise TypeError(type(document).__name__)
        return document


def _error_text(answer: "subprocess.CompletedProcess[str]", otherwise: str) -> str:
    return answer.stderr.strip()[-2000:] or f"{otherwise} (exit status {answer.returncode})"


def _refusal_reason(answer: "subprocess.CompletedProcess[str]", otherwise: str) -> str:
    """Return the sentence of a refusal from the JSON; a usage error has only its text on stderr."""
    try:
        return str(json.loads(answer.stdout)["reason"]) or _error_text(answer, otherwise)
    except (json.JSONDecodeError, KeyError, TypeError):
        return _error_text(answer, otherwise)


def _allocate(path: str, descriptor: int, size_bytes: int) -> None:
    """Reserve the whole size: a run must not end for lack of space. Delete the file if that fails."""
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
        os.fsync(descriptor)
    except OSError as error:
        Path(path).unlink()
        raise errors.DeviceUnknownError(f"{path}: cannot reserve {size_bytes} bytes: {error.strerror}") from error


def _open_regular_file(directory: Path, parts: Sequence[str]) -> BinaryIO:
    """Open a regular file below a directory. The run's program names the files there, perhaps as another user.

    A symbolic link would lead the register, often root, to any file of the machine, and opening a pipe would block.
    """
    *folders, name = parts
    folder_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder_fd)
            os.close(folder_fd)
            folder_fd = inner
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder_fd)
    finally:
        os.close(folder_fd)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ENXIO, "not a plain file")
    return os.fdopen(descriptor, "rb")


def _write_atomically(path: Path, content: bytes) -> None:
    """Write under a temporary name and rename: a reader sees the whole file or none."""
    temporary = path.with_name(f"{path.name}.new")
    write_file(temporary, content)
    temporary.replace(path)
