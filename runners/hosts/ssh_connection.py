"""Warm connections to lab hosts: one per host and process, opened when first needed and again when it was lost.

Everything asynchronous runs on one thread of the process, so that callers stay plain functions.
"""

import asyncio
import os
import re
import threading
from concurrent.futures import TimeoutError as NoAnswerInTimeError
from dataclasses import dataclass
from typing import Any

import asyncssh

from runners.errors import HostSilentError
from runners.hosts.keys import private_key
from runners.hosts.response_timer import Ear

# The one command that the key may run and that sudo lets through; requests go through its standard input.
COMMAND = "sudo -n /usr/local/sbin/drivetest host"
# More than the longest batch: a log's piece is at most 4 MiB.
ANSWER_BYTES_MAX = 16 * 1024 * 1024
COMPLAINT_BYTES_MAX = 64 * 1024
# A link that was cut is noticed after three of these, also when nobody asks.
KEEPALIVE_S = 5
# How Python begins an error of the system in the text of another.
ERRNO = re.compile(r"\[Errno -?\d+\] ")


@dataclass(frozen=True)
class Address:
    """Where a host is, who to be there, and the key by which it is known."""

    name: str
    host: str
    port: int
    user: str
    host_key: str


class Connections:
    """The connections of one process; after a fork the child has none of its parent's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._process: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open: dict[Address, asyncssh.SSHClientConnection] = {}
        self._opening: dict[Address, asyncio.Lock] = {}

    def exchange(self, address: Address, said: bytes, within_s: float, ear: Ear) -> bytes:
        """Return what the host answers, as `ear` hears it. Raises HostSilentError where it does not within the time."""
        ear.asked()
        future = asyncio.run_coroutine_threadsafe(self._timed(address, said, within_s, ear), self._running_loop())
        try:
            return future.result(within_s + 1)  # a second for the loop itself: the limit is kept there
        except NoAnswerInTimeError as error:
            future.cancel()
            raise HostSilentError(f"{address.name}: no answer within {within_s} s") from error

    def close(self) -> None:
        """Close all connections of this process."""
        if self._loop is not None and self._process == os.getpid():
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(KEEPALIVE_S)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._forget()
                self._process, self._loop = os.getpid(), asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="lab-hosts", daemon=True).start()
            return self._loop

    async def _timed(self, address: Address, said: bytes, within_s: float, ear: Ear) -> bytes:
        try:
            async with asyncio.timeout(within_s):
                return await self._exchanged(address, said, ear)
        except TimeoutError as error:
            self._drop(address)
            raise HostSilentError(f"{address.name}: no answer within {within_s} s") from error

    async def _exchanged(self, address: Address, said: bytes, ear: Ear) -> bytes:
        """Ask over the warm connection; when that turns out to be lost, once more over a new one."""
        is_warm = address in self._open
        try:
            return await self._asked(address, said, ear)
        except (asyncssh.Error, OSError) as error:
            self._drop(address)
            if not is_warm:
                raise _silent(address, error) from error
        try:
            return await self._asked(address, said, ear)
        except (asyncssh.Error, OSError) as error:
            self._drop(address)
            raise _silent(address, error) from error

    async def _asked(self, address: Address, said: bytes, ear: Ear) -> bytes:
        connection = await self._connected(address, ear)
        process: Any = await connection.create_process(COMMAND, encoding=None)
        try:
            answer, complaint = await _talk(process, said, ear)
            await process.wait_closed()
        finally:
            process.close()
        if process.exit_status != 0:
            raise HostSilentError(f"{address.name}: {_refusal(process.exit_status, complaint)}")
        return answer

    async def _connected(self, address: Address, ear: Ear) -> asyncssh.SSHClientConnection:
        async with self._opening.setdefault(address, asyncio.Lock()):
            connection = self._open.get(address)
            if connection is None or connection.is_closed():
                connection = self._open[address] = await _connect(address, ear)
                ear.signed_in()
            return connection

    def _drop(self, address: Address) -> None:
        if connection := self._open.pop(address, None):
            connection.abort()

    async def _close(self) -> None:
        for connection in self._open.values():
            connection.abort()
            await connection.wait_closed()
        self._open.clear()


class Door(asyncssh.SSHClient):
    """Hears that a connection is taken, before anybody is let in."""

    def __init__(self, ear: Ear) -> None:
        self._ear = ear

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        self._ear.reached()


async def _connect(address: Address, ear: Ear) -> asyncssh.SSHClientConnection:
    """Sign in with the register's key, on a host that has the pinned key, and with nothing else of this machine's."""
    return await asyncssh.connect(
        address.host,
        address.port,
        username=address.user,
        client_keys=[private_key()],
        known_hosts=([asyncssh.import_public_key(address.host_key)], [], []),
        config=None,
        agent_path=None,
        preferred_auth="publickey",
        keepalive_interval=KEEPALIVE_S,
        compression_algs=None,
        client_factory=lambda: Door(ear),
    )


async def _talk(process: Any, said: bytes, ear: Ear) -> tuple[bytes, bytes]:
    """Say everything, and take what comes meanwhile: the answers may be longer than what fits on the way."""
    process.stdin.write(said)
    process.stdin.write_eof()
    return await asyncio.gather(
        _taken(process.stdout, ANSWER_BYTES_MAX, ear),
        _taken(process.stderr, COMPLAINT_BYTES_MAX, ear),
    )


async def _taken(stream: Any, most_bytes: int, ear: Ear) -> bytes:
    """Return what a stream gives to its end. Raises HostSilentError when that is more than any answer."""
    pieces: list[bytes] = []
    length = 0
    while piece := await stream.read(1 << 16):
        ear.heard()
        pieces.append(piece)
        length += len(piece)
        if length > most_bytes:
            raise HostSilentError(f"expected at most {most_bytes} bytes of answer, got more")
    return b"".join(pieces)


def _silent(address: Address, error: Exception) -> HostSilentError:
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return HostSilentError(
            f"{address.name}: {address.host} shows another host key than the one pinned at enrolment; "
            "nothing was sent; find out why, and where it is the right machine, "
            "pin it anew with manage.py add_host --replace"
        )
    return HostSilentError(f"{address.name}: {address.host} port {address.port}: {_words(error)}")


def _words(error: Exception) -> str:
    """Return what went wrong as a person reads it, with what to look at."""
    if isinstance(error, asyncssh.ConnectionLost):
        return f"no session: {error}; see that the host is up and that its link holds"
    if not isinstance(error, OSError):
        return f"no session: {error}; see the host's set-up"
    # asyncio puts the address it tried in place of the system's words; a name that leads nowhere has a number below 0.
    number = error.errno or 0
    said = os.strerror(number) if number > 0 else error.strerror or ERRNO.sub("", str(error))
    return f"no connection: {said}; see that the host is up, that its address is right, and that sshd answers there"


def _refusal(exit_status: int | None, complaint: bytes) -> str:
    text = complaint.decode("utf-8", "replace").strip()[-2000:]
    return f"{COMMAND} ended with exit status {exit_status}: {text or 'it said nothing'}; see the host's set-up"


CONNECTIONS = Connections()
