"""Supervisor of a register on one machine: ordered start, restarts, and stop in the opposite order."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from django.db import Error, connections

from runners.models import Dispatch
from runners.models.states import State
from webapp import env
from webapp.embedded import DataDirectory, Postgres, Redis
from webapp.supervisor import programs
from webapp.supervisor.address import Address, remove_addresses, write_addresses
from webapp.supervisor.child import LEFTOVER_TIMEOUT_S, Child, Program
from webapp.supervisor.errors import CannotStartError, StopRequestedError
from webapp.supervisor.lock_files import acquire, acquire_when_free


def running_message(database_url: str) -> str:
    """Return a message that names the runs that continue after this stop, or an empty string if there are none."""
    # The supervisor read its own settings before it had started a server.
    connections.settings["default"].update(env.parse_database_url(database_url))
    try:
        running = list(Dispatch.objects.filter(state=State.RUNNING).values_list("public_id", flat=True))
    except Error as error:
        return f"the lab runs that continue could not be listed: {error}"
    finally:
        connections["default"].close()
    if not running:
        return ""
    return f"these lab runs continue, and the next start watches them again: {', '.join(running)}"


STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
POLL_INTERVAL_S = 0.5
PREPARE_TIMEOUT_S = 600  # a large register's migrations
READY_TIMEOUT_S = 180  # four programs start together; on a busy machine each takes many seconds


class Supervisor:
    """Supervisor of one register on one data directory. `report` shows the operator a message."""

    def __init__(self, data_dir: Path, address: Address, report: Callable[[str], None]) -> None:
        self.directory = DataDirectory(data_dir, report=report)
        self.address = address
        self.report = report
        self.children: list[Child] = []
        self.database_url = ""

    def run(self) -> None:
        """Run until a stop signal arrives. Raise CannotStartError after stopping all children if the start fails."""
        self.directory.create()
        with self._exclusive(), stop_signals_raise():
            try:
                self._start()
                self._watch()
            except StopRequestedError as request:
                with contextlib.suppress(OSError):
                    self.report(f"\n{request}: stopping")
            finally:
                self._stop()

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        path = self.directory.path / "lock"
        fd = acquire(path)
        if fd is None:
            raise CannotStartError(
                f"{self.directory.path}: another `manage.py up` runs on it. Stop that process, or set DRIVECERT_DATA"
            )
        try:
            yield
        finally:
            os.close(fd)

    def _start(self) -> None:
        self._wait_for_leftovers()
        self.address.check_free()
        self._rotate_logs()
        environment = self._start_servers() | self._default_settings()
        write_addresses(self.directory.runtime.run_dir, environment)
        self._prepare(environment)
        self.database_url = environment.get("DATABASE_URL") or env.read_text("DATABASE_URL")
        self._start_program(programs.web_program(self.address, environment))
        self._start_program(programs.worker_program(environment))
        self._start_program(programs.lab_program(environment))
        self._start_program(programs.beat_program(environment))
        self._wait_until_ready()
        self._announce()

    def _wait_for_leftovers(self) -> None:
        """Wait until the last process of a killed supervisor has ended: it may still use the port or the cluster."""
        for lock_file in sorted(self.directory.runtime.run_dir.glob("*.held")):
            os.close(acquire_when_free(lock_file, LEFTOVER_TIMEOUT_S))

    def _rotate_logs(self) -> None:
        """Keep the logs of the previous start."""
        for log in self.directory.runtime.log_dir.glob("*.log"):
            log.replace(log.with_suffix(".log.1"))

    def _start_servers(self) -> dict[str, str]:
        """Start the servers that the environment does not name. Return their addresses for the other processes."""
        environment = {}
        for variable, kind in (("DATABASE_URL", Postgres), ("REDIS_URL", Redis)):
            if not env.read_text(variable):
                server = kind(self.directory)
                self.report(f"starting {server.name}")
                self.children.append(server.child)
                server.start()
                environment[variable] = server.url
        return environment

    def _default_settings(self) -> dict[str, str]:
        """Return the secret key and the host names of a register on one machine, unless the operator set them."""
        defaults = {}
        if not env.read_text("SECRET_KEY"):
            defaults["SECRET_KEY"] = self.directory.secret("django")
        if not env.read_text("ALLOWED_HOSTS"):
            defaults["ALLOWED_HOSTS"] = ",".join(dict.fromkeys([*LOCAL_NAMES, self.address.host]))
        return defaults

    def _prepare(self, environment: dict[str, str]) -> None:
        self.report("preparing the database")
        step = self._start_program(programs.prepare_program(environment), announce=False)
        deadline = time.monotonic() + PREPARE_TIMEOUT_S
        while not step.has_ended():
            if time.monotonic() > deadline:
                raise CannotStartError(f"the database was not ready within {PREPARE_TIMEOUT_S} s. {step.log_excerpt()}")
            time.sleep(0.05)
        self.children.remove(step)
        if step.process is not None and step.process.returncode != 0:
            raise CannotStartError(f"the database could not be prepared. {step.log_excerpt()}")

    def _start_program(self, program: Program, *, announce: bool = True) -> Child:
        if announce:
            self.report(f"starting {program.name}")
        child = Child(program, self.directory.runtime)
        self.children.append(child)
        child.start()
        return child

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while (response := self.address.get("/readyz")).status != 200:
            for child in self.children:
                if child.has_ended():
                    raise CannotStartError(f"{child.program.name} ended during its start. {child.log_excerpt()}")
            if time.monotonic() > deadline:
                raise CannotStartError(f"not ready within {READY_TIMEOUT_S} s. /readyz reports: {response.text[:500]}")
            time.sleep(0.1)

    def _announce(self) -> None:
        login_file = self.directory.path / "first-login.txt"
        self.report(f"\nDrivecert is up: {self.address.url}/")
        if login_file.exists():
            self.report(f"{login_file.read_text().strip()}\n(first staff user; stored in {login_file})")
        self.report(f"logs: {self.directory.runtime.log_dir}. Ctrl-C stops everything.")

    def _watch(self) -> None:
        while True:
            for child in self.children:
                if message := child.restart_if_ended():
                    self.report(message)
            time.sleep(POLL_INTERVAL_S)

    def _report_lab_runs(self) -> None:
        message = running_message(self.database_url) if self.database_url else ""
        if message:
            self.report(message)

    def _stop(self) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # a second signal does not stop it faster
        with contextlib.suppress(OSError):  # the terminal may have closed; the children are stopped anyway
            self._report_lab_runs()
        remove_addresses(self.directory.runtime.run_dir)
        for child in reversed(self.children):
            child.stop()
        self.directory.remove_sockets()


@contextlib.contextmanager
def stop_signals_raise() -> Iterator[None]:
    """Turn TERM, Ctrl-C and a closed terminal into StopRequestedError in the main thread."""

    def raise_request(number: int, _frame: FrameType | None) -> None:
        raise StopRequestedError(signal.Signals(number).name)

    # Under nohup the register continues after the terminal closes.
    handled = [number for number in STOP_SIGNALS if number != signal.SIGHUP or is_not_ignored(number)]
    before = {number: signal.signal(number, raise_request) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_not_ignored(number: signal.Signals) -> bool:
    """Return whether the signal has an effect: the parent process may have set it to be ignored."""
    return signal.getsignal(number) is not signal.SIG_IGN
