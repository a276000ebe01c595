"""The manager of the stand-in for systemd, process 1 of the clean machine, and the client that sends it commands."""

import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .service import LOGS, Service
from .units import Unit, UnitError, ordered, started_with

SOCKET = "/run/systemd/stand-in"
INSTALLED = Path("/etc/systemd/system")
GENERATORS = Path("/usr/lib/systemd/system-generators")
SUFFIX = re.compile(r"\.(service|target|timer|socket|path|slice|mount)$")
SHOWN = {"active": "running", "restarting": "auto-restart"}


class Manager:
    """The first process: it owns all services, and reaps every process that ends."""

    def __init__(self) -> None:
        self.services: dict[str, Service] = {}
        self.started = {"sysinit.target", "multi-user.target"}  # targets, timers and others without processes
        self.statuses: dict[int, int] = {}
        self.watchers: dict[int, Callable[[int], None]] = {}
        self.changed = threading.Condition()
        self.jobs = threading.RLock()

    def fork(self) -> int:
        """Return the id of a new process in this process, and 0 in the new one."""
        with self.changed:  # the status of an earlier process with this id is forgotten before the new one can end
            pid = os.fork()
            self.statuses.pop(pid, None)
        return pid

    def reap(self) -> None:
        """Wait for processes to end, for ever."""
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                time.sleep(0.05)
                continue
            with self.changed:
                self.statuses[pid] = status
                watcher = self.watchers.pop(pid, None)
                self.changed.notify_all()
            if watcher:
                watcher(status)

    def watch(self, pid: int, watcher: Callable[[int], None]) -> None:
        """Call `watcher` with the status of a process when it has ended."""
        with self.changed:
            status = self.statuses.get(pid)
            if status is None:
                self.watchers[pid] = watcher
                return
        watcher(status)

    def wait(self, pid: int, limit: float) -> int | None:
        """Return the status of a process when it has ended, or None after a time."""
        with self.changed:
            self.changed.wait_for(lambda: pid in self.statuses, None if limit == float("inf") else max(limit, 0))
            return self.statuses.get(pid)

    def later(self, delay: float, job: Callable[[], None]) -> None:
        """Run a job after a time."""

        def run() -> None:
            with self.jobs:
                job()

        timer = threading.Timer(delay, run)
        timer.daemon = True
        timer.start()

    def service(self, name: str) -> Service:
        """Return the service of a unit."""
        if name not in self.services:
            self.services[name] = Service(self, Unit(name))
        return self.services[name]

    def state(self, name: str) -> str:
        """Return the state of a unit."""
        if name in self.services:
            return self.services[name].state
        return "active" if name in self.started else "inactive"

    def start(self, *names: str) -> None:
        """Start units and those that they need. Raises UnitError if one of them or a unit that it requires fails."""
        failed: dict[str, str] = {}
        for each in started_with(names, Unit):
            unit = Unit(each)
            missing = sorted(set(unit.names("Requires")) & failed.keys())
            if missing:
                failed[each] = f"{each}: {missing[0]}, which it requires, failed"
                continue
            for other in unit.names("Conflicts"):
                self.stop(other)
            try:
                if unit.kind == "service":
                    self.service(each).start()
                else:
                    self.started.add(each)
            except UnitError as error:
                failed[each] = str(error)
        if failed:
            print("\n".join(failed.values()), flush=True)
        if found := failed.keys() & set(names):
            raise UnitError(failed[min(found)])

    def stop(self, name: str) -> list[str]:
        """Stop a unit and those that depend on it. Return them in the order in which they start."""
        with suppress(UnitError):
            names = self._stopped_with(name)
            running = [each for each in names if self.state(each) != "inactive"]
            for each in reversed(names):
                self.started.discard(each)
                if each in self.services:
                    self.services[each].stop()
            return running
        return []

    def restart(self, name: str) -> None:
        """Stop a unit with those that depend on it, and start all of them."""
        for each in [name, *(each for each in self.stop(name) if each != name)]:
            self.start(each)

    def try_restart(self, name: str) -> None:
        """Restart a unit if it is active."""
        if self.state(name) == "active":
            self.restart(name)

    def reload(self, name: str) -> None:
        """Let a service read its configuration again."""
        self.service(name).reload()

    def reload_or_restart(self, name: str) -> None:
        """Reload a service that can reload, and restart another one."""
        can_reload = self.state(name) == "active" and self.service(name).unit.all("ExecReload")
        (self.reload if can_reload else self.restart)(name)

    def read_units(self) -> None:
        """Run the generators of packages, such as that of PostgreSQL for its clusters, and read all units again."""
        folders = [f"/run/systemd/{name}" for name in ("generator", "generator.early", "generator.late")]
        for folder in folders:
            Path(folder).mkdir(parents=True, exist_ok=True)
        for program in sorted(GENERATORS.glob("*")):
            pid = self.fork()
            if pid == 0:
                os.execv(program, [str(program), *folders])  # noqa: S606
            self.wait(pid, 30)
        for name, service in self.services.items():
            with suppress(UnitError):
                service.unit = Unit(name)

    def answer(self, words: list[str]) -> tuple[int, str]:
        """Return the exit status and the output of a command."""
        actions: dict[str, Callable[[str], object]] = {
            "start": self.start, "stop": self.stop, "restart": self.restart, "reload": self.reload,
            "try-restart": self.try_restart, "reload-or-restart": self.reload_or_restart,
            "enable": enable, "disable": disable, "preset": enable,  # as Debian's presets enable all units
        }  # fmt: skip
        verb, *names = [word for word in words if not word.startswith("-")] or ["list-units"]
        with self.jobs:
            if verb == "daemon-reload":
                self.read_units()
            elif verb == "list-units":
                return 0, self._listed(names)
            elif verb in {"is-active", "is-enabled"}:
                return self._shown(verb, [full(name) for name in names])
            elif verb not in actions:
                return 1, f"expected a verb of the stand-in, got {verb}; it has {', '.join(sorted(actions))}"
            else:
                try:
                    for name in map(full, names):
                        actions[verb](name)
                        if "--now" in words:
                            (self.start if verb == "enable" else self.stop)(name)
                except UnitError as error:
                    return 1, str(error)
        return 0, ""

    def serve(self) -> None:
        """Answer requests, for ever."""
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(SOCKET)
        server.listen()
        print("ready", flush=True)
        while True:
            client, _ = server.accept()
            threading.Thread(target=self._serve_one, args=(client,), daemon=True).start()

    def _serve_one(self, client: socket.socket) -> None:
        with client, client.makefile("rw") as stream:
            try:
                answer = self.answer(json.loads(stream.readline()))
            except Exception as error:  # noqa: BLE001 - the manager must go on
                answer = 1, f"{type(error).__name__}: {error}"
            with suppress(OSError):
                stream.write(json.dumps(answer) + "\n")

    def _stopped_with(self, name: str) -> list[str]:
        found = {name}
        active = [service.unit for service in self.services.values() if service.state != "inactive"]
        while more := {
            unit.name for unit in active if found & {*unit.names("PartOf"), *unit.names("Requires")}
        } - found:  # fmt: skip
            found |= more
        return ordered({each: Unit(each) for each in found})

    def _listed(self, patterns: list[str]) -> str:
        wanted = [re.compile(re.escape(pattern).replace(r"\*", ".*")) for pattern in patterns]
        known = sorted({*self.services, *self.started})
        chosen = [each for each in known if not wanted or any(one.fullmatch(each) for one in wanted)]
        return "\n".join(f"{each} loaded {self.state(each)} {self._detail(each)}" for each in chosen)

    def _detail(self, name: str) -> str:
        state = self.state(name)
        if state == "active" and not (name in self.services and self.services[name].main_pid):
            return "exited" if name in self.services else "active"
        return SHOWN.get(state, state)

    def _shown(self, verb: str, names: list[str]) -> tuple[int, str]:
        if verb == "is-enabled":
            states = ["enabled" if any(INSTALLED.glob(f"*.*/{name}")) else "disabled" for name in names]
            return int("disabled" in states), "\n".join(states)
        states = [self.state(name) for name in names]
        return (0 if "active" in states else 3), "\n".join(states)


