"""Persistent connections to lab hosts: one per host and process, opened on first use and reopened after a loss.

All asynchronous code runs on one thread of the process, so callers stay plain functions. The register has one key pair
for all hosts, in its data directory; runners/inventory/enrolment.py reads and replaces the keys of the hosts.
"""

from __future__ import annotations  # annotations must not import asyncssh

import asyncio
import os
import re
import threading
from concurrent.futures import TimeoutError as NoAnswerInTimeError
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.functional import SimpleLazyObject

from runners.errors import HostUnavailableError
from runners.hosts.machine import create_once
from runners.hosts.protocol import ResponseTimer
from runners.hosts.wire import ANSWER_BYTES_MAX

if TYPE_CHECKING:
    import asyncssh
else:
    # Its import takes 0.2 s of a processor, as it starts a compiler to find libraries; most processes do not use SSH.
    asyncssh = SimpleLazyObject(lambda: import_module("asyncssh"))

KIND = "ssh-ed25519"


def private_key() -> asyncssh.SSHKey:
    """Return the register's key. The first process that needs it creates it."""
    path = key_path()
    if not path.exists():
        key = asyncssh.generate_private_key(KIND, comment="drivecert register")
        create_once(path, key.export_private_key())
    return asyncssh.read_private_key(path)


def public_key() -> str:
    """Return the public key for a host: type, key and comment."""
    return private_key().export_public_key().decode().strip()


def key_path() -> Path:
    """Return the path of the private key. Only the register's account can read it."""
    return Path(settings.LAB_DIR) / "ssh_key"


def fingerprint(key: str) -> str:
    """Return the fingerprint of a public key. Raise ValueError for any other text."""
    try:
        return asyncssh.import_public_key(key).get_fingerprint()
    except asyncssh.KeyImportError as error:
        raise ValueError(f"expected a public key such as ssh-ed25519 AAAA..., got {key[:60]!r}") from error


# The only command that the key may run and that sudo allows. Requests go to its standard input.
COMMAND = "sudo -n /usr/local/sbin/drivetest host"
STDERR_BYTES_MAX = 64 * 1024
# A link that was cut is noticed after three of these, also without requests.
KEEPALIVE_S = 5
# The prefix that Python gives to a system error inside another text.
ERRNO = re.compile(r"\[Errno -?\d+\] ")


@dataclass(frozen=True)
class Address:
    """The address of a host, the account there, and the key that identifies the host."""

    name: str
    host: str
    port: int
    user: str
    host_key: str


