"""Records of a file of JSON lines that may have been cut anywhere."""

import json
from typing import Any


def last_record(chunk: bytes, kind: str) -> dict[str, Any] | None:
    """Return the last whole record of a kind in the end of a file of JSON lines; what is no record is passed over."""
    for line in reversed(chunk.split(b"\n")[:-1]):
        record = parse_record(line)
        if record and record.get("record") == kind:
            return record
    return None


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Return a line as a record; None where it is none, as the first of a piece of a file mostly is."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
