"""What it takes to run a run again: its configuration as a file, and the commands. Rebuilt from what the log printed.

The file names no device: a load writes over all of a drive, and the names of another host may be anybody's drives here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from results.models import Evidence, Run
from webapp.register.limits.profile import PROFILE

LOADS = {"act-storage": "storage", "act-index": "index"}
# Keys that `drivetest storage` and `drivetest index` take (docs/configuration.md); the devices are asked for.
KEYS = (
    "file-size-mbytes", "service-threads", "cache-threads", "test-duration-sec", "report-interval-sec",
    "microsecond-histograms", "read-reqs-per-sec", "write-reqs-per-sec", "record-bytes", "record-bytes-range-max",
    "large-block-op-kbytes", "replication-factor", "update-pct", "defrag-lwm-pct", "no-defrag-reads", "compress-pct",
    "disable-odsync", "commit-to-device", "commit-min-bytes", "tomb-raider", "tomb-raider-sleep-usec", "max-lag-sec",
)  # fmt: skip
VALUE = re.compile(r"[0-9]{1,20}|yes|no")  # of these keys; what a hostile log says instead goes into no file
ARRIVALS = ("even", "poisson", "lockstep")
DEVICE = re.compile(r"[\x21-\x7e]{1,127}")
SHOWN_DEVICES, DEVICES_MAX = 16, 128  # a configuration takes 128 names
PLACEHOLDER = "/dev/NAME-YOUR-DRIVE"


@dataclass(frozen=True)
class Reproduction:
    """A configuration file and the commands that use it; `left_out` are lines of the log that a new run cannot take."""

    name: str
    text: str
    commands: list[str]
    left_out: list[str]
    log_name: str


def reproduction_of(run: Run, evidence: Evidence | None) -> Reproduction | None:
    """Return how to run a run again; None where the log does not print what it was asked to do."""
    load = LOADS.get(run.workload)
    printed = [(str(name), str(value)) for name, value in run.facts.get("config", [])]
    if load is None or evidence is None or not any(name == "test-duration-sec" for name, _ in printed):
        return None
    name, log = f"{run.public_id}.conf", f"{run.public_id}-again.log"
    return Reproduction(
        name=name,
        text="\n".join([*_head(run, evidence), "", *_settings(run, printed)]) + "\n",
        commands=[
            " ".join(["drivetest prep", *_placeholders(run)]),
            f"drivetest {load} {name} > {log}",
            " ".join([f"drivetest check {log} --profile {PROFILE}", *_slices(run)]),
        ],
        left_out=[
            key for key, value in printed if not _is_taken(key, value) and key not in {"device-names", "num-devices"}
        ],
        log_name=log,
    )


def _slices(run: Run) -> Iterator[str]:
    """The slices that the run was judged in, which its outcome depends on."""
    if run.slice_length_s is not None:
        yield f"--slice-sec {run.slice_length_s}"


def _head(run: Run, evidence: Evidence) -> Iterator[str]:
    yield f"# Run {run.public_id} again, as far as its log tells: {run.tool} {run.tool_version}".rstrip()
    yield f"# SHA-256 of its log: {evidence.sha256}"
    yield "# The load writes over ALL of each drive that is named below."
    for device in _devices(run):
        yield f"# in that run: {device}"


def _devices(run: Run) -> list[str]:
    names = [str(device["name"]) for device in run.facts.get("devices", [])]
    return [name for name in names if DEVICE.fullmatch(name)][:SHOWN_DEVICES]


def _placeholders(run: Run) -> list[str]:
    count = min(max(1, run.facts.get("device_count") or 1), DEVICES_MAX)
    return [PLACEHOLDER] if count == 1 else [f"{PLACEHOLDER}-{number}" for number in range(1, count + 1)]


def _settings(run: Run, printed: list[tuple[str, str]]) -> Iterator[str]:
    yield "device-names: " + ",".join(_placeholders(run))
    given = dict(printed)
    for key in KEYS:
        if key in given and _is_taken(key, given[key]):
            yield f"{key}: {given[key]}"
    if run.facts.get("arrivals") in ARRIVALS:
        yield f"arrivals: {run.facts['arrivals']}"


def _is_taken(key: str, value: str) -> bool:
    return key in KEYS and VALUE.fullmatch(value) is not None