class Connections:
    """The connections of one process. After a fork the child has none of its parent's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._process: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open: dict[Address, asyncssh.SSHClientConnection] = {}
        self._opening: dict[Address, asyncio.Lock] = {}

    def exchange(self, address: Address, payload: bytes, within_s: float, timer: ResponseTimer) -> bytes:
        """Return the host's answer, timed by `timer`. Raise HostUnavailableError if it does not come in time."""
        import_module("asyncssh")  # the first import takes time, which must not count as the host's
        timer.request_sent()
        future = asyncio.run_coroutine_threadsafe(self._timed(address, payload, within_s, timer), self._running_loop())
        try:
            return future.result(within_s + 1)  # one more second for the loop, which enforces the limit
        except NoAnswerInTimeError as error:
            future.cancel()
            raise HostUnavailableError(f"{address.name}: no answer within {within_s} s") from error

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

    async def _timed(self, address: Address, payload: bytes, within_s: float, timer: ResponseTimer) -> bytes:
        try:
            async with asyncio.timeout(within_s):
                return await self._exchange_with_retry(address, payload, timer)
        except TimeoutError as error:
            self._drop(address)
            raise HostUnavailableError(f"{address.name}: no answer within {within_s} s") from error

    async def _exchange_with_retry(self, address: Address, payload: bytes, timer: ResponseTimer) -> bytes:
        """Send over the open connection. If that turns out to be lost, send again over a new one, but only once."""
        may_retry = address in self._open
        while True:
            try:
                return await self._run_command(address, payload, timer)
            except (asyncssh.Error, OSError) as error:
                self._drop(address)
                if not may_retry:
                    raise _silent_error(address, error) from error
            may_retry = False  # another request may open a connection meanwhile, which may be lost too

    async def _run_command(self, address: Address, payload: bytes, timer: ResponseTimer) -> bytes:
        connection = await self._connection_to(address, timer)
        process: Any = await connection.create_process(COMMAND, encoding=None)
        try:
            process.stdin.write(payload)
            process.stdin.write_eof()
            # Read while the request is being sent: the answers may be longer than the buffers on the way.
            stdout = _read_all(process.stdout, ANSWER_BYTES_MAX, timer)
            answer, stderr = await asyncio.gather(stdout, _read_all(process.stderr, STDERR_BYTES_MAX, timer))
            await process.wait_closed()
        finally:
            process.close()
        if process.exit_status != 0:
            text = f"{stderr.decode('utf-8', 'replace').strip()[-2000:] or 'no message'}; check the host's setup"
            raise HostUnavailableError(
                f"{address.name}: {COMMAND} ended with exit status {process.exit_status}: {text}"
            )
        return answer

    async def _connection_to(self, address: Address, timer: ResponseTimer) -> asyncssh.SSHClientConnection:
        async with self._opening.setdefault(address, asyncio.Lock()):
            connection = self._open.get(address)
            if connection is None or connection.is_closed():
                connection = self._open[address] = await _connect(address, timer)
                timer.signed_in()
            return connection

    def _drop(self, address: Address) -> None:
        if connection := self._open.pop(address, None):
            connection.abort()

    async def _close(self) -> None:
        for connection in self._open.values():
            connection.abort()
            await connection.wait_closed()
        self._open.clear()


def _handshake_observer(timer: ResponseTimer) -> asyncssh.SSHClient:
    """Return a client that reports to the timer that a connection was accepted, before the login."""

    class HandshakeObserver(asyncssh.SSHClient):
        def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
            timer.connection_accepted()

    return HandshakeObserver()


async def _connect(address: Address, timer: ResponseTimer) -> asyncssh.SSHClientConnection:
    """Sign in with the register's key, on a host with the pinned key, and ignore this machine's SSH configuration."""
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
        client_factory=lambda: _handshake_observer(timer),
    )


async def _read_all(stream: Any, most_bytes: int, timer: ResponseTimer) -> bytes:
    """Return everything that a stream sends. Raise HostUnavailableError if that is more than any answer."""
    pieces: list[bytes] = []
    length = 0
    while piece := await stream.read(1 << 16):
        timer.bytes_received()
        pieces.append(piece)
        length += len(piece)
        if length > most_bytes:
            raise HostUnavailableError(f"expected at most {most_bytes} bytes of answer, got more")
    return b"".join(pieces)


def _silent_error(address: Address, error: Exception) -> HostUnavailableError:
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return HostUnavailableError(
            f"{address.name}: {address.host} shows another host key than the one pinned at enrolment; "
            "nothing was sent; find out why. If it is the right machine, pin the new key with "
            "manage.py add_host --replace"
        )
    return HostUnavailableError(f"{address.name}: {address.host} port {address.port}: {_connection_message(error)}")


def _connection_message(error: Exception) -> str:
    """Return for people what went wrong, and what to check."""
    if isinstance(error, asyncssh.ConnectionLost):
        return f"no session: {error}; check that the host is up and its link works"
    if not isinstance(error, OSError):
        return f"no session: {error}; check the host's setup"
    # asyncio puts the address in place of the system's message. A name that cannot be resolved has a number below 0.
    number = error.errno or 0
    cause = os.strerror(number) if number > 0 else error.strerror or ERRNO.sub("", str(error))
    return f"no connection: {cause}; check that the host is up, that its address is right, and that sshd answers there"


CONNECTIONS = Connections()
