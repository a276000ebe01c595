"""Requests to `drivetest host` and its responses: the same bytes over SSH and through an agent.

One exchange has several requests: docs/reference/lab.md describes them. Each transport is a RemoteHost with its own
`exchange`; nothing above it depends on the transport.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from runners.errors import (
    DeviceUnknownError,
    FileMissingError,
    HostError,
    HostFaultError,
    HostUnavailableError,
    StartFailedError,
    StartRefusedError,
)
from runners.hosts.machine import check_size, scratch_dir
from runners.hosts.protocol import (
    FoundDrive,
    Identity,
    ProgramState,
    ProgramStatus,
    ResponseTimer,
    parse_drives,
    parse_identity,
    parse_removal,
    parse_status,
)
from runners.models import Host

# The exceptions for the kinds of crates/labhost/src/error.rs.
ERRORS: dict[str, type[HostError]] = {
    "refused": StartRefusedError,
    "device-unknown": DeviceUnknownError,
    "file-missing": FileMissingError,
    "usage": StartFailedError,
    "unanswered": HostFaultError,
}


@dataclass(frozen=True)
class Response:
    """One response: a document and its bytes. The caller that needs the response raises `error`.

    `worked_ms` is how long the host worked on it, None if its program is too old to report that.
    """

    document: Any = None
    content: bytes = b""
    error: HostError | None = None
    worked_ms: int | None = None


def request(verb: str, content: bytes = b"", **fields: Any) -> bytes:
    """Return a request of `drivetest host`: its JSON line, and the bytes of the file that it sends."""
    return json.dumps({"verb": verb} | fields).encode() + b"\n" + content


def parse_responses(name: str, answer: bytes, count: int) -> list[Response]:
    """Return the responses to `count` requests. Raise HostUnavailableError if there are fewer: all may be repeated."""
    responses: list[Response] = []
    while len(responses) < count:
        line, newline, rest = answer.partition(b"\n")
        if not newline:
            raise HostUnavailableError(f"{name}: expected {count} responses, got {len(responses)} and {line[:200]!r}")
        response, answer = _parse_response(name, line, rest)
        responses.append(response)
    return responses


def _parse_response(name: str, line: bytes, rest: bytes) -> tuple[Response, bytes]:
    """Return one response and the bytes after it."""
    try:
        header = json.loads(line)
        bytes_count = int(header["bytes"])
        worked_ms = int(header["worked_ms"]) if "worked_ms" in header else None
        error = _parse_error(header["error"]) if "error" in header else None
    except (ValueError, TypeError, KeyError) as reason:
        raise HostUnavailableError(f"{name}: expected a response of drivetest host, got {line[:200]!r}") from reason
    if not 0 <= bytes_count <= len(rest):
        raise HostUnavailableError(f"{name}: expected {bytes_count} bytes of a file, got {len(rest)}")
    return Response(header.get("ok"), rest[:bytes_count], error, worked_ms), rest[bytes_count:]


def _parse_error(error: dict[str, str]) -> HostError:
    """Return the host's error as an exception. A kind that only newer programs know gives no reliable information."""
    return ERRORS.get(error["kind"], HostUnavailableError)(error["sentence"])


# More than the longest answer: a log's piece is at most 4 MiB.
ANSWER_BYTES_MAX = 16 * 1024 * 1024

LOG = "log"
# drivetest host returns at most this much of a file at once.
PIECE_BYTES = 4 * 1024 * 1024
# The log is requested together with its run's status, from this far before its last known end: the last whole block may
# have begun there, and the page shows the last lines.
LOG_OVERLAP_BYTES = 32 * 1024
FETCHED_IN_MEMORY_BYTES = 8 * 1024 * 1024
NO_FILES = "a plain file cannot be a device on a remote host; name a block device"

# The end of each run's log when this process last saw it, by host and run.
_log_ends: dict[tuple[int, str], int] = {}


