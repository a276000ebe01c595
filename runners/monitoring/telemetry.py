"""What the live page shows of a side file: rates, lag and temperatures of its last interval (docs/formats.md)."""

from typing import Any

from runners.hosts.protocol import LabHost
from runners.models.pg_text import storable
from runners.monitoring.records import last_record

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
