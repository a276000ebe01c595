"""Agents of simulated lab hosts: each polls the register for exchanges, as `drivetest agent` does, and answers them.

A host answers like `drivetest host`, from memory. It has one drive (tests/lab_simulator).
"""

import asyncio
import io
import json
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession

from runners.errors import HostError
from runners.hosts.protocol import ProgramStatus
from runners.hosts.wire import ERRORS
from tests.lab_simulator.clock import RunningClock
from tests.lab_simulator.drive import Drive
from tests.lab_simulator.host import SimulatedHost
from tests.lab_simulator.lab import PATH

WAIT_S = 50
AT_ONCE = 4  # exchanges of one host
PAUSE_S = 0.1  # of the agent, after a list without a new exchange
RETRY_PAUSE_S = 1.0
FREE_BYTES = 2**40
KINDS = {error: kind for kind, error in ERRORS.items()}


def drive_of(number: int) -> Any:
    """Return the drive of a host. It is at PATH."""
    return Drive(f"S{number:05}")


def identity_of(number: int) -> dict[str, Any]:
    """Return the drivecert.identity/1 of the drive of a host."""
    document: dict[str, Any] = drive_of(number).identity(PATH, 0)
    return document


@dataclass
class Events:
    """The times at which hosts started and stopped programs, by run, and the requests that failed."""

    started: dict[str, float] = field(default_factory=dict)
    stopped: dict[str, float] = field(default_factory=dict)
    exchanges: int = 0
    requests: int = 0
    failures: list[str] = field(default_factory=list)


class ProtocolHost:
    """A simulated host behind the protocol of `drivetest host`."""

    def __init__(self, number: int, program_sha256: str, events: Events) -> None:
        self.drive, self.program_sha256, self.events = drive_of(number), program_sha256, events
        clock: Any = RunningClock()  # type: ignore[no-untyped-call]
        self.host: Any = SimulatedHost(f"agent-{number}", clock, {PATH: self.drive})

    def answer(self, payload: bytes) -> bytes:
        """Return the answer to a batch of requests."""
        return b"".join(self._responses(io.BytesIO(payload)))

    def _responses(self, requests: io.BytesIO) -> Iterator[bytes]:
        while line := requests.readline():
            wish = json.loads(line)
            verb, content = wish.pop("verb"), requests.read(wish.get("bytes", 0))
            self.events.requests += 1
            try:
                document, sent = getattr(self, f"_{verb}")(content=content, **wish)
                head = {"ok": document, "bytes": len(sent)}
            except HostError as error:
                head, sent = {"error": {"kind": KINDS[type(error)], "sentence": str(error)}, "bytes": 0}, b""
            yield json.dumps(head | {"worked_ms": 0}).encode() + b"\n" + sent

    def _health(self, content: bytes) -> tuple[Any, bytes]:
        report = {"schema": "drivecert.host-health/1", "program_version": "0.0.0", "hostname": self.host.name}
        report |= {"program_sha256": self.program_sha256, "boot_id": self.host.boot_ids()[0], "kernel": "6.18"}
        report |= {"init": "systemd", "clock_unix_ns": time.time_ns(), "state_dir": "/var/lib/drivecert"}
        return report | {"free_bytes": FREE_BYTES, "size_bytes": FREE_BYTES, "drives": [self.drive.key]}, b""

    def _drives(self, content: bytes) -> tuple[Any, bytes]:
        found = self.drive.identity(PATH, self.host.now_s())
        names = ("path", "kind", "drive_key", "model", "serial", "size_bytes")
        return {"schema": "drivecert.drives/1", "drives": [{name: found[name] for name in names}]}, b""

    def _identify(self, path: str, content: bytes) -> tuple[Any, bytes]:
        return dict(self.host.identify(path).document), b""

    def _find(self, drive_key: str, size_bytes: int, content: bytes) -> tuple[Any, bytes]:
        return self.host.find(drive_key, size_bytes), b""

    def _put(self, run: str, file: str | None, content: bytes, **_: Any) -> tuple[Any, bytes]:
        self.host.put(run, {file: content} if file else {})
        return None, b""

    def _start(self, run: str, drive_key: str, generation: int, words: list[str], **_: Any) -> tuple[Any, bytes]:
        status = self.host.start(run, drive_key, generation, words)
        self.events.started.setdefault(run, time.time())
        return _document(status), b""

    def _status(self, run: str, content: bytes) -> tuple[Any, bytes]:
        return _document(self.host.status(run)), b""

    def _stop(self, run: str, content: bytes) -> tuple[Any, bytes]:
        status = self.host.stop(run)
        self.events.stopped.setdefault(run, time.time())
        return _document(status), b""

    def _remove(self, run: str, drive_key: str, generation: int, content: bytes) -> tuple[Any, bytes]:
        reason = self.host.remove(run, drive_key, generation)
        return {"removed": not reason, "reason": reason or None}, b""

    def _read(self, run: str, file: str, offset: int, limit: int, content: bytes) -> tuple[Any, bytes]:
        return None, self.host.read(run, file, offset, limit)


