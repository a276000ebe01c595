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

    `is_shutting_down` returns whether another process told the program to stop and it waits for its clients.
    """

    name: str
    command: list[str]
    stop_signal: signal.Signals
    death_signal: signal.Signals
    stop_wait_s: float
    environment: dict[str, str] = field(default_factory=dict)
    identity: str = "same"
    before_start: Callable[[], None] = lambda: None
    is_shutting_down: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class RuntimeDirectories:
    """The directories of the lock files and logs of one supervisor's children."""

    run_dir: Path
    log_dir: Path

    def create(self) -> None:
        """Create both directories, closed to other users."""
        for directory in (self.run_dir, self.log_dir):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)


class Child:
    """A program and its current process, if any."""

    def __init__(self, program: Program, directories: RuntimeDirectories) -> None:
        self.program = program
        self.log = directories.log_dir / f"{program.name}.log"
        self.lock_file = directories.run_dir / f"{program.name}.held"
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
            return self._restart() if now >= self.restart_at else ""
        if not self.has_ended():
            return self._force_stop()
        return self._schedule_restart(now)

    def stop(self) -> None:
        """Stop the process and its session: first with its stop signal, then with SIGKILL."""
        if self.process is None:
            return
        if not self.has_ended():
            self.process.send_signal(self.program.stop_signal)
            self._wait_for_end(self.program.stop_wait_s)
            self._end_group(self.process)
        self.process = None

    def wait_until(self, is_ready: Callable[[], bool], timeout_s: float) -> None:
        """Return when the process is ready. Raise CannotStartError with the end of its log if it ends or is late."""
        deadline = time.monotonic() + timeout_s
        while not is_ready():
            if self.has_ended():
                raise CannotStartError(f"{self.program.name} ended during its start. {self.log_excerpt()}")
            if time.monotonic() > deadline:
                raise CannotStartError(
                    f"{self.program.name} did not respond within {timeout_s:g} s. {self.log_excerpt()}"
                )
            time.sleep(0.05)

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

    def _schedule_restart(self, now: float) -> str:
        if now - self.started_at > STABLE_AFTER_S:
            self.restart_delay_s = MIN_RESTART_DELAY_S
        status = self.process.returncode if self.process else None
        self.process, self.restart_at = None, now + self.restart_delay_s
        text = f"{self.program.name} ended ({describe_exit_status(status)}); restarting in {self.restart_delay_s:g} s"
        self.restart_delay_s = min(self.restart_delay_s * 2, MAX_RESTART_DELAY_S)
        return text

    def _restart(self) -> str:
        self.start()
        return f"{self.program.name} restarted"

    def _wait_for_end(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not self.has_ended() and time.monotonic() < deadline:
            time.sleep(0.05)

    def _end_group(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def describe_exit_status(status: int | None) -> str:
    """Return a description of an exit status."""
    if status is None or status >= 0:
        return f"exit status {status}"
    return f"killed by {signal.Signals(-status).name}"
