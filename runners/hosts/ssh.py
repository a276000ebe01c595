"""A lab host over SSH: every question goes to `drivetest host`, the one command that its sudo rule lets through."""

from collections.abc import Mapping, Sequence
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from django.conf import settings

from runners.errors import DeviceUnknownError
from runners.hosts.local import parse_drives, parse_identity, parse_removal, parse_status
from runners.hosts.machine import check_size, scratch_dir
from runners.hosts.protocol import Detached, FoundDrive, Identity, ProgramStatus
from runners.hosts.response_timer import Ear
from runners.hosts.ssh_connection import CONNECTIONS, Address, Connections
from runners.hosts.wire import Request, Told, parse_answers, request, said
from runners.models import Host

LOG = "log"
# drivetest host gives at most this much of a file at once.
PIECE_BYTES = 4 * 1024 * 1024
# A log is asked for together with its run's status, from so far before where it ended last: the last whole block may
# have begun there, and the page shows the last lines.
BEFORE_BYTES = 32 * 1024
FETCHED_IN_MEMORY_BYTES = 8 * 1024 * 1024
NO_FILES = "plain files are no drives on a host over SSH; name a block device"

# Where the log of a run ended when this process last saw it, by host and run.
_log_ends: dict[tuple[int, str], int] = {}


class SshHost:
    """One host, for one look: what came with the status of a run is kept as long as the look lasts.

    `ear` has heard how the host answered what it was asked since somebody began to listen
    (runners/monitoring/connectivity.py).
    """

    def __init__(self, host: Host, connections: Connections = CONNECTIONS) -> None:
        self.host = host
        self.address = Address(host.name, host.address, host.port, host.user, host.host_key)
        self.connections = connections
        self.ear = Ear()
        self._pieces: dict[str, tuple[int, bytes]] = {}

    def health(self) -> dict[str, Any]:
        """Return drivecert.host-health/1 as the host tells it."""
        return cast(dict[str, Any], self._ask(request("health")).document)

    def boot_ids(self) -> tuple[str, ...]:
        boot_id = self.health().get("boot_id")
        return (str(boot_id),) if boot_id else ()

    def identify(self, path: str) -> Identity:
        return parse_identity(path, self._ask(request("identify", path=path)).document)

    def list_drives(self) -> list[FoundDrive]:
        return parse_drives(self._ask(request("drives")).document)

    def find(self, drive_key: str, size_bytes: int) -> list[str]:
        return list(self._ask(request("find", drive_key=drive_key, size_bytes=size_bytes)).document)

    def first_bytes(self, path: str, limit: int) -> bytes:
        raise DeviceUnknownError(f"{path}: {NO_FILES}")

    def create_file(self, path: str, size_bytes: int) -> None:
        raise DeviceUnknownError(f"{path}: {NO_FILES}")

    def put(self, run: str, files: Mapping[str, bytes]) -> None:
        sent = [request("put", content, run=run, file=name, bytes=len(content)) for name, content in files.items()]
        for told in self._trip(sent or [request("put", run=run, file=None, bytes=0)]):
            _checked(told)

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        """Start it. The words are only compared: the host builds the command line itself and expects the same one."""
        wish: dict[str, Any] = {"run": run, "drive_key": drive_key, "generation": generation, "words": list(argv)}
        told = self._ask(request("start", **wish, program_sha256=self.host.program_sha256))
        return parse_status(told.document)

    def status(self, run: str) -> ProgramStatus:
        """Tell how the run stands, and keep what its log has gained: that saves `read` the trip."""
        ended_at = _log_ends.get((self.host.pk, run))
        start = max(0, (ended_at or 0) - BEFORE_BYTES)
        wanted = [request("read", run=run, file=LOG, offset=start, limit=PIECE_BYTES)] if ended_at is not None else []
        told, *pieces = self._trip([request("status", run=run), *wanted])
        status = parse_status(_checked(told).document)
        for piece in pieces:
            if piece.error is None:
                self._pieces[run] = (start, piece.content)
        self._remember(run, status)
        return status

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        return parse_removal(self._ask(request("remove", run=run, drive_key=drive_key, generation=generation)).document)

    def stop(self, run: str) -> ProgramStatus:
        return parse_status(self._ask(request("stop", run=run)).document)

    def read(self, run: str, file: str, offset: int, limit: int) -> bytes:
        if file == LOG and (kept := self._kept(run, offset, limit)) is not None:
            return kept
        read = request("read", run=run, file=file, offset=offset, limit=min(limit, PIECE_BYTES))
        return self._ask(read).content

    def fetch(self, run: str, file: str) -> BinaryIO:
        whole = SpooledTemporaryFile(FETCHED_IN_MEMORY_BYTES, dir=str(scratch_dir()))  # noqa: SIM115 - the caller closes it
        try:
            while piece := self.read_piece(run, file, whole.tell()):
                whole.write(piece)
                check_size(f"{self.host}: {run}/{file}", whole.tell())
        except BaseException:
            whole.close()
            raise
        whole.seek(0)
        return cast(BinaryIO, whole)

    def read_piece(self, run: str, file: str, offset: int) -> bytes:
        """Return what one trip brings of a file from an offset on; empty at its end."""
        return self._ask(request("read", run=run, file=file, offset=offset, limit=PIECE_BYTES)).content

    def _kept(self, run: str, offset: int, limit: int) -> bytes | None:
        """Return what came with the status, None where it does not hold everything that was there then."""
        start, piece = self._pieces.get(run, (0, b""))
        end = start + len(piece)
        is_whole = len(piece) < PIECE_BYTES  # the host had no more
        if not piece or not start <= offset <= end or not (is_whole or offset + limit <= end):
            return None
        return piece[offset - start : offset - start + limit]

    def _remember(self, run: str, status: ProgramStatus) -> None:
        if status.state is Detached.RUNNING:
            _log_ends[self.host.pk, run] = status.log_bytes
        else:
            _log_ends.pop((self.host.pk, run), None)

    def _ask(self, asked: Request) -> Told:
        (told,) = self._trip([asked])
        return _checked(told)

    def _trip(self, requests: Sequence[Request]) -> list[Told]:
        answer = self.connections.exchange(self.address, said(requests), settings.HOST_ANSWER_TIMEOUT_S, self.ear)
        answers = parse_answers(self.host.name, answer, len(requests))
        for told in answers:
            self.ear.has_worked(told.worked_ms)
        return answers


def _checked(told: Told) -> Told:
    """Return an answer, or raise what it says instead."""
    if told.error is not None:
        raise told.error
    return told
