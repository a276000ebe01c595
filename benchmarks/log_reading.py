"""Reading a day's log: `drivetest read --json` against upstream's act_latency.py, times and memory.

Plain Python 3. Upstream's script is not part of this repository: name it with ACT_LATENCY=/path/to/act_latency.py.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DRIVETEST = HERE.parent / "runners/drivetest/target/release/drivetest"


class Figures(NamedTuple):
    """One run of a program."""

    seconds: float
    peak_kib: int


class Row(NamedTuple):
    """The runs of one program on one log."""

    program: str
    figures: list[Figures]
    missing: str = ""

    def median_s(self) -> float:
        return statistics.median(figure.seconds for figure in self.figures)

    def peak_mib(self) -> float:
        return max(figure.peak_kib for figure in self.figures) / 1024


def measure(command: list[str]) -> Figures:
    """Run a command; its peak memory is not told below that of this benchmark, from which it was started."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]}: expected exit status 0; got {process.returncode}")
    return Figures(seconds, used.ru_maxrss)


def row(program: str, path: str | None, command: list[str], times: int) -> Row:
    if path is None or not Path(path).is_file():
        return Row(program, [], missing=f"not measured: {path or 'ACT_LATENCY=/path/to/act_latency.py is not set'}")
    return Row(program, [measure(command) for _ in range(times)])


def compare(name: str, log: Path, times: int) -> None:
    upstream = os.environ.get("ACT_LATENCY")
    rows = [
        row("drivetest read --json", str(DRIVETEST), [str(DRIVETEST), "read", "--json", str(log)], times),
        row("drivetest latency", str(DRIVETEST), [str(DRIVETEST), "latency", "-l", str(log)], times),
        row("act_latency.py", upstream, [sys.executable, str(upstream), "-l", str(log)], times),
    ]
    size_mb = log.stat().st_size / 1e6
    print(f"\n{name}: {size_mb:.0f} MB, medians of {times}")
    print(f"{'program':24}{'seconds':>10}{'MB/s':>8}{'ratio':>8}{'peak MiB':>10}")
    for one in rows:
        if one.missing:
            print(f"{one.program:24}  {one.missing}")
            continue
        ratio = f"{one.median_s() / rows[0].median_s():8.2f}" if rows[0].figures else " " * 8
        print(f"{one.program:24}{one.median_s():10.3f}{size_mb / one.median_s():8.0f}{ratio}{one.peak_mib():10.1f}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--hours", type=int, default=24)
    arguments.add_argument("--times", type=int, default=5)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for devices in (1, 8):
            log = Path(directory) / f"{devices}.log"
            with log.open("wb") as target:
                maker = [
                    sys.executable,
                    str(HERE / "make_log.py"),
                    "--hours",
                    str(asked.hours),
                    "--devices",
                    str(devices),
                ]
                subprocess.run(maker, stdout=target, check=True)
            compare(f"{asked.hours} h of {devices} device{'s' * (devices > 1)}", log, asked.times)


if __name__ == "__main__":
    main()
