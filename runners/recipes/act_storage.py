"""The ACT storage load: what is sent to the host, run there and collected."""

from decimal import Decimal
from typing import Any

from runners.models import Dispatch

# Nx load = N x (2000 reads/s + 1000 writes/s) per device. Source: ACT README.
READS_PER_S_AT_1X, WRITES_PER_S_AT_1X = 2000, 1000
MIB_BYTES = 1024 * 1024

CONFIG_FILE, LOG_FILE, SIDE_FILE = "config", "log", "side.jsonl"

# What an order may set, beside load and duration; the values are upstream 6.6's defaults, but for the unit: only
# microseconds resolve a modern drive.
OPTIONS: dict[str, Any] = {"report_interval_s": 1, "record_bytes": 1536, "microsecond_histograms": True}


def files(dispatch: Dispatch) -> dict[str, bytes]:
    """Return the files that the run directory must hold before the start."""
    return {CONFIG_FILE: config_text(dispatch).encode()}


def argv(dispatch: Dispatch) -> list[str]:
    """Return drivetest's arguments; paths count from the run directory, the program's working directory.

    The path may name another drive by the time it is opened: drivetest compares what it opened, before any write.
    """
    expected = ["--expect-drive", dispatch.drive_key]
    return ["storage", CONFIG_FILE, "--log", LOG_FILE, "--side-file", SIDE_FILE, *expected]


def config_text(dispatch: Dispatch) -> str:
    """Return the configuration in ACT 6.x keys."""
    options = OPTIONS | dispatch.options
    nx_load, duration_s = dispatch.nx_load, dispatch.duration_s
    if nx_load is None or duration_s is None:
        raise ValueError(f"{dispatch}: expected a load and a duration, got {nx_load} and {duration_s}")
    lines = [("device-names", dispatch.device.path)]
    if is_plain_file(dispatch.device.path):
        lines.append(("file-size-mbytes", str(dispatch.device.size_bytes // MIB_BYTES)))
    if "service_threads" in options:
        lines.append(("service-threads", str(options["service_threads"])))
    lines += [
        ("test-duration-sec", str(duration_s)),
        ("report-interval-sec", str(options["report_interval_s"])),
        ("microsecond-histograms", "yes" if options["microsecond_histograms"] else "no"),
        ("read-reqs-per-sec", _rate(nx_load, READS_PER_S_AT_1X)),
        ("write-reqs-per-sec", _rate(nx_load, WRITES_PER_S_AT_1X)),
        ("record-bytes", str(options["record_bytes"])),
    ]
    return "".join(f"{key}: {value}\n" for key, value in lines)


def unit(dispatch: Dispatch) -> str:
    """Return the unit of the log's histograms, us or ms."""
    return "us" if (OPTIONS | dispatch.options)["microsecond_histograms"] else "ms"


def is_plain_file(path: str) -> bool:
    """Tell whether a device is a file, which ACT needs to be told the size of; nodes of devices live in /dev."""
    return not path.startswith("/dev/")


def _rate(nx_load: Decimal, at_1x: int) -> str:
    """Return a whole number of requests a second. Raises ValueError where N does not give one: orders are checked."""
    rate = nx_load * at_1x
    if rate != int(rate) or rate <= 0:
        raise ValueError(f"{nx_load}x: expected a whole number of requests per second, got {rate}")
    return str(int(rate))
