"""The processes of one service: started with its user, variables and directories, watched, and stopped."""

import grp
import os
import pwd
import resource
import shlex
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from .units import DIRECTORIES, Unit, UnitError, arguments, environment_file, is_true, seconds, timeout

LOGS = Path("/var/log/services")
START_S, STOP_S = 90.0, 90.0
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NOT_STARTED = 203  # as systemd: the program could not be executed


class Processes(Protocol):
    """The part of the manager that a service needs."""

    def fork(self) -> int: ...
    def wait(self, pid: int, limit: float) -> int | None: ...
    def watch(self, pid: int, watcher: Callable[[int], None]) -> None: ...
    def later(self, delay: float, job: Callable[[], None]) -> None: ...


class Service:
    """The processes of a service."""

    def __init__(self, processes: Processes, unit: Unit) -> None:
        self.processes, self.unit = processes, unit
        self.state = "inactive"
        self.main_pid = 0
        self.is_stopping = False

    def start(self) -> None:
        """Start it, and return when it is started by its Type. Raises UnitError if it fails."""
        if self.state in {"active", "activating"}:
            return
        self.state, self.is_stopping = "activating", False
        try:
            self._make_directories()
            for line in self.unit.all("ExecStartPre"):
                self._run(line)
            self._start_main()
            for line in self.unit.all("ExecStartPost"):
                self._run(line)
        except (UnitError, KeyError) as error:  # KeyError: a user or group that does not exist
            self.state = "failed"
            raise UnitError(f"{self.unit.name}: {error}") from error

    def stop(self) -> None:
        """End the processes as KillMode says, and wait for the main one."""
        self.is_stopping = True
        end = time.monotonic() + timeout(self.unit.one("TimeoutStopSec"), STOP_S)
        with suppress(UnitError):
            for line in self.unit.all("ExecStop"):
                self._run(line)
        pid, mode = self.main_pid, self.unit.one("KillMode", "control-group")
        if pid:
            number = getattr(signal, self.unit.one("KillSignal", "SIGTERM"))
            _send(pid, number, is_group=mode == "control-group")
            if self.processes.wait(pid, end - time.monotonic()) is None:
                _send(pid, signal.SIGKILL, is_group=False)
                self.processes.wait(pid, STOP_S)
            if mode != "process":
                _send(pid, signal.SIGKILL, is_group=True)
        self.main_pid, self.state = 0, "inactive"

    def reload(self) -> None:
        """Run ExecReload. Raises UnitError if it fails."""
        if self.state != "active":
            raise UnitError(f"{self.unit.name} is not active, cannot reload.")
        for line in self.unit.all("ExecReload"):
            self._run(line)

    def variables(self) -> dict[str, str]:
        """Return the environment of its processes."""
        found = {"PATH": PATH, "LANG": "C.UTF-8"}
        if user := self.unit.one("User"):
            entry = pwd.getpwnam(user)
            found |= {"USER": user, "LOGNAME": user, "HOME": entry.pw_dir, "SHELL": entry.pw_shell}
        for value in self.unit.all("Environment"):
            found |= dict(word.split("=", 1) for word in shlex.split(value))
        for name in self.unit.all("EnvironmentFile"):
            path = self.unit.root / name.removeprefix("-").lstrip("/")
            if path.is_file():
                found |= environment_file(path.read_text())
            elif not name.startswith("-"):
                raise UnitError(f"{path} does not exist")
        if self.main_pid:
            found["MAINPID"] = str(self.main_pid)
        return found

    def _ended(self, status: int) -> None:
        """Note the end of the main process, and start it again if Restart says so."""
        code = os.waitstatus_to_exitcode(status)
        self.main_pid = 0
        if self.state == "activating":
            return  # `start` reports it
        restart = self.unit.one("Restart", "no")
        is_due = restart == "always" or (restart == "on-failure" and code != 0)
        if self.is_stopping or not is_due or str(code) in self.unit.one("RestartPreventExitStatus").split():
            self.state = "inactive" if code == 0 or self.is_stopping else "failed"
            return
        self.state = "restarting"
        self.processes.later(seconds(self.unit.one("RestartSec"), 0.1), self._restart)

    def _restart(self) -> None:
        if not self.is_stopping:
            with suppress(UnitError):
                self.start()

    def _start_main(self) -> None:
        kind, lines = self.unit.one("Type", "simple"), self.unit.all("ExecStart")
        limit = timeout(self.unit.one("TimeoutStartSec"), float("inf") if kind == "oneshot" else START_S)
        if kind == "oneshot":
            for line in lines:
                self._run(line)
            self.state = "active" if is_true(self.unit.one("RemainAfterExit")) else "inactive"
            return
        if kind == "forking":
            self._run(lines[0])
            self.main_pid = self._pid_in_file(limit)
            self.processes.watch(self.main_pid, self._ended)
        else:
            notices = Notices(self.unit.name) if kind.startswith("notify") else None
            self.main_pid = pid = self._fork(lines[0], notices)
            self.processes.watch(pid, self._ended)
            if notices and not notices.wait_until_ready(limit, lambda: self.main_pid == pid):
                raise UnitError("it did not report that it is ready")
        self.state = "active"

    def _pid_in_file(self, limit: float) -> int:
        path = self.unit.root / self.unit.one("PIDFile").lstrip("/")
        end = time.monotonic() + limit
        while not (path.is_file() and path.read_text().strip()):
            if time.monotonic() > end:
                raise UnitError(f"{path} was not written")
            time.sleep(0.05)
        return int(path.read_text().split()[0])

    def _run(self, line: str) -> None:
        limit = timeout(self.unit.one("TimeoutStartSec"), float("inf"))
        pid = self._fork(line, None)
        status = self.processes.wait(pid, limit)
        if status is None:
            _send(pid, signal.SIGKILL, is_group=True)
            raise UnitError(f"{line} did not end in {limit:.0f} s")
        code = os.waitstatus_to_exitcode(status)
        if code and not line.startswith("-"):
            raise UnitError(f"{line} ended with {code}; see {LOGS}/{self.unit.name}.log")

    def _fork(self, line: str, notices: "Notices | None") -> int:
        variables = self.variables()
        prefix, words = arguments(line, variables)
        if notices:
            variables["NOTIFY_SOCKET"] = notices.path
        command = words if set(prefix) & set("+!") else [*self._privileges(), *words]
        LOGS.mkdir(parents=True, exist_ok=True)
        pid = self.processes.fork()
        if pid:
            return pid
        try:
            self._set_up_child()
            os.execvpe(command[0], command, variables)  # noqa: S606
        except BaseException as error:  # noqa: BLE001 - the child must end here
            os.write(2, f"{self.unit.name}: {error}\n".encode())
        os._exit(NOT_STARTED)

    def _set_up_child(self) -> None:
        os.setsid()
        output = os.open(LOGS / f"{self.unit.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
        for number, descriptor in enumerate((os.open("/dev/null", os.O_RDONLY), output, output)):
            os.dup2(descriptor, number)
        os.chdir(self.unit.one("WorkingDirectory", "/").removeprefix("-"))
        os.umask(int(self.unit.one("UMask", "0022"), 8))
        if files := self.unit.one("LimitNOFILE"):
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            most = int(files) if hard == resource.RLIM_INFINITY else min(int(files), hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def _privileges(self) -> list[str]:
        """Return the command that gives a process its user and capabilities."""
        unit, options = self.unit, []
        if user := unit.one("User"):
            owner, group = self._owner()
            others = [grp.getgrnam(name).gr_gid for each in unit.all("SupplementaryGroups") for name in each.split()]
            groups = ",".join(str(number) for number in (*os.getgrouplist(user, group), *others))
            options += [f"--reuid={owner}", f"--regid={group}", f"--groups={groups}"]
        if ambient := [name for value in unit.all("AmbientCapabilities") for name in value.split()]:
            options += [f"--inh-caps={capabilities(ambient)}", f"--ambient-caps={capabilities(ambient)}"]
        if "CapabilityBoundingSet" in unit.values.get("Service", {}):
            options.append(f"--bounding-set={bounding_set(unit.all('CapabilityBoundingSet'))}")
        if is_true(unit.one("NoNewPrivileges")):
            options.append("--no-new-privs")
        return ["/usr/bin/setpriv", *options, "--"] if options else []

    def _owner(self) -> tuple[int, int]:
        entry, group = pwd.getpwnam(self.unit.one("User") or "root"), self.unit.one("Group")
        return entry.pw_uid, grp.getgrnam(group).gr_gid if group else entry.pw_gid

    def _make_directories(self) -> None:
        for key, parent in DIRECTORIES.items():
            for name in self.unit.one(key).split():
                path = Path(parent, name)
                path.mkdir(parents=True, exist_ok=True)
                path.chmod(int(self.unit.one(f"{key}Mode", "0755"), 8))
                os.chown(path, *self._owner())


class Notices:
    """The socket on which a service of the type `notify` reports that it is ready."""

    def __init__(self, name: str) -> None:
        self.path = f"/run/systemd/notify-{name}"
        Path(self.path).unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        Path(self.path).chmod(0o777)

    def wait_until_ready(self, limit: float, is_alive: Callable[[], bool]) -> bool:
        """Return whether the service has reported it in time."""
        end = time.monotonic() + limit
        self.socket.settimeout(0.2)
        while time.monotonic() < end and is_alive():
            with suppress(TimeoutError):
                if b"READY=1" in self.socket.recv(4096).splitlines():
                    return True
        return False


def capabilities(names: list[str]) -> str:
    """Return a list of capabilities as setpriv reads it."""
    return ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in names)


def bounding_set(values: list[str]) -> str:
    """Return a CapabilityBoundingSet as setpriv reads it: only these, or all but those after `~`."""
    names = " ".join(values).replace("~", "").split()
    if values and values[0].startswith("~"):
        return capabilities(names).replace("+", "-")
    return ",".join(filter(None, ["-all", capabilities(names)]))


def _send(pid: int, number: int, *, is_group: bool) -> None:
    """Send a signal to a process, or to all of its group, which may outlive it."""
    with suppress(ProcessLookupError):
        if is_group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
