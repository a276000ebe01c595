"""Records of a file of JSON lines that may have been cut anywhere."""

import json
from typing import Any

from runners.hosts.protocol import LabHost
from runners.models.postgres import storable


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


SIDE_FILE = "side.jsonl"
# A line takes some 3 KB for one device; of a line that does not fit nothing is shown.
TAIL_BYTES = 16 * 1024


def fetch_telemetry(host: LabHost, run: str, side_file_bytes: int) -> dict[str, Any]:
    """Return what the page shows of the side file as it stands; empty before its first interval."""
    if not side_file_bytes:
        return {}
    chunk = host.read(run, SIDE_FILE, max(0, side_file_bytes - TAIL_BYTES), TAIL_BYTES)
    interval = last_record(chunk, "interval")
    return {"telemetry": told_of(interval)} if interval else {}


def told_of(interval: dict[str, Any]) -> dict[str, Any]:
    """Return achieved rate, lag and the temperatures of an interval; what the machine does not tell is left out."""
    told = {name: interval[name] for name in ("achieved_reads_per_s", "lag_max_ns") if interval.get(name) is not None}
    telemetry = interval.get("telemetry") or {}
    warmth = [_warmth(disk) for disk in telemetry.get("disks") or [] if disk.get("temperature")]
    return told | {"temperatures": [each for each in warmth if each["celsius"] is not None]}


def _warmth(disk: dict[str, Any]) -> dict[str, Any]:
    warmth = disk["temperature"]
    words = {"disk": storable(str(disk.get("disk", ""))), "sensor": storable(str(warmth.get("sensor") or ""))}
    return words | {"celsius": warmth.get("celsius"), "limit_celsius": warmth.get("limit_celsius")}
