"""Supervisor of a register on one machine: ordered start, restarts, and stop in the opposite order."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.db import Error, connections

from results.demonstration import examples
from runners.models import Dispatch
from runners.models.states import State
from webapp import env
from webapp.deployment.servers import WITHOUT_CHECKS, command_of
from webapp.embedded import Postgres, Redis
from webapp.monitoring.page_times import remove_counts
from webapp.supervisor.address import Address
from webapp.supervisor.child import LEFTOVER_TIMEOUT_S, Child, Program, wait_for
from webapp.supervisor.data_directory import DataDirectory, remove_addresses, write_addresses
from webapp.supervisor.errors import CannotStartError, StopRequestedError
from webapp.supervisor.lock_files import acquire, acquire_when_free


@contextlib.contextmanager
def database_connected(database_url: str) -> Iterator[None]:
    """Connect this process to the register's database for a moment.

    The supervisor read its own settings before it had started a server.
    """
    connections.settings["default"].update(env.parse_database_url(database_url))
    try:
        yield
    finally:
        connections["default"].close()


def running_message(database_url: str) -> str:
    """Return a message that names the runs that continue after this stop, or an empty string if there are none."""
    try:
        with database_connected(database_url):
            running = list(Dispatch.objects.filter(state=State.RUNNING).values_list("public_id", flat=True))
    except Error as error:
        return f"the lab runs that continue could not be listed: {error}"
    if not running:
        return ""
    return f"these lab runs continue, and the next start polls them again: {', '.join(running)}"


STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
POLL_INTERVAL_S = 0.5
EXAMPLES = "examples"  # the name of the program, its log and its lock
PREPARE_TIMEOUT_S = 600  # a large register's migrations
READY_TIMEOUT_S = 180  # five programs start together; on a busy machine each takes many seconds


def register_programs(address: Address, live: Address, environment: dict[str, str]) -> list[Program]:
    """Return the programs of a register in the order of their start: web servers, workers, and Celery beat.

    `live` is the address for waiting clients.
    """
    # `prepare` has run Django's checks, which take half a second of a processor in each program.
    checked = environment | WITHOUT_CHECKS
    return [
        Program("web", command_of("web", address), environment=environment),
        Program("live", command_of("live", live), environment=environment),
        Program("worker", command_of("worker"), environment=checked),
        Program("lab", command_of("lab"), environment=checked),
        Program("beat", command_of("beat"), stop_wait_s=2, environment=checked),
    ]


class Supervisor:
    """Supervisor of one register on one data directory. `report` shows the operator a message."""

    def __init__(self, data_dir: Path, address: Address, report: Callable[[str], None]) -> None:
        self.directory = DataDirectory(data_dir, report=report, wal_archive=settings.WAL_ARCHIVE)
        self.address = self.live = address
        self.report = report
        self.children: list[Child] = []
        self.database_url = ""

    def run(self) -> None:
        """Run until a stop signal arrives. Raise CannotStartError after stopping all children if the start fails."""
        self.directory.create()
        lock = acquire(self.directory.path / "lock")
        if lock is None:
            raise CannotStartError(
                f"{self.directory.path}: another `manage.py up` runs on it. Stop that process, or set DRIVECERT_DATA"
            )
        with os.fdopen(lock), stop_signals_raise():
            try:
                self._start()
                self._watch()
            except StopRequestedError as request:
                with contextlib.suppress(OSError):
                    self.report(f"\n{request}: stopping")
            finally:
                self._stop()

    def _start(self) -> None:
        # Wait until the last process of a killed supervisor has ended: it may still use the port or the cluster.
        for lock_file in sorted(self.directory.run_dir.glob("*.held")):
            os.close(acquire_when_free(lock_file, LEFTOVER_TIMEOUT_S))
        self.address.check_free()
        self.live = self.address.next_free()
        remove_counts(settings.METRICS_DIR)
        for log in self.directory.log_dir.glob("*.log"):
            log.replace(log.with_suffix(".log.1"))
        environment = self._start_servers() | self._default_settings()
        write_addresses(self.directory.run_dir, environment)
        self._prepare(environment)
        self.database_url = environment.get("DATABASE_URL") or settings.DATABASE_URL
        for program in register_programs(self.address, self.live, environment):
            self.report(f"starting {program.name}")
            self._start_program(program)
        self._wait_until_ready()
        self._announce()
        self._create_examples(environment)

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
        """Return the port, and the keys, the host names and the live address unless the operator set them."""
        defaults = {"PORT": str(self.address.port)}
        is_only_here = self.address.is_of_this_machine and not settings.PRODUCTION and not env.read_text("PUBLIC_URL")
        if is_only_here and not env.read_text("LIVE_URL"):
            defaults["LIVE_URL"] = self.live.url
        for variable, name in (("SECRET_KEY", "django"), ("ENCRYPTION_KEYS", "encryption")):
            if not env.read_text(variable):
                defaults[variable] = self.directory.secret(name)
        if not env.read_text("ALLOWED_HOSTS"):
            defaults["ALLOWED_HOSTS"] = ",".join(dict.fromkeys([*LOCAL_NAMES, self.address.host]))
        return defaults

    def _prepare(self, environment: dict[str, str]) -> None:
        """Run the program that migrates and fills the database, and then ends."""
        self.report("preparing the database")
        step = self._start_program(
            Program("prepare", [sys.executable, "manage.py", "prepare"], environment=environment)
        )
        if not wait_for(step.has_ended, PREPARE_TIMEOUT_S):
            raise CannotStartError(f"the database was not ready within {PREPARE_TIMEOUT_S} s. {step.log_excerpt()}")
        self.children.remove(step)
        if step.process is not None and step.process.returncode != 0:
            raise CannotStartError(f"the database could not be prepared. {step.log_excerpt()}")

    def _start_program(self, program: Program) -> Child:
        child = Child(program, self.directory.path)
        self.children.append(child)
        child.start()
        return child

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        for address, path in ((self.address, "/readyz"), (self.live, "/healthz")):
            while (response := address.get(path))[0] != HTTPStatus.OK:
                for child in self.children:
                    if child.has_ended():
                        raise CannotStartError(f"{child.program.name} ended during its start. {child.log_excerpt()}")
                if time.monotonic() > deadline:
                    raise CannotStartError(f"not ready within {READY_TIMEOUT_S} s. {path} reports: {response[1][:500]}")
                time.sleep(0.1)

    def _announce(self) -> None:
        login_file = self.directory.path / "first-login.txt"
        self.report(f"\nDrivecert is up: {self.address.shown_url}/")
        if login_file.exists():
            self.report(f"{login_file.read_text().strip()}\n(first user; stored in {login_file})")
        self.report(f"logs: {self.directory.log_dir}. Ctrl-C stops everything.")

    def _create_examples(self, environment: dict[str, str]) -> None:
        """Start the program that creates the example runs, unless the register has shown all of them."""
        if not settings.EXAMPLE_RUNS:
            return
        try:
            with database_connected(self.database_url):
                was_created = examples.was_created()
        except Error as error:
            self.report(f"the example runs were not created: {error}")
            return
        if was_created:
            return
        create = [sys.executable, "manage.py", "demo", "--once"]
        self._start_program(Program(EXAMPLES, create, environment=environment, runs_once=True))

    def _watch(self) -> None:
        while True:
            for child in list(self.children):
                if child.program.runs_once:
                    self._let_end(child)
                elif message := child.restart_if_ended():
                    self.report(message)
            time.sleep(POLL_INTERVAL_S)

    def _let_end(self, child: Child) -> None:
        """Forget a program that has ended by itself, and report what it could not do."""
        if not child.has_ended():
            return
        self.children.remove(child)
        if child.process is not None and child.process.returncode != 0:
            self.report(f"{child.program.name} failed. {child.log_excerpt()}")

    def _stop(self) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # a second signal does not stop it faster
        with contextlib.suppress(OSError):  # the terminal may have closed; the children are stopped anyway
            if self.database_url and (message := running_message(self.database_url)):
                self.report(message)
        remove_addresses(self.directory.run_dir)
        for child in reversed(self.children):
            child.stop()
        self.directory.remove_sockets()


@contextlib.contextmanager
def stop_signals_raise() -> Iterator[None]:
    """Turn TERM, Ctrl-C and a closed terminal into StopRequestedError in the main thread."""

    def raise_request(number: int, _frame: FrameType | None) -> None:
        raise StopRequestedError(signal.Signals(number).name)

    # Under nohup the register continues after the terminal closes.
    is_hangup_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    handled = [number for number in STOP_SIGNALS if number != signal.SIGHUP or not is_hangup_ignored]
    before = {number: signal.signal(number, raise_request) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
