"""Configuration file and commands that reproduce a run, rebuilt from the configuration in its log.

The file names no device: a load overwrites the whole drive, and the same name is another drive on another host.
"""

import re
from collections.abc import Iterator
from typing import Any

from results.models import Evidence, Profile, Run

LOADS = {"act-storage": "storage", "act-index": "index"}
# Keys of `drivetest storage` and `drivetest index` (docs/reference/configuration.md). The user fills in the devices.
KEYS = (
    "file-size-mbytes", "service-threads", "cache-threads", "test-duration-sec", "report-interval-sec",
    "microsecond-histograms", "read-reqs-per-sec", "write-reqs-per-sec", "record-bytes", "record-bytes-range-max",
    "large-block-op-kbytes", "replication-factor", "update-pct", "defrag-lwm-pct", "no-defrag-reads", "compress-pct",
    "disable-odsync", "commit-to-device", "commit-min-bytes", "tomb-raider", "tomb-raider-sleep-usec", "max-lag-sec",
)  # fmt: skip
VALUE = re.compile(r"[0-9]{1,20}|yes|no")  # logs are untrusted: any other value is left out of the file
ARRIVALS = ("even", "poisson", "lockstep")
COALESCE_MAX_US = 1_000  # as a configuration accepts it
DEVICE = re.compile(r"[\x21-\x7e]{1,127}")
SHOWN_DEVICES, DEVICES_MAX = 16, 128  # a configuration accepts 128 names
PLACEHOLDER = "/dev/NAME-YOUR-DRIVE"


def reproduction_of(run: Run, evidence: Evidence | None) -> dict[str, Any] | None:
    """Return the file and commands that reproduce a run; None if the log does not print its configuration.

    `left_out` are keys of the log that the file does not include.
    """
    load = LOADS.get(run.workload)
    printed = [(str(name), str(value)) for name, value in run.facts.get("config", [])]
    if load is None or evidence is None or not any(name == "test-duration-sec" for name, _ in printed):
        return None
    # The outcome depends on the slice length.
    slices = "" if run.slice_length_s is None else f" --slice-sec {run.slice_length_s}"
    name, log = f"{run.public_id}.conf", f"{run.public_id}-again.log"
    return {
        "name": name,
        "text": "\n".join([*_head(run, evidence), "", *_settings(run, printed)]) + "\n",
        "commands": [
            " ".join(["drivetest prep", *_placeholders(run)]),
            f"drivetest {load} {name} > {log}",
            f"drivetest check {log} --profile {Profile.REGISTER}{slices}",
        ],
        "left_out": [
            key for key, value in printed if not _is_accepted(key, value) and key not in {"device-names", "num-devices"}
        ],
    }


def _head(run: Run, evidence: Evidence) -> Iterator[str]:
    yield f"# Configuration of run {run.public_id}, rebuilt from its log: {run.tool} {run.tool_version}".rstrip()
    yield f"# SHA-256 of the log: {evidence.sha256}"
    yield "# WARNING: the load overwrites ALL data on each drive named below."
    for device in _devices(run):
        yield f"# device of that run: {device}"


def _devices(run: Run) -> list[str]:
    names = [str(device["name"]) for device in run.facts.get("devices", [])]
    return [name for name in names if DEVICE.fullmatch(name)][:SHOWN_DEVICES]


def _placeholders(run: Run) -> list[str]:
    count = min(max(1, run.facts.get("device_count") or 1), DEVICES_MAX)
    return [PLACEHOLDER] if count == 1 else [f"{PLACEHOLDER}-{number}" for number in range(1, count + 1)]


def _settings(run: Run, printed: list[tuple[str, str]]) -> Iterator[str]:
    yield "device-names: " + ",".join(_placeholders(run))
    values = dict(printed)
    for key in KEYS:
        if key in values and _is_accepted(key, values[key]):
            yield f"{key}: {values[key]}"
    if run.facts.get("arrivals") in ARRIVALS:
        yield f"arrivals: {run.facts['arrivals']}"
    if 0 < (run.facts.get("coalesce_us") or 0) <= COALESCE_MAX_US:
        yield f"coalesce-us: {run.facts['coalesce_us']}"


def _is_accepted(key: str, value: str) -> bool:
    return key in KEYS and VALUE.fullmatch(value) is not None
