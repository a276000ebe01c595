"""Telemetry of the live page: rates, lag and temperatures of the last interval (docs/reference/formats.md)."""

import json
from typing import Any

from runners.hosts.protocol import LabHost
from runners.models.postgres import storable


def last_record(chunk: bytes, kind: str) -> dict[str, Any] | None:
    """Return the last whole record of a kind in the end of a file of JSON lines. Skip anything else."""
    for line in reversed(chunk.split(b"\n")[:-1]):
        record = parse_record(line)
        if record and record.get("record") == kind:
            return record
    return None


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Return a line as a record; None if it is not one, like the first line of most file pieces."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


SIDE_FILE = "side.jsonl"
# A line takes some 3 KB for one device. A line that does not fit is not shown.
TAIL_BYTES = 16 * 1024


def fetch_telemetry(host: LabHost, run: str, side_file_bytes: int) -> dict[str, Any]:
    """Return what the page shows of the side file now; empty before its first interval."""
    if not side_file_bytes:
        return {}
    chunk = host.read(run, SIDE_FILE, max(0, side_file_bytes - TAIL_BYTES), TAIL_BYTES)
    interval = last_record(chunk, "interval")
    return {"telemetry": summarise_interval(interval)} if interval else {}


def summarise_interval(interval: dict[str, Any]) -> dict[str, Any]:
    """Return the achieved rate, the lag and the temperatures of an interval. Leave out values that are not reported."""
    figures = {
        name: interval[name] for name in ("achieved_reads_per_s", "lag_max_ns") if interval.get(name) is not None
    }
    telemetry = interval.get("telemetry") or {}
    temperatures = [_temperature(disk) for disk in telemetry.get("disks") or [] if disk.get("temperature")]
    return figures | {"temperatures": [each for each in temperatures if each["celsius"] is not None]}


def _temperature(disk: dict[str, Any]) -> dict[str, Any]:
    temperature = disk["temperature"]
    names = {"disk": storable(str(disk.get("disk", ""))), "sensor": storable(str(temperature.get("sensor") or ""))}
    return names | {"celsius": temperature.get("celsius"), "limit_celsius": temperature.get("limit_celsius")}
