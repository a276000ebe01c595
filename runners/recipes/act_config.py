"""The configuration of an ACT load, storage or index, in the keys of ACT 6.x."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from runners.evidence.submit import LOG_FILE, SIDE_FILE
from runners.inventory.plain_files import MIB_BYTES, is_plain_file
from runners.inventory.signatures import DESTROY
from runners.models import Dispatch

# Nx load = N x (2000 reads/s + 1000 writes/s) per device. Source: ACT README.
READS_PER_S_AT_1X, WRITES_PER_S_AT_1X = 2000, 1000

CONFIG_FILE = "config"

# What an order may set for both loads, beside load and duration; the values are upstream 6.6's defaults, but for the
# unit: only microseconds resolve a modern drive.
OPTIONS: dict[str, Any] = {"report_interval_s": 1, "microsecond_histograms": True}


def files(text: str) -> dict[str, bytes]:
    """Return the files that the run directory must hold before the start."""
    return {CONFIG_FILE: text.encode()}


def argv(command: str, dispatch: Dispatch) -> list[str]:
    """Return drivetest's arguments; paths count from the run directory, the program's working directory.

    The path may name another drive by the time it is opened: drivetest compares what it opened, before any write.
    """
    expected = ["--expect-drive", dispatch.drive_key]
    return [command, CONFIG_FILE, "--log", LOG_FILE, "--side-file", SIDE_FILE, *consent(dispatch), *expected]


def consent(dispatch: Dispatch) -> list[str]:
    """Return the flag under which recognised data is written over: somebody said so at the order.

    What is there at the start is held against what they were shown before (runners/inventory/safety.py).
    """
    return ["--i-know-this-destroys-data"] if dispatch.options.get(DESTROY) else []


def config_text(dispatch: Dispatch, further: Iterable[tuple[str, str]] = ()) -> str:
    """Return the configuration in ACT 6.x keys."""
    options = OPTIONS | dispatch.options
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
        *further,
    ]
    return "".join(f"{key}: {value}\n" for key, value in lines)


def unit(dispatch: Dispatch) -> str:
    """Return the unit of the log's histograms, us or ms."""
    return "us" if (OPTIONS | dispatch.options)["microsecond_histograms"] else "ms"


def rates(dispatch: Dispatch) -> tuple[str, str]:
    """Return the reads and writes a second, whole numbers. Raises ValueError where N gives none: orders are checked."""
    if dispatch.nx_load is None or dispatch.duration_s is None:
        raise ValueError(f"{dispatch.recipe}: expected a load and a duration, got {dispatch.nx_load} and none")
    return _rate(dispatch.nx_load, READS_PER_S_AT_1X), _rate(dispatch.nx_load, WRITES_PER_S_AT_1X)


def _rate(nx_load: Decimal, at_1x: int) -> str:
    rate = nx_load * at_1x
    if rate != int(rate) or rate <= 0:
        raise ValueError(f"{nx_load}x: expected a whole number of requests per second, got {rate}")
    return str(int(rate))
