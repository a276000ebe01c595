"""Requests to addresses that users enter, such as those of webhooks.

A name is resolved once, and the connection goes to the address that was checked: a name that has another address a
moment later (DNS rebinding) gains nothing. Redirects are not followed.
"""

import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.db.models import TextChoices

from webapp.outbound.addresses import is_allowed

PORTS = {"http": 80, "https": 443}
Resolved = tuple[socket.AddressFamily, tuple[Any, ...]]  # a family, and an address of it as a socket takes it


class Failure(TextChoices):
    """Why a request got no response."""

    INVALID_URL = "invalid-url", "the address is invalid"
    NOT_HTTPS = "not-https", "the address does not begin with https://"
    UNKNOWN_NAME = "unknown-name", "the name of the host is not known"
    FORBIDDEN_ADDRESS = "forbidden-address", "the host has an address in a network that is not public"
    UNREACHABLE = "unreachable", "the host refused the connection, or could not be reached"
    TLS = "tls", "the certificate of the host is not valid for its name, or the host does not use TLS"
    TIMEOUT = "timeout", "the host did not respond in time"
    NO_HTTP = "no-http", "the response was not HTTP, or the connection broke"


class OutboundError(Exception):
    """A request without a response; `failure` states why."""

    def __init__(self, failure: Failure, detail: str = "") -> None:
        self.failure = failure
        super().__init__(f"{failure.label}{f': {detail}' if detail else ''}")


@dataclass(frozen=True)
class Limits:
    """The limits of a request: seconds for each connection and in total, and bytes of the response.

    The total includes the search for the name and all attempts to connect.
    """

    connect_s: float = 5
    total_s: float = 10
    bytes_max: int = 64 * 1024


@dataclass(frozen=True)
class Response:
    """A response. `body` ends at the limit; then `is_cut` is true."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    is_cut: bool
    duration_s: float


def send(
    method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None, limits: Limits | None = None
) -> Response:
    """Send a request and return the response, whatever its status is. Raises OutboundError without a response."""
    parts, stated = _parts_of(url), limits or Limits()
    began = time.monotonic()
    end = began + stated.total_s
    connection = HTTPConnection(_host_of(parts), _port_of(parts))
    connection.default_port = PORTS[parts.scheme]  # the header Host then has no port that the scheme implies
    with _connected(parts, stated, end) as sock, _Deadline(sock, end) as deadline:
        connection.sock = sock
        try:
            connection.request(method, _target_of(parts), body or None, {"Connection": "close", **(headers or {})})
            with connection.getresponse() as response:  # it holds the socket open until its end is read
                content = response.read(stated.bytes_max + 1)
        except (OSError, HTTPException, ValueError) as error:
            if deadline.has_passed:
                raise OutboundError(Failure.TIMEOUT) from error
            raise OutboundError(Failure.NO_HTTP, type(error).__name__) from error
        if deadline.has_passed:  # the end of the connection ended a body without a length
            raise OutboundError(Failure.TIMEOUT)
    found = {name.lower(): value for name, value in response.getheaders()}
    is_cut = len(content) > stated.bytes_max
    return Response(response.status, found, content[: stated.bytes_max], is_cut, time.monotonic() - began)


def refuse_url(url: str) -> None:
    """Raise OutboundError for an address that no request can be sent to, without resolving its name."""
    _parts_of(url)


def _parts_of(url: str) -> SplitResult:
    """Return the parts of an address. Raises OutboundError."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise OutboundError(Failure.INVALID_URL, str(error)) from error
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in PORTS or not parts.hostname or parts.username is not None or port == 0 or not is_plain:
        raise OutboundError(Failure.INVALID_URL, "expected https://HOST/PATH without a user name")
    if settings.PRODUCTION and parts.scheme != "https":
        raise OutboundError(Failure.NOT_HTTPS)
    return parts


def _host_of(parts: SplitResult) -> str:
    return parts.hostname or ""


def _port_of(parts: SplitResult) -> int:
    return parts.port or PORTS[parts.scheme]


def _target_of(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _resolve(host: str, port: int, end: float) -> list[Resolved]:
    """Return the addresses of a host. Raises OutboundError if there is none, or if one of them is not allowed."""
    found: SimpleQueue[list[Resolved] | Exception] = SimpleQueue()

    def search() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.put([(family, address) for family, *_, address in rows])
        except (OSError, UnicodeError) as error:
            found.put(error)

    # The resolver of the system takes no limit. A thread that the limit leaves behind ends with the resolver's own one.
    threading.Thread(target=search, daemon=True).start()
    try:
        addresses = found.get(timeout=max(end - time.monotonic(), 0))
    except Empty as error:
        raise OutboundError(Failure.TIMEOUT) from error
    if isinstance(addresses, Exception):
        raise OutboundError(Failure.UNKNOWN_NAME, host) from addresses
    if not all(is_allowed(str(address[0])) for _, address in addresses):
        raise OutboundError(Failure.FORBIDDEN_ADDRESS, host)  # not which: the sender may not know the network
    return addresses


def _connected(parts: SplitResult, limits: Limits, end: float) -> socket.socket:
    """Return a connection to the first address of the host that accepts one. Raises OutboundError."""
    host, port = _host_of(parts), _port_of(parts)
    error: OSError = TimeoutError()
    for family, address in _resolve(host, port, end):
        remaining = end - time.monotonic()
        if remaining <= 0:
            raise OutboundError(Failure.TIMEOUT) from error
        try:
            return _open(parts.scheme, host, (family, address), min(limits.connect_s, remaining))
        except ssl.SSLError as failed:
            raise OutboundError(Failure.TLS, failed.reason or "") from failed
        except OSError as failed:
            error = failed
    raise OutboundError(Failure.TIMEOUT if isinstance(error, TimeoutError) else Failure.UNREACHABLE) from error


def _open(scheme: str, host: str, resolved: Resolved, limit_s: float) -> socket.socket:
    """Return a connection to an address, which is not resolved again; with TLS, it is checked for the name."""
    family, address = resolved
    with ExitStack() as unless_open:
        sock = unless_open.enter_context(socket.socket(family, socket.SOCK_STREAM))
        sock.settimeout(limit_s)
        sock.connect(address)
        if scheme == "https":
            sock = _tls_context(settings.OUTBOUND_CA_FILE).wrap_socket(sock, server_hostname=host)
        unless_open.pop_all()
    return sock


@cache
def _tls_context(ca_file: str) -> ssl.SSLContext:
    """Return a context that trusts the authorities of the system, and those of a file."""
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


class _Deadline:
    """Ends a connection at a time, however slowly its bytes arrive."""

    def __init__(self, sock: socket.socket, at: float) -> None:
        self.sock, self.has_passed = sock, False
        self.timer = threading.Timer(max(at - time.monotonic(), 0), self._end)
        self.timer.daemon = True

    def __enter__(self) -> "_Deadline":
        self.sock.settimeout(None)
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()

    def _end(self) -> None:
        self.has_passed = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.sock.close()
