"""Prevent processors from halting during a measurement on a machine that loses halting processors to its host."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Mount points of the controller of processor time: its own hierarchy, or the common one.
HIERARCHIES = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))


class Awake:
    """Programs of the lowest priority that keep every processor busy, so that none of them halts.

    The host deschedules a virtual processor that halts, and brings it back late. Loads that sleep between requests lost
    up to 75 % of a processor in this way, and 0 to 1 % with these programs.

    They need a control group that is idle as a whole. The idle policy alone ranks a program only within its own session
    (kernel/sched/autogroup.c). The kernel thread of a loop device belongs to no session and waited for them, so that
    3 to 14 % of reads were late by milliseconds.
    """

    def __init__(self) -> None:
        self.programs: list[subprocess.Popen[bytes]] = []
        self.group: Path | None = None

    def __enter__(self) -> "Awake":
        self.group = idle_group()
        for number in sorted(os.sched_getaffinity(0)):
            idly = ["chrt", "--idle", "0", "taskset", "--cpu-list", str(number)]
            busy = [*idly, sys.executable, "-c", "while True: pass"]
            self.programs.append(subprocess.Popen(busy if self.group is None else in_group(self.group, busy)))
        return self

    def __exit__(self, *_: object) -> None:
        for program in self.programs:
            program.kill()
            program.wait()
        if self.group is not None:
            self.group.rmdir()


def in_group(group: Path, command: list[str]) -> list[str]:
    """Return a command that joins a control group before it starts, and does not start if it cannot join."""
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group), *command]


def idle_group() -> Path | None:
    """Make an idle control group; print a message and return None if that is not possible."""
    for hierarchy in HIERARCHIES:
        group = hierarchy / f"drivecert-awake-{os.getpid()}"
        with suppress(OSError):
            group.mkdir()
            try:
                (group / "cpu.idle").write_text("1")
            except OSError:
                group.rmdir()
                continue
            return group
    print(
        "no idle control group can be made here: the programs that keep processors awake delay the kernel",
        file=sys.stderr,
    )
    return None


@contextmanager
def idle_processors_polling() -> Iterator[None]:
    """Let idle processors poll instead of halting. The kernel does so while this file is open with a latency of 0."""
    with Path("/dev/cpu_dma_latency").open("wb", buffering=0) as file:
        file.write(bytes(4))
        yield