def full(name: str) -> str:
    """Return a name with its suffix."""
    return name if SUFFIX.search(name) else f"{name}.service"


def enable(name: str) -> None:
    """Link a unit into the units that want it, at each start of the machine."""
    unit = Unit(name)
    for key, suffix in (("WantedBy", "wants"), ("RequiredBy", "requires")):
        for other in unit.names(key, "Install"):
            folder = INSTALLED / f"{other}.{suffix}"
            folder.mkdir(exist_ok=True)
            with suppress(FileExistsError):
                (folder / name).symlink_to(unit.path)


def disable(name: str) -> None:
    """Remove the links of a unit, which must exist."""
    Unit(name)
    for path in INSTALLED.glob(f"*.*/{name}"):
        path.unlink()


def manage() -> None:
    """Be the first process of a machine: start the units that are enabled, then serve requests."""
    manager = Manager()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    for folder in ("/run/systemd/system", "/run/lock", INSTALLED, LOGS):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for work in (manager.reap, receive_syslog):
        threading.Thread(target=work, daemon=True).start()
    manager.read_units()
    with suppress(UnitError):
        manager.start(*sorted(path.name for path in (INSTALLED / "multi-user.target.wants").glob("*.*")))
    manager.serve()


def receive_syslog() -> None:
    """Write what programs send to /dev/log into a file."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server.bind("/dev/log")
    Path("/dev/log").chmod(0o666)
    with (LOGS / "syslog.log").open("ab", buffering=0) as log:
        while True:
            log.write(server.recv(65536) + b"\n")


def ask(words: list[str]) -> int:
    """Send a command to the manager, print its output, and return its exit status."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(SOCKET)
        with client.makefile("rw") as stream:
            stream.write(json.dumps(words) + "\n")
            stream.flush()
            status, text = json.loads(stream.readline())
    if text and not {"--quiet", "-q"} & set(words):
        print(text, file=sys.stderr if status else sys.stdout)
    return int(status)
