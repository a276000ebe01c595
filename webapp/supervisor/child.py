"""One program under the supervisor: started, watched, started again, stopped."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.held import hold_when_free
from webapp.supervisor.identity import launch_command

LEFTOVER_PATIENCE_S = 10
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
STEADY_AFTER_S = 60  # a child that lived this long begins again with the shortest pause
LOG_TAIL_LINES = 15


@dataclass(frozen=True)
class Program:
    """What to run and how it ends. `death_signal` is what the kernel sends it when the supervisor dies.

    `is_leaving` tells that it was told to end by somebody else and waits for whoever still uses it.
    """

    name: str
    command: list[str]
    stop_signal: signal.Signals
    death_signal: signal.Signals
    stop_wait_s: float
    environment: dict[str, str] = field(default_factory=dict)
    identity: str = "same"
    before_start: Callable[[], None] = lambda: None
    is_leaving: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Places:
    """Where the children of one supervisor keep what they need besides their own data."""

    run_dir: Path
    log_dir: Path

    def make(self) -> None:
        """Create both, closed to other users."""
        for directory in (self.run_dir, self.log_dir):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)


class Child:
    """A program and its process, if it has one now."""

    def __init__(self, program: Program, places: Places) -> None:
        self.program = program
        self.log = places.log_dir / f"{program.name}.log"
        self.held = places.run_dir / f"{program.name}.held"
        self.process: subprocess.Popen[bytes] | None = None
        self.pause_s = FIRST_PAUSE_S
        self.started_at = self.start_again_at = 0.0
        self.is_hurried = False

    def start(self) -> None:
        """Start the process once every process of an earlier one has ended.

        Only from the main thread: the kernel's death signal follows the thread that started the process.
        """
        fd = hold_when_free(self.held, LEFTOVER_PATIENCE_S)
        try:
            self.program.before_start()
            self.process = self._spawn(fd)
        finally:
            os.close(fd)  # from here on the child alone holds it
        self.started_at, self.is_hurried = time.monotonic(), False

    def has_ended(self) -> bool:
        """Tell whether the process is gone; what it left in its session is then ended too."""
        if self.process is None or self.process.returncode is not None:
            return True
        # WNOWAIT: while it is not reaped, nobody else can be given its number, so the group is surely ours.
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, self.process.pid, options) is None:
            return False
        self._end_group(self.process)
        return True

    def tend(self) -> str:
        """Start the process again where it died, after a growing pause; return what happened, or nothing."""
        now = time.monotonic()
        if self.process is None:
            return self._start_again() if now >= self.start_again_at else ""
        if not self.has_ended():
            return self._hurry()
        return self._plan_start(now)

    def stop(self) -> None:
        """End the process and everything in its session: politely, then by force."""
        if self.process is None:
            return
        if not self.has_ended():
            self.process.send_signal(self.program.stop_signal)
            self._wait_for_end(self.program.stop_wait_s)
            self._end_group(self.process)
        self.process = None

    def wait_until(self, is_ready: Callable[[], bool], patience_s: float) -> None:
        """Return once it answers; raise CannotStartError with the end of its log where it died or stays silent."""
        deadline = time.monotonic() + patience_s
        while not is_ready():
            if self.has_ended():
                raise CannotStartError(f"{self.program.name} ended while it started. {self.tell_log()}")
            if time.monotonic() > deadline:
                raise CannotStartError(f"{self.program.name} did not answer in {patience_s:g} s. {self.tell_log()}")
            time.sleep(0.05)

    def tell_log(self) -> str:
        """Return the last lines of the log and where the rest is."""
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        return "\n".join([f"The end of {self.log}:", *(f"    {line}" for line in lines)])

    def _spawn(self, held_fd: int) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                launch_command(self.program.command, self.program.death_signal, self.program.identity),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | self.program.environment,
                start_new_session=True,  # Ctrl-C reaches the supervisor alone, which then stops all in order
                pass_fds=[held_fd],
            )

    def _hurry(self) -> str:
        """End a process that is about to leave and takes nobody new meanwhile, so that it is started again."""
        if self.is_hurried or self.process is None or not self.program.is_leaving():
            return ""
        self.is_hurried = True
        self.process.send_signal(self.program.stop_signal)
        return f"{self.program.name} was told to end by somebody else: its clients are not waited for"

    def _plan_start(self, now: float) -> str:
        if now - self.started_at > STEADY_AFTER_S:
            self.pause_s = FIRST_PAUSE_S
        status = self.process.returncode if self.process else None
        self.process, self.start_again_at = None, now + self.pause_s
        text = f"{self.program.name} ended ({tell_status(status)}); starting it again in {self.pause_s:g} s"
        self.pause_s = min(self.pause_s * 2, LONGEST_PAUSE_S)
        return text

    def _start_again(self) -> str:
        self.start()
        return f"{self.program.name} started again"

    def _wait_for_end(self, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while not self.has_ended() and time.monotonic() < deadline:
            time.sleep(0.05)

    def _end_group(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def tell_status(status: int | None) -> str:
    """Return an exit status in words."""
    if status is None or status >= 0:
        return f"exit status {status}"
    return f"killed by {signal.Signals(-status).name}"
