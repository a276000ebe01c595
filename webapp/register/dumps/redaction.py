"""Redaction of documents and texts in dumps: listed fields only, without serial numbers and host names."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Document = Mapping[str, Any]

# Public facts of a run. Facts that a newer reader adds become public only when they are added to this list.
RUN_FACTS = frozenset({
    "config", "derived", "devices", "stop", "unit", "reached_s", "report_interval_s", "generator", "io_errors_count",
    "first_line", "last_line", "device_count", "asked_duration_s", "intervals_count", "record_bytes",
    "record_bytes_max", "trailing_partial_s", "arrivals", "coalesce_us", "family", "service_threads",
    "requests_queued_count", "judged_ordinal", "compared_ordinal", "is_virtual_device", "side_file", "telemetry",
})  # fmt: skip
SIDE_FILE_FIELDS = frozenset({
    "program", "engine", "engine_reason", "workers", "service_threads", "arrivals", "coalesce_us", "setup", "seed",
    "started_at", "host", "drives_count", "drives", "warnings", "is_rate_held", "rate_word", "rate_sentence",
    "operations", "over", "telemetry", "host_causes", "end_reason", "end_text",
})  # fmt: skip
HOST_FIELDS = frozenset({"kernel", "cpu_model", "cpus_count", "memory_bytes", "virtual_machine"})
DRIVE_FIELDS = frozenset({"name", "kind", "model", "firmware", "size_bytes", "pcie_link"})
BY_ID = re.compile(r"/by-id/[^\s,;:\"']+")  # such a device name has the serial number
REDACTED = "..."


def redact_facts(facts: Document) -> Any:
    """Return the public facts of a run."""
    public = {key: value for key, value in facts.items() if key in RUN_FACTS}
    side_file = facts.get("side_file")
    if not side_file:
        return redact_text(public)
    public["side_file"] = _redact_side_file(side_file)
    return _without(_private_names(side_file), redact_text(public))


def redact_text(value: Any) -> Any:
    """Return a text, or a document with texts, without serial numbers in device names."""
    return _in_texts(value, lambda text: BY_ID.sub(f"/by-id/{REDACTED}", text))


def _redact_side_file(side_file: Document) -> dict[str, Any]:
    public = {key: value for key, value in side_file.items() if key in SIDE_FILE_FIELDS}
    host, drives = side_file.get("host"), side_file.get("drives") or []
    if host:
        public["host"] = {key: value if key in HOST_FIELDS else None for key, value in host.items()}
    # Devices of the same drive get the same number instead of the drive key.
    keys = list(dict.fromkeys(drive["drive_key"] for drive in drives if drive.get("drive_key")))
    public["drives"] = [_redact_drive(drive, keys) for drive in drives]
    return public


def _redact_drive(drive: Document, keys: list[str]) -> dict[str, Any]:
    public = {key: value if key in DRIVE_FIELDS else None for key, value in drive.items()}
    key = drive.get("drive_key")
    return public | {"drive_key": f"drive {keys.index(key) + 1}" if key else None}


def _private_names(side_file: Document) -> list[str]:
    """Return host name and serial numbers, the longest first, because sentences may include them."""
    host, drives = side_file.get("host") or {}, side_file.get("drives") or []
    found = [host.get("hostname"), *(drive.get("serial") for drive in drives)]
    return sorted({word for word in found if word}, key=len, reverse=True)


def _without(words: list[str], value: Any) -> Any:
    if not words:
        return value
    own = re.compile("|".join(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])" for word in words))
    return _in_texts(value, lambda text: own.sub(REDACTED, text))


def _in_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _in_texts(each, change) for key, each in value.items()}
    return [_in_texts(each, change) for each in value] if isinstance(value, list) else value
