"""The ACT loads, storage and index: a configuration is sent, one program runs, its log and side file are collected.

Both are described by the keys of ACT 6.x. Progress is in seconds of the run, from the labels of the log. Each leaves a
submission. The index load requests pages of an index, 4 KiB each; no certificate rests on it.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from runners.evidence.submit import LOG_FILE, SIDE_FILE, submit_log
from runners.hosts.protocol import LabHost, ProgramStatus
from runners.inventory.safety import MIB_BYTES, is_plain_file
from runners.models import Dispatch
from runners.monitoring.progress import follow, read_last_record, summarise, summarise_interval, tail
from runners.recipes.base import Stage, consent

# The names of the recipes of this module.
STORAGE_RECIPE, INDEX_RECIPE = ACT_RECIPES = ("act-storage", "act-index")
# Nx load = N x (2000 reads/s + 1000 writes/s) per device. Source: ACT README.
READS_PER_S_AT_1X, WRITES_PER_S_AT_1X = 2000, 1000

CONFIG_FILE = "config"

# What an order may set for both loads, in addition to load and duration. The values are the defaults of upstream 6.6,
# except for the unit: only microseconds resolve a modern drive.
OPTIONS: dict[str, Any] = {"report_interval_s": 1, "microsecond_histograms": True}


@dataclass(frozen=True)
class ActLoad:
    """One ACT load as a recipe. `command` is drivetest's subcommand, `further` maps options of this load to keys."""

    LABEL: str
    command: str
    further: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)

    def stages(self, dispatch: Dispatch) -> tuple[Stage, ...]:
        """Return the one stage of the load."""
        argv, files = tuple(self.argv(dispatch)), {CONFIG_FILE: self.config_text(dispatch).encode()}
        return (Stage("", argv, files, is_measured=True, limit_s=dispatch.duration_s),)

    def argv(self, dispatch: Dispatch) -> list[str]:
        """Return drivetest's arguments. Paths are relative to the run directory, the program's working directory.

        The path may name another drive by the time it is opened: drivetest compares what it opened before any write.
        """
        outputs = ["--log", LOG_FILE, "--side-file", SIDE_FILE]
        return [self.command, CONFIG_FILE, *outputs, *consent(dispatch.options), "--expect-drive", dispatch.drive_key]

    def config_text(self, dispatch: Dispatch) -> str:
        """Return the configuration in ACT 6.x keys."""
        options = OPTIONS | self.defaults | dispatch.options
        lines = [("device-names", dispatch.device.path)]
        if is_plain_file(dispatch.device.path):
            lines.append(("file-size-mbytes", str(dispatch.device.size_bytes // MIB_BYTES)))
        if "service_threads" in options:
            lines.append(("service-threads", str(options["service_threads"])))
        reads_per_s, writes_per_s = rates(dispatch)
        lines += [
            ("test-duration-sec", str(dispatch.duration_s)),
            ("report-interval-sec", str(options["report_interval_s"])),
            ("microsecond-histograms", "yes" if options["microsecond_histograms"] else "no"),
            ("read-reqs-per-sec", reads_per_s),
            ("write-reqs-per-sec", writes_per_s),
            *((key, str(options[name])) for name, key in self.further.items()),
        ]
        return "".join(f"{key}: {value}\n" for key, value in lines)

    def progress(self, dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
        """Return the columns that follow the log and the side file: read position, last label, counters and lines."""
        if not status.log_bytes or status.log_bytes == dispatch.log_bytes:
            return {}
        read_bytes, blocks = follow(host, run, status.log_bytes, dispatch.log_bytes)
        shown = summarise(dispatch.progress, blocks, unit(dispatch), dispatch.duration_s or 0)
        shown = shown | {"tail": tail(host, run, status.log_bytes)}
        if interval := read_last_record(host, run, status.side_file_bytes, "interval"):
            shown["telemetry"] = summarise_interval(interval)
        return {"log_bytes": read_bytes, "last_label_s": shown.get("label_s", 0), "progress": shown}

    def collect(self, dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
        """Submit the log with its side file."""
        return {"submission": submit_log(dispatch, host)}


STORAGE = ActLoad("ACT storage", "storage", {"record_bytes": "record-bytes"}, {"record_bytes": 1536})
INDEX = ActLoad("ACT index", "index")


def unit(dispatch: Dispatch) -> str:
    """Return the unit of the log's histograms, us or ms."""
    return "us" if (OPTIONS | dispatch.options)["microsecond_histograms"] else "ms"


def rates(dispatch: Dispatch) -> tuple[str, str]:
    """Return the reads and writes per second. Raise ValueError unless both are whole; forms check that."""
    if dispatch.nx_load is None or dispatch.duration_s is None:
        raise ValueError(
            f"{dispatch.recipe}: expected a load and a duration, got {dispatch.nx_load} and {dispatch.duration_s}"
        )
    return _rate(dispatch.nx_load, READS_PER_S_AT_1X), _rate(dispatch.nx_load, WRITES_PER_S_AT_1X)


def _rate(nx_load: Decimal, at_1x: int) -> str:
    rate = nx_load * at_1x
    if rate != int(rate) or rate <= 0:
        raise ValueError(f"{nx_load}x: expected a whole number of requests per second, got {rate}")
    return str(int(rate))
