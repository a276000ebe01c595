"""What a dump tells of documents and texts: named parts only, and neither serial numbers nor names of hosts."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Told = Mapping[str, Any]

# What may be told of the facts of a run, part by part: what a newer reader adds is told once it stands here.
OF_A_RUN = frozenset({
    "config", "derived", "devices", "stop", "unit", "reached_s", "report_interval_s", "generator", "io_errors_count",
    "first_line", "last_line", "device_count", "asked_duration_s", "intervals_count", "record_bytes",
    "record_bytes_max", "trailing_partial_s", "arrivals", "family", "service_threads", "requests_queued_count",
    "judged_ordinal", "compared_ordinal", "is_virtual_device", "side_file", "telemetry",
})  # fmt: skip
OF_A_SIDE_FILE = frozenset({
    "program", "engine", "engine_reason", "workers", "service_threads", "arrivals", "seed", "started_at", "host",
    "drives_count", "drives", "warnings", "is_rate_held", "rate_word", "rate_sentence", "operations", "over",
    "telemetry", "end_reason", "end_text",
})  # fmt: skip
OF_A_HOST = frozenset({"kernel", "cpu_model", "cpus_count", "memory_bytes", "virtual_machine"})
OF_A_DRIVE = frozenset({"name", "kind", "model", "firmware", "size_bytes", "pcie_link"})
BY_ID = re.compile(r"/by-id/[^\s,;:\"']+")  # such a name of a device holds its serial number
UNTOLD = "..."


def told_of_facts(facts: Told) -> Any:
    """Return the parts of a run's facts that are named here."""
    told = {key: value for key, value in facts.items() if key in OF_A_RUN}
    side_file = facts.get("side_file")
    if not side_file:
        return told_of_text(told)
    told["side_file"] = _of_side_file(side_file)
    return _without(_own_words(side_file), told_of_text(told))


def told_of_text(value: Any) -> Any:
    """Return a text, or a document with texts, without what a device's name tells of its serial number."""
    return _in_texts(value, lambda text: BY_ID.sub(f"/by-id/{UNTOLD}", text))


def _of_side_file(side_file: Told) -> dict[str, Any]:
    told = {key: value for key, value in side_file.items() if key in OF_A_SIDE_FILE}
    host, drives = side_file.get("host"), side_file.get("drives") or []
    if host:
        told["host"] = {key: value if key in OF_A_HOST else None for key, value in host.items()}
    # Which of the devices are one drive is told: by numbers.
    keys = list(dict.fromkeys(drive["drive_key"] for drive in drives if drive.get("drive_key")))
    told["drives"] = [_of_drive(drive, keys) for drive in drives]
    return told


def _of_drive(drive: Told, keys: list[str]) -> dict[str, Any]:
    told = {key: value if key in OF_A_DRIVE else None for key, value in drive.items()}
    key = drive.get("drive_key")
    return told | {"drive_key": f"drive {keys.index(key) + 1}" if key else None}


def _own_words(side_file: Told) -> list[str]:
    """Return the words that stand for this host and these drives, the longest first: sentences may hold them too."""
    host, drives = side_file.get("host") or {}, side_file.get("drives") or []
    found = [host.get("hostname"), *(drive.get("serial") for drive in drives)]
    return sorted({word for word in found if word}, key=len, reverse=True)


def _without(words: list[str], value: Any) -> Any:
    if not words:
        return value
    own = re.compile("|".join(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])" for word in words))
    return _in_texts(value, lambda text: own.sub(UNTOLD, text))


def _in_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _in_texts(each, change) for key, each in value.items()}
    return [_in_texts(each, change) for each in value] if isinstance(value, list) else value
