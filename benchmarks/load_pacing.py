"""Lateness of requests at a device as seen by the kernel: the same measure for every program."""

import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from load_programs import Load, Program, drivetest, fio, is_missing, record_bytes

# The measured part of a run: the middle.
LEAD_S = 2
LENGTH_S = 4


def rows(device: str, reads: int, seconds: int) -> Iterator[str]:
    """Return lines with the lateness of drivetest's and fio's requests against the even grid that fits them best."""
    if shutil.which("perf") is None:
        yield "* lateness seen from the kernel: missing: install perf"
        return
    programs: dict[str, Program] = {"drivetest": drivetest, "fio": fio()}
    for name, program in programs.items():
        if is_missing(name):
            continue
        late_us = lateness_us(
            issued(device, program, Load(device, reads, 0, max(seconds, LEAD_S + LENGTH_S + 2))), reads
        )
        if len(late_us) < 100:
            yield f"* {name}, lateness seen from the kernel: missing: perf saw {len(late_us)} requests"
            continue
        cuts = statistics.quantiles(late_us, n=100)
        yield f"* {name}, lateness seen from the kernel (block_rq_issue), us: p50 {cuts[49]:.1f}, p99 {cuts[98]:.1f}"


def issued(device: str, program: Program, load: Load) -> list[float]:
    """Return when the kernel issued the reads of records to the device, s, in the middle of a run."""
    run = threading.Thread(target=program, args=(load,))
    run.start()
    time.sleep(LEAD_S)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        record = [
            "perf",
            "record",
            "-q",
            "-e",
            "block:block_rq_issue",
            "-a",
            "-o",
            str(data),
            "--",
            "sleep",
            str(LENGTH_S),
        ]
        subprocess.run(record, capture_output=True, check=False)
        script = ["perf", "script", "-i", str(data), "--ns", "-F", "time,trace"]
        output = subprocess.run(script, capture_output=True, text=True, check=False).stdout
    run.join()
    number = Path(f"/sys/block/{Path(device).name}/dev").read_text().strip().replace(":", ",")
    wanted = f"{number} R {record_bytes(device)} "
    return [float(line.split(":", 1)[0]) for line in output.splitlines() if wanted in line]


def lateness_us(times_s: list[float], reads: int) -> list[float]:
    """Return the lateness of each request against an even grid on which no request is early."""
    behind_s = [at - number / reads for number, at in enumerate(sorted(times_s))]
    return [1e6 * (value - min(behind_s)) for value in behind_s] if behind_s else []
