"""Start everything in order, keep it running, stop it in the opposite order."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from webapp import env
from webapp.embedded import Embedded, Postgres, Redis
from webapp.supervisor import programs
from webapp.supervisor.address import Address
from webapp.supervisor.child import LEFTOVER_PATIENCE_S, Child, Program
from webapp.supervisor.errors import CannotStartError, StopRequestedError
from webapp.supervisor.held import hold, hold_when_free
from webapp.supervisor.lab_runs import tell_running
from webapp.supervisor.running import forget_addresses, write_addresses

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
LOOK_EVERY_S = 0.5
PREPARE_PATIENCE_S = 600  # a large register's migrations
READY_PATIENCE_S = 180  # four programs start at once, on a busy machine each in many seconds


class Supervisor:
    """One register on one data directory. `say` shows the operator a line."""

    def __init__(self, data_dir: Path, address: Address, say: Callable[[str], None]) -> None:
        self.embedded = Embedded(data_dir)
        self.address = address
        self.say = say
        self.children: list[Child] = []
        self.database_url = ""

    def run(self) -> None:
        """Run until asked to stop. Raises CannotStartError, with everything stopped again."""
        self.embedded.make_places()
        with self._only_one(), stop_signals_raise():
            try:
                self._start()
                self._watch()
            except StopRequestedError as request:
                with contextlib.suppress(OSError):
                    self.say(f"\n{request}: stopping")
            finally:
                self._stop()

    @contextlib.contextmanager
    def _only_one(self) -> Iterator[None]:
        path = self.embedded.data_dir / "lock"
        fd = hold(path)
        if fd is None:
            raise CannotStartError(
                f"{self.embedded.data_dir}: another `manage.py up` runs on it. Stop that one, or set DRIVECERT_DATA"
            )
        try:
            yield
        finally:
            os.close(fd)

    def _start(self) -> None:
        self._wait_for_leftovers()
        self.address.refuse_if_taken()
        self._rotate_logs()
        environment = self._start_servers() | self._own_settings()
        write_addresses(self.embedded.places.run_dir, environment)
        self._prepare(environment)
        self.database_url = environment.get("DATABASE_URL") or env.read_text("DATABASE_URL")
        self._start_program(programs.web_program(self.address, environment))
        self._start_program(programs.worker_program(environment))
        self._start_program(programs.lab_program(environment))
        self._start_program(programs.beat_program(environment))
        self._wait_until_ready()
        self._announce()

    def _wait_for_leftovers(self) -> None:
        """Wait until the last process of a supervisor that was killed has ended: it may still hold port or cluster."""
        for held in sorted(self.embedded.places.run_dir.glob("*.held")):
            os.close(hold_when_free(held, LEFTOVER_PATIENCE_S))

    def _rotate_logs(self) -> None:
        """Keep the log of the start before this one."""
        for log in self.embedded.places.log_dir.glob("*.log"):
            log.replace(log.with_suffix(".log.1"))

    def _start_servers(self) -> dict[str, str]:
        """Start the servers that the environment does not give; return what the other processes need to know."""
        environment = {}
        for variable, kind in (("DATABASE_URL", Postgres), ("REDIS_URL", Redis)):
            if not env.read_text(variable):
                server = kind(self.embedded)
                self.say(f"starting {server.name}")
                self.children.append(server.child)
                server.start()
                environment[variable] = server.url
        return environment

    def _own_settings(self) -> dict[str, str]:
        """Return what a machine of its own settles itself, where the operator has not: a key, and the name it has."""
        settled = {}
        if not env.read_text("SECRET_KEY"):
            settled["SECRET_KEY"] = self.embedded.secret("django")
        if not env.read_text("ALLOWED_HOSTS"):
            settled["ALLOWED_HOSTS"] = ",".join(dict.fromkeys([*OWN_NAMES, self.address.host]))
        return settled

    def _prepare(self, environment: dict[str, str]) -> None:
        self.say("preparing the database")
        step = self._start_program(programs.prepare_program(environment), tell=False)
        deadline = time.monotonic() + PREPARE_PATIENCE_S
        while not step.has_ended():
            if time.monotonic() > deadline:
                raise CannotStartError(f"the database was not ready in {PREPARE_PATIENCE_S} s. {step.tell_log()}")
            time.sleep(0.05)
        self.children.remove(step)
        if step.process is not None and step.process.returncode != 0:
            raise CannotStartError(f"the database could not be prepared. {step.tell_log()}")

    def _start_program(self, program: Program, *, tell: bool = True) -> Child:
        if tell:
            self.say(f"starting {program.name}")
        child = Child(program, self.embedded.places)
        self.children.append(child)
        child.start()
        return child

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_PATIENCE_S
        while (answer := self.address.ask("/readyz")).status != 200:
            for child in self.children:
                if child.has_ended():
                    raise CannotStartError(f"{child.program.name} ended while it started. {child.tell_log()}")
            if time.monotonic() > deadline:
                raise CannotStartError(f"not ready in {READY_PATIENCE_S} s; /readyz says: {answer.text[:500]}")
            time.sleep(0.1)

    def _announce(self) -> None:
        note = self.embedded.data_dir / "first-login.txt"
        self.say(f"\nDrivecert is up: {self.address.url}/")
        if note.exists():
            self.say(f"{note.read_text().strip()}\n(first staff user; kept in {note})")
        self.say(f"logs: {self.embedded.places.log_dir}. Ctrl-C stops everything.")

    def _watch(self) -> None:
        while True:
            for child in self.children:
                told = child.tend()
                if told:
                    self.say(told)
            time.sleep(LOOK_EVERY_S)

    def _tell_lab_runs(self) -> None:
        told = tell_running(self.database_url) if self.database_url else ""
        if told:
            self.say(told)

    def _stop(self) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # being asked twice does not make it faster
        with contextlib.suppress(OSError):  # the terminal may have closed; the children are stopped all the same
            self._tell_lab_runs()
        forget_addresses(self.embedded.places.run_dir)
        for child in reversed(self.children):
            child.stop()
        self.embedded.remove_sockets()


@contextlib.contextmanager
def stop_signals_raise() -> Iterator[None]:
    """Turn TERM, Ctrl-C and a closed terminal into StopRequestedError in the main thread."""

    def raise_request(number: int, _frame: FrameType | None) -> None:
        raise StopRequestedError(signal.Signals(number).name)

    # Who starts us under nohup wants us to outlive the terminal.
    wanted = [number for number in STOP_SIGNALS if number != signal.SIGHUP or is_heeded(number)]
    before = {number: signal.signal(number, raise_request) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_heeded(number: signal.Signals) -> bool:
    """Tell whether whoever started us left the signal its effect."""
    return signal.getsignal(number) is not signal.SIG_IGN
