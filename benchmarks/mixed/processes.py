"""Memory and processor time of the register's processes, by part, from /proc."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# The first text that a command line contains names the part.
PARTS = {
    "webapp.wsgi": "web",
    "webapp.asgi": "live",
    "--queues=drivecert": "worker",
    "--queues=lab": "lab",
    " beat ": "beat",
    "postgres": "postgresql",
    "valkey": "redis",
    "redis": "redis",
    "manage.py up": "supervisor",
}
PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass
class Use:
    """What the processes of a part use: how many there are, their memory, and the processor time until now.

    `largest_megabytes` is the memory of the largest process.
    """

    processes: int = 0
    megabytes: float = 0.0
    largest_megabytes: float = 0.0
    processor_s: float = 0.0


def part_of(pid: int) -> str:
    """Return the part to which a process belongs; empty for others."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
    return next((name for text, name in PARTS.items() if text in line), "")


def use_by_part(register: Any) -> dict[str, Use]:
    """Return the use of each part. Programs that a worker started and that ended count for the worker."""
    found: dict[str, Use] = {}
    for pid in register.processes():
        try:
            kilobytes = int((PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text()) or ["", "0"])[1])
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if part := part_of(pid):
            use = found.setdefault(part, Use())
            use.processes += 1
            use.megabytes += kilobytes / 1000
            use.largest_megabytes = max(use.largest_megabytes, kilobytes / 1000)
            use.processor_s += sum(map(int, fields[11:15])) / TICKS_PER_S  # utime stime cutime cstime
    return found


def pids_of(register: Any, part: str) -> list[int]:
    """Return the processes of a part, the oldest first."""
    return [pid for pid in sorted(register.processes()) if part_of(pid) == part]