class RemoteHost(ABC):
    """One host, for one poll: the log piece that came with a run's status is cached during the poll.

    `timer` times the host's answers since the last reset (runners/monitoring/connectivity.py).
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self.timer = ResponseTimer()
        self._pieces: dict[str, tuple[int, bytes]] = {}

    @abstractmethod
    def exchange(self, payload: bytes) -> bytes:
        """Return the answer of `drivetest host` to a batch of requests, timed by `timer`.

        Raise HostUnavailableError if it does not come within HOST_ANSWER_TIMEOUT_S.
        """

    def health(self) -> dict[str, Any]:
        """Return the host's drivecert.host-health/1."""
        return cast(dict[str, Any], self._request("health").document)

    def boot_ids(self) -> tuple[str, ...]:
        boot_id = self.health().get("boot_id")
        return (str(boot_id),) if boot_id else ()

    def identify(self, path: str) -> Identity:
        return parse_identity(path, self._request("identify", path=path).document)

    def list_drives(self) -> list[FoundDrive]:
        return parse_drives(self._request("drives").document)

    def find(self, drive_key: str, size_bytes: int) -> list[str]:
        return list(self._request("find", drive_key=drive_key, size_bytes=size_bytes).document)

    def first_bytes(self, path: str, limit: int) -> bytes:
        raise DeviceUnknownError(f"{path}: {NO_FILES}")

    def create_file(self, path: str, size_bytes: int) -> None:
        raise DeviceUnknownError(f"{path}: {NO_FILES}")

    def put(self, run: str, files: Mapping[str, bytes]) -> None:
        sent = [request("put", content, run=run, file=name, bytes=len(content)) for name, content in files.items()]
        for response in self._exchange(sent or [request("put", run=run, file=None, bytes=0)]):
            _result(response)

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        """Start it. The words are only compared: the host builds the command line itself and expects the same one."""
        wish: dict[str, Any] = {"run": run, "drive_key": drive_key, "generation": generation, "words": list(argv)}
        return parse_status(self._request("start", **wish, program_sha256=self.host.program_sha256).document)

    def status(self, run: str) -> ProgramStatus:
        """Return the status, and cache the growth of the log from the same exchange, so that `read` needs none."""
        ended_at = _log_ends.get((self.host.pk, run))
        start = max(0, (ended_at or 0) - LOG_OVERLAP_BYTES)
        requests = [request("status", run=run)]
        if ended_at is not None:
            requests.append(request("read", run=run, file=LOG, offset=start, limit=PIECE_BYTES))
        response, *pieces = self._exchange(requests)
        status = parse_status(_result(response).document)
        for piece in pieces:
            if piece.error is None:
                self._pieces[run] = (start, piece.content)
        if status.state is ProgramState.RUNNING:
            _log_ends[self.host.pk, run] = status.log_bytes
        else:
            _log_ends.pop((self.host.pk, run), None)
        return status

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        return parse_removal(self._request("remove", run=run, drive_key=drive_key, generation=generation).document)

    def stop(self, run: str) -> ProgramStatus:
        return parse_status(self._request("stop", run=run).document)

    def read(self, run: str, file: str, offset: int, limit: int) -> bytes:
        if file == LOG and (cached := self._cached_piece(run, offset, limit)) is not None:
            return cached
        return self._request("read", run=run, file=file, offset=offset, limit=min(limit, PIECE_BYTES)).content

    def fetch(self, run: str, file: str) -> BinaryIO:
        with ExitStack() as unless_complete:
            whole = unless_complete.enter_context(SpooledTemporaryFile(FETCHED_IN_MEMORY_BYTES, dir=str(scratch_dir())))
            while piece := self._request("read", run=run, file=file, offset=whole.tell(), limit=PIECE_BYTES).content:
                whole.write(piece)
                check_size(f"{self.host}: {run}/{file}", whole.tell())
            whole.seek(0)
            unless_complete.pop_all()  # the caller closes it
        return cast(BinaryIO, whole)

    def _cached_piece(self, run: str, offset: int, limit: int) -> bytes | None:
        """Return the requested bytes from the cached piece, or None if the piece does not cover them."""
        start, piece = self._pieces.get(run, (0, b""))
        end = start + len(piece)
        is_whole = len(piece) < PIECE_BYTES  # the host had no more
        if not piece or not start <= offset <= end or not (is_whole or offset + limit <= end):
            return None
        return piece[offset - start : offset - start + limit]

    def _request(self, verb: str, **fields: Any) -> Response:
        (response,) = self._exchange([request(verb, **fields)])
        return _result(response)

    def _exchange(self, requests: Sequence[bytes]) -> list[Response]:
        answers = parse_responses(self.host.name, self.exchange(b"".join(requests)), len(requests))
        for response in answers:
            self.timer.add_work(response.worked_ms)
        return answers


def _result(response: Response) -> Response:
    """Return a response, or raise the error in it."""
    if response.error is not None:
        raise response.error
    return response
