"""What is said to `drivetest host` and what it answers, as bytes: several requests make one trip (docs/lab.md)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runners.errors import (
    DeviceUnknownError,
    FileMissingError,
    HostError,
    HostSilentError,
    StartFailedError,
    StartRefusedError,
)

# What the kinds of crates/labhost/src/error.rs mean here.
ERRORS: dict[str, type[HostError]] = {
    "refused": StartRefusedError,
    "device-unknown": DeviceUnknownError,
    "file-missing": FileMissingError,
    "usage": StartFailedError,
    "unanswered": HostSilentError,
}


@dataclass(frozen=True)
class Request:
    """One request: the fields of its line, and the bytes of the file that it sends."""

    fields: dict[str, Any]
    content: bytes = b""


@dataclass(frozen=True)
class Told:
    """One answer: a document, and the bytes that came with it. `error` is raised by whoever needs the answer.

    `worked_ms` is how long the host worked at it; None where its program is too old to tell.
    """

    document: Any = None
    content: bytes = b""
    error: HostError | None = None
    worked_ms: int | None = None


def request(verb: str, content: bytes = b"", **fields: Any) -> Request:
    """Return a request of `drivetest host`."""
    return Request({"verb": verb} | fields, content)


def said(requests: Sequence[Request]) -> bytes:
    """Return requests as they go over the wire."""
    return b"".join(json.dumps(each.fields).encode() + b"\n" + each.content for each in requests)


def parse_answers(name: str, answer: bytes, count: int) -> list[Told]:
    """Return the answers to `count` requests. Raises HostSilentError where there are fewer: all may be asked again."""
    told: list[Told] = []
    while len(told) < count:
        line, newline, rest = answer.partition(b"\n")
        if not newline:
            raise HostSilentError(f"{name}: expected {count} answers, got {len(told)} and {line[:200]!r}")
        one, answer = _parse_one(name, line, rest)
        told.append(one)
    return told


def _parse_one(name: str, line: bytes, rest: bytes) -> tuple[Told, bytes]:
    """Return an answer and what follows it."""
    try:
        header = json.loads(line)
        bytes_count = int(header["bytes"])
        worked_ms = int(header["worked_ms"]) if "worked_ms" in header else None
        error = _error(header["error"]) if "error" in header else None
    except (ValueError, TypeError, KeyError) as reason:
        raise HostSilentError(f"{name}: expected an answer of drivetest host, got {line[:200]!r}") from reason
    if not 0 <= bytes_count <= len(rest):
        raise HostSilentError(f"{name}: expected {bytes_count} bytes of a file, got {len(rest)}")
    return Told(header.get("ok"), rest[:bytes_count], error, worked_ms), rest[bytes_count:]


def _error(told: dict[str, str]) -> HostError:
    """Return the host's error as ours; a kind that a newer program has says nothing that could be relied on."""
    return ERRORS.get(told["kind"], HostSilentError)(told["sentence"])
