"""Upgrade of the embedded cluster to another major version of PostgreSQL.

pg_upgrade copies the files (--copy) and does not link them: the old cluster stays whole, whatever happens to the new
one. If pg_upgrade fails, the rows are copied by pg_dump of the old version and pg_restore of the new one. Clusters of
15.20, for example, have a column option that pg_dump of 18.6 does not know. Only when one of the two has ended well do
the clusters exchange their names, in one step.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from results.evidence.durable import sync_directory
from webapp.embedded import USER, create_cluster
from webapp.supervisor.cluster_upgrade import read_control_data
from webapp.supervisor.data_directory import DataDirectory
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.identity import launch_command
from webapp.supervisor.lock_files import acquire, processes_in, program_name

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # linux/fs.h
SPARE_BYTES = 200 * 1024**2  # a new cluster, and the log of pg_upgrade
OUTPUT_LINES = 25
OLD_PORT, NEW_PORT = 5432, 5433  # parts of the names of sockets
DATABASES = "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY datname"
UNCHANGED = "The cluster is unchanged, and the release that created it can serve it"


class ClusterUpgrade:
    """The upgrade of the cluster in `postgres` under the data directory, given the programs of both versions."""

    def __init__(self, directory: DataDirectory, old: Path, new: Path, report: Callable[[str], None]) -> None:
        self.directory, self.old, self.new, self.report = directory, old.absolute(), new.absolute(), report
        self.cluster = directory.path / "postgres"
        self.upgraded = directory.path / "postgres.upgraded"

    def run(self) -> Path:
        """Upgrade the cluster and return the directory of the old one. Raises CannotStartError if nothing changed."""
        if not (self.cluster / "PG_VERSION").exists():
            raise CannotStartError(f"{self.cluster}: expected a cluster of PostgreSQL, found none. Set DRIVECERT_DATA")
        self.directory.create()
        lock = acquire(self.directory.path / "lock")
        if lock is None:
            raise CannotStartError(
                f"{self.directory.path}: a register runs on it. Stop it, then start the upgrade again"
            )
        with os.fdopen(lock):
            renamed = self._check()
            try:
                self._upgrade()
            finally:
                if not self._is_exchanged():
                    shutil.rmtree(self.upgraded, ignore_errors=True)
                self.directory.remove_sockets()
            try:
                self.upgraded.rename(renamed)
            except OSError as error:
                raise CannotStartError(f"{self._rename_message(renamed)} The system says: {error.strerror}") from error
            sync_directory(self.directory.path)
            return renamed

    def _is_exchanged(self) -> bool:
        """Return whether the directory of the new cluster has the old one: they have exchanged their names."""
        upgraded = version_of(self.upgraded)
        return upgraded is not None and upgraded < (version_of(self.cluster) or 0)

    def _rename_message(self, renamed: Path) -> str:
        return (
            f"{self.upgraded}: the old cluster. The upgrade is complete, but this directory did not get its name. "
            f"Rename it: mv -T {self.upgraded} {renamed}. Then start the register."
        )

    def _check(self) -> Path:
        """Raise CannotStartError unless the upgrade can begin. Return the later name of the old cluster."""
        if self._is_exchanged():
            raise CannotStartError(self._rename_message(self._renamed(version_of(self.upgraded))))
        renamed = self._renamed(self._check_versions())
        if renamed.exists():
            raise CannotStartError(f"{renamed}: the cluster of an earlier upgrade. Move it away. {UNCHANGED}")
        self._check_use()
        self._check_space()
        return renamed

    def _renamed(self, version: int | None) -> Path:
        """Return the later name of the old cluster."""
        return self.directory.path / f"postgres.{version}"

    def _upgrade(self) -> None:
        """Create the new cluster, copy the data, and exchange the names of both clusters."""
        self.directory.chown_to_server(self.cluster)
        control = self._control_data()
        if control.get("Database cluster state") != "shut down":
            self._shut_down()
        # pg_upgrade needs the same setting in both. initdb of 18 has checksums by default; older clusters have none.
        has_checksums = control.get("Data page checksum version") != "0"
        self._create("--data-checksums" if has_checksums else "--no-data-checksums")
        self.report("copying the files with pg_upgrade")
        try:
            self._pg_upgrade()
        except CannotStartError as error:
            self.report(f"{error}\ncopying the rows with pg_dump and pg_restore instead")
            self._create("--data-checksums")
            self._copy_rows()
        exchange(self.upgraded, self.cluster)

    def _create(self, checksums: str) -> None:
        shutil.rmtree(self.upgraded, ignore_errors=True)
        self.report(f"creating a cluster with {self.new}")
        create_cluster(self.directory, self.new, self.upgraded, [checksums])

    def _copy_rows(self) -> None:
        """Copy each database with both servers running. The old one is only read."""
        with self._serving(self.old, self.cluster, OLD_PORT), self._serving(self.new, self.upgraded, NEW_PORT):
            with self._connect(OLD_PORT) as session:
                databases = [name for (name,) in session.execute(DATABASES)]
            for database in databases:
                with self._connect(NEW_PORT) as session:
                    session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
                self._copy_database(database)
                with self._connect(NEW_PORT, database) as session:
                    session.execute("ANALYZE")

    def _copy_database(self, database: str) -> None:
        dump = [str(self.old / "pg_dump"), "--format=custom", "--compress=0", self._address(OLD_PORT, database)]
        restore = [str(self.new / "pg_restore"), "--exit-on-error", f"--dbname={self._address(NEW_PORT, database)}"]
        with (
            tempfile.TemporaryFile() as problems,
            subprocess.Popen(dump, stdout=subprocess.PIPE, stderr=problems, env=self._environment()) as dumping,
        ):
            restored = subprocess.run(
                restore, stdin=dumping.stdout, stderr=problems, env=self._environment(), check=False
            )
            assert dumping.stdout is not None  # noqa: S101 - for the type checker
            dumping.stdout.close()
            if dumping.wait() != 0 or restored.returncode != 0:
                problems.seek(0)
                text = problems.read().decode(errors="replace").strip()
                raise CannotStartError(f"database {database}: its rows could not be copied. {UNCHANGED}. {text}")

    @contextmanager
    def _serving(self, programs: Path, cluster: Path, port: int) -> Iterator[None]:
        """Serve a cluster on a socket that only this user reaches."""
        options = f"-c listen_addresses= -c port={port} -c unix_socket_directories={self.directory.socket_dir()}"
        control = [str(programs / "pg_ctl"), "--pgdata", str(cluster), "--wait", "--timeout=600"]
        log = str(cluster / "upgrade.log")
        self._run([*control, "--log", log, "--options", options, "start"])
        try:
            yield
        finally:
            self._run([*control, "--mode=fast", "stop"])
            Path(log).unlink()

    def _connect(self, port: int, database: str = "postgres") -> psycopg.Connection:
        password = self.directory.secret("postgres")
        return psycopg.connect(self._address(port, database), password=password, autocommit=True)

    def _address(self, port: int, database: str) -> str:
        return make_conninfo("", host=str(self.directory.socket_dir()), port=str(port), user=USER, dbname=database)

    def _environment(self) -> dict[str, str]:
        return os.environ | {"PGPASSWORD": self.directory.secret("postgres"), "LC_ALL": "C"}

    def _check_versions(self) -> int:
        found = version_of(self.cluster)
        old, new = major_version(self.old), major_version(self.new)
        if found is None or found != old:
            raise CannotStartError(
                f"{self.cluster}: created by PostgreSQL {found}, but {self.old} has PostgreSQL {old}. Give the "
                f"programs of version {found} by --old-programs. {UNCHANGED}"
            )
        if new <= old:
            raise CannotStartError(
                f"{self.new}: expected programs of a later version than {old}, found {new}. {UNCHANGED}"
            )
        return found

    def _check_use(self) -> None:
        for pid in processes_in(self.cluster):
            if program_name(pid) == "postgres":
                raise CannotStartError(f"{self.cluster}: process {pid} serves this cluster. Stop it. {UNCHANGED}")

    def _check_space(self) -> None:
        needed = sum(path.lstat().st_size for path in self.cluster.rglob("*") if not path.is_dir()) + SPARE_BYTES
        free = shutil.disk_usage(self.directory.path).free
        if free < needed:
            raise CannotStartError(
                f"{self.directory.path}: the copy needs {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free. Make "
                f"room. {UNCHANGED}"
            )

    def _control_data(self) -> dict[str, str]:
        return read_control_data(self.old, self.cluster)

    def _shut_down(self) -> None:
        """Start and stop a cluster that did not shut down, so that its log is replayed: pg_upgrade needs that."""
        self.report("shutting the old cluster down: it was not, after its last use")
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)  # no process works in the cluster
        with self._serving(self.old, self.cluster, OLD_PORT):
            pass

    def _pg_upgrade(self) -> None:
        work = self.upgraded.with_name("postgres.upgraded-log")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        try:
            self.directory.chown_to_server(work)
            bindirs = [f"--old-bindir={self.old}", f"--new-bindir={self.new}"]
            datadirs = [f"--old-datadir={self.cluster}", f"--new-datadir={self.upgraded}"]
            others = [f"--username={USER}", f"--socketdir={self.directory.socket_dir()}", "--copy"]
            self._run([str(self.new / "pg_upgrade"), *bindirs, *datadirs, *others], work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _run(self, command: Sequence[str], directory: Path | None = None) -> None:
        """Run a program under the identity of the servers. Raises CannotStartError with the end of its output."""
        done = subprocess.run(
            launch_command(list(command), signal.SIGKILL, self.directory.identity),
            cwd=directory or self.cluster,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            end = "\n".join(f"    {line}" for line in done.stdout.splitlines()[-OUTPUT_LINES:])
            problems = "".join(f"\n    {line}" for line in self._reported_problems())
            raise CannotStartError(
                f"{Path(command[0]).name} failed. {UNCHANGED}. The end of its output:\n{end}{problems}"
            )

    def _reported_problems(self) -> list[str]:
        """Return what pg_upgrade wrote about objects that it cannot upgrade: the files are removed afterwards."""
        directory = self.upgraded / "pg_upgrade_output.d"
        files = [*sorted(directory.glob("*/*.txt")), *sorted(directory.glob("*/log/pg_upgrade_dump_*.log"))]
        lines = {file.name: file.read_text(errors="replace").splitlines()[-OUTPUT_LINES:] for file in files}
        return [line for name, last in lines.items() for line in (f"{name}:", *last)]


def version_of(cluster: Path) -> int | None:
    """Return the major version of a cluster; None if there is none."""
    try:
        return int((cluster / "PG_VERSION").read_text().partition(".")[0])
    except FileNotFoundError:
        return None


def major_version(programs: Path) -> int:
    """Return the major version of the programs in a directory. Raises CannotStartError if it has none."""
    try:
        command = [str(programs / "postgres"), "--version"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotStartError(
            f"{programs}: expected the directory of PostgreSQL's programs, with `postgres` and `pg_upgrade`: {error}"
        ) from error
    return int(output.split()[2].partition(".")[0])  # of "postgres (PostgreSQL) 18.1"


def exchange(one: Path, other: Path) -> None:
    """Exchange the names of two directories in one step, so that there is no moment without a cluster."""
    libc = ctypes.CDLL(None, use_errno=True)
    paths = os.fsencode(one), os.fsencode(other)
    if libc.renameat2(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise CannotStartError(f"{other}: this file system cannot exchange two names: {reason}. {UNCHANGED}")
