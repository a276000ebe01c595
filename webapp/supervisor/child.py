"""One program under the supervisor: start, supervision, restart, stop."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.identity import launch_command
from webapp.supervisor.lock_files import acquire_when_free

LEFTOVER_TIMEOUT_S = 10
MIN_RESTART_DELAY_S, MAX_RESTART_DELAY_S = 0.5, 30.0
STABLE_AFTER_S = 60  # a child that ran this long restarts with the shortest delay
LOG_TAIL_LINES = 15


@dataclass(frozen=True)
class Program:
    """A command and the way it is stopped. The kernel sends `death_signal` to it when the supervisor dies.

    By default it is then killed at once: every task may be interrupted and repeated (docs/decisions), whereas an
    orderly end would wait for tasks of up to a minute.

    A program that `runs_once` ends by itself and is not restarted.

    `is_shutting_down` returns whether another process told the program to stop and it waits for its clients.
    """

    name: str
    command: list[str]
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    stop_wait_s: float = 5
    environment: dict[str, str] = field(default_factory=dict)
    identity: str = "same"
    before_start: Callable[[], None] = lambda: None
    is_shutting_down: Callable[[], bool] = lambda: False
    runs_once: bool = False


class Child:
    """A program and its current process, if any. `data_dir` has the directories of its lock file and its log."""

    def __init__(self, program: Program, data_dir: Path) -> None:
        self.program = program
        self.log = data_dir / "log" / f"{program.name}.log"
        self.lock_file = data_dir / "run" / f"{program.name}.held"
        self.process: subprocess.Popen[bytes] | None = None
        self.restart_delay_s = MIN_RESTART_DELAY_S
        self.started_at = self.restart_at = 0.0
        self.is_stop_forced = False

    def start(self) -> None:
        """Start the process when every process of an earlier start has ended.

        Call this only from the main thread: the kernel's death signal depends on the thread that started the process.
        """
        fd = acquire_when_free(self.lock_file, LEFTOVER_TIMEOUT_S)
        try:
            self.program.before_start()
            self.process = self._spawn(fd)
        finally:
            os.close(fd)  # from here on only the child holds the lock
        self.started_at, self.is_stop_forced = time.monotonic(), False

    def has_ended(self) -> bool:
        """Return whether the process has ended. If so, kill the processes that it left in its session."""
        if self.process is None or self.process.returncode is not None:
            return True
        # WNOWAIT: until it is reaped, the kernel gives its pid to no other process, so the group is still this child's.
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, self.process.pid, options) is None:
            return False
        self._end_group(self.process)
        return True

    def restart_if_ended(self) -> str:
        """Restart the process after a growing delay if it ended. Return a message about the change, if any."""
        now = time.monotonic()
        if self.process is None:
            if now < self.restart_at:
                return ""
            self.start()
            return f"{self.program.name} restarted"
        if not self.has_ended():
            return self._force_stop()
        if now - self.started_at > STABLE_AFTER_S:
            self.restart_delay_s = MIN_RESTART_DELAY_S
        status, delay_s = describe_exit_status(self.process.returncode), self.restart_delay_s
        self.process, self.restart_at = None, now + delay_s
        self.restart_delay_s = min(delay_s * 2, MAX_RESTART_DELAY_S)
        return f"{self.program.name} ended ({status}); restarting in {delay_s:g} s"

    def stop(self) -> None:
        """Stop the process and its session: first with its stop signal, then with SIGKILL."""
        if self.process is None:
            return
        if not self.has_ended():
            self.process.send_signal(self.program.stop_signal)
            wait_for(self.has_ended, self.program.stop_wait_s)
            self._end_group(self.process)
        self.process = None

    def wait_until(self, is_ready: Callable[[], bool], timeout_s: float) -> None:
        """Return when the process is ready. Raise CannotStartError with the end of its log if it ends or is late."""

        def is_over() -> bool:
            if is_ready():
                return True
            if self.has_ended():
                raise CannotStartError(f"{self.program.name} ended during its start. {self.log_excerpt()}")
            return False

        if not wait_for(is_over, timeout_s):
            raise CannotStartError(f"{self.program.name} did not respond within {timeout_s:g} s. {self.log_excerpt()}")

    def log_excerpt(self) -> str:
        """Return the last lines of the log and the path of the log."""
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        return "\n".join([f"The end of {self.log}:", *(f"    {line}" for line in lines)])

    def _spawn(self, lock_fd: int) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                launch_command(self.program.command, self.program.death_signal, self.program.identity),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | self.program.environment,
                start_new_session=True,  # Ctrl-C reaches only the supervisor, which then stops all children in order
                pass_fds=[lock_fd],
            )

    def _force_stop(self) -> str:
        """Stop a process that is shutting down and accepts no new clients, so that it is restarted."""
        if self.is_stop_forced or self.process is None or not self.program.is_shutting_down():
            return ""
        self.is_stop_forced = True
        self.process.send_signal(self.program.stop_signal)
        return f"{self.program.name} was stopped by another process: it is restarted without waiting for its clients"

    def _end_group(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(is_true: Callable[[], bool], timeout_s: float) -> bool:
    """Wait until a condition is true, and return whether it became true in time."""
    deadline = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def describe_exit_status(status: int) -> str:
    """Return a description of an exit status."""
    if status >= 0:
        return f"exit status {status}"
    return f"killed by {signal.Signals(-status).name}"
