"""The wire format of `drivetest host`: requests and responses as bytes, several per exchange.

Source: docs/reference/lab.md.
"""

import json
from dataclasses import dataclass
from typing import Any

from runners.errors import (
    DeviceUnknownError,
    FileMissingError,
    HostError,
    HostFaultError,
    HostUnavailableError,
    StartFailedError,
    StartRefusedError,
)

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