def _document(status: ProgramStatus) -> dict[str, Any]:
    """Return a status as drivecert.detached/1."""
    names = ("pid", "generation", "exit_status", "log_bytes", "side_file_bytes", "reason")
    shown = {
        "schema": "drivecert.detached/1",
        "state": status.state.value,
        "boot_id": next(iter(status.boot_ids), None),
    }
    return shown | {name: getattr(status, name) for name in names}


class SimulatedAgent:
    """An agent of a simulated host. Its secret is known to the register."""

    def __init__(self, host: ProtocolHost, secret: str, register_url: str, live_url: str) -> None:
        self.host, self.events = host, host.events
        self.headers = {"Authorization": f"Bearer {secret}"}
        self.exchanges_url = f"{register_url}/api/v1/agents/exchanges/"
        self.wait_url = f"{live_url}/api/v1/live/agents/exchanges/?wait={WAIT_S}"
        self.known = ""
        self.seen: set[str] = set()
        self.at_once = asyncio.Semaphore(AT_ONCE)

    async def run(self, session: ClientSession) -> None:
        """Wait for exchanges and answer them, until this task is cancelled."""
        async with asyncio.TaskGroup() as answers:
            while True:
                new = await self._poll(session)
                for exchange in new:
                    answers.create_task(self._answer(session, exchange["id"], b64decode(exchange["requests"])))

    async def _poll(self, session: ClientSession) -> list[dict[str, str]]:
        """Return the exchanges that are new, after the pause that the agent makes then."""
        headers = self.headers | ({"If-None-Match": self.known} if self.known else {})
        try:
            async with session.get(self.wait_url, headers=headers) as response:
                if response.status == 304:
                    return []
                listed = (await response.json())["exchanges"] if response.status == 200 else None
                known, problem = response.headers.get("ETag", ""), f"poll: {response.status}"
        except (ClientError, TimeoutError) as error:
            listed, known, problem = None, "", f"poll: {error!r}"
        if listed is None:
            self.events.failures.append(problem)
            await asyncio.sleep(RETRY_PAUSE_S)
            return []
        self.known = known
        new = [each for each in listed if each["id"] not in self.seen]
        self.seen.update(each["id"] for each in new)
        if not new:
            await asyncio.sleep(PAUSE_S)
        return new

    async def _answer(self, session: ClientSession, exchange: str, payload: bytes) -> None:
        headers = self.headers | {"Content-Type": "application/octet-stream"}
        async with self.at_once:
            content, problem = self.host.answer(payload), ""
            try:
                async with session.put(f"{self.exchanges_url}{exchange}/", data=content, headers=headers) as response:
                    if response.status != 204:
                        problem = f"answer: {response.status}"
            except (ClientError, TimeoutError) as error:
                problem = f"answer: {error!r}"
        self.events.exchanges += 1
        if problem:
            self.events.failures.append(problem)


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task
