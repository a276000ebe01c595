"""A cluster of Debian's PostgreSQL 15 becomes one of the wheel's PostgreSQL."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest

from webapp.embedded import DATABASE, USER, Postgres, find_postgres
from webapp.supervisor.data_directory import DataDirectory
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.identity import launch_command
from webapp.supervisor.lock_files import acquire, acquire_when_free
from webapp.supervisor.major_upgrade import ClusterUpgrade, exchange, version_of

OLD = Path("/usr/lib/postgresql/15/bin")
needs_old = [
    pytest.mark.long,
    pytest.mark.skipif(not (OLD / "initdb").exists(), reason="no postgresql-15: run install_postgresql_15.sh"),
]
ROWS = 1000
ALL_ROWS = ROWS, ROWS * (ROWS + 1) // 2


class OldCluster:
    """A cluster of PostgreSQL 15 in a data directory of the register."""

    def __init__(self, path):
        self.directory = DataDirectory(path, durable=False)
        self.directory.create()
        self.cluster = path / "postgres"

    def create(self):
        self.cluster.mkdir(mode=0o700)
        self.directory.chown_to_server(self.cluster)
        password = self.directory.write_server_file("password", self.directory.secret("postgres"))
        self.run("initdb", "-D", self.cluster, "-U", USER, f"--pwfile={password}", "--auth=scram-sha-256",
                 "--encoding=UTF8", "--locale=C", "--no-sync")  # fmt: skip
        return self

    def run(self, program, *arguments):
        command = launch_command([str(OLD / program), *map(str, arguments)], signal.SIGKILL, self.directory.identity)
        subprocess.run(command, cwd=self.cluster, check=True, stdout=subprocess.DEVNULL)

    def start(self):
        options = f"-c listen_addresses= -c fsync=off -c unix_socket_directories={self.directory.socket_dir()}"
        log = self.directory.log_dir / "old.log"
        self.run("pg_ctl", "-D", self.cluster, "-w", "-l", log, "-o", options, "start")

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.cluster, "-w", "-m", mode, "stop")

    def connect(self, database=DATABASE):
        address = {"host": str(self.directory.socket_dir()), "user": USER}
        return psycopg.connect(dbname=database, password=self.directory.secret("postgres"), autocommit=True, **address)

    def execute(self, *statements, database=DATABASE):
        with self.connect(database) as session:
            for statement in statements:
                session.execute(statement)

    def rows(self):
        with self.connect() as session:
            return session.execute("SELECT count(*), sum(number) FROM stored").fetchone()

    def upgrade(self, new=None):
        return ClusterUpgrade(self.directory, OLD, new or find_postgres(), print).run()


@pytest.fixture
def old_cluster():
    """A cluster with rows that runs; it is removed at the end."""
    parent = Path(tempfile.mkdtemp(prefix="drivecert-upgrade-"))
    parent.chmod(0o711)
    old = OldCluster(parent / "var").create()
    old.start()
    old.execute(f"CREATE DATABASE {DATABASE}", database="postgres")
    old.execute("CREATE TABLE stored AS SELECT number FROM generate_series(1, 1000) AS number",
                "CREATE INDEX ON stored (number)")  # fmt: skip
    yield old
    if (old.cluster / "postmaster.pid").exists():
        old.stop("immediate")
    old.directory.remove_sockets()
    shutil.rmtree(parent)


# As clusters are that 15.19 or an earlier release created: without an option that pg_dump of 18.6 does not know.
WITHOUT_VERSIONS = ("SET allow_system_table_mods = on", "UPDATE pg_attribute SET attoptions = NULL")


class TestUpgrade:
    pytestmark = needs_old

    @pytest.mark.parametrize("is_by_files", [True, False])
    def test_the_wheel_serves_a_cluster_of_15_and_the_old_one_is_kept(self, old_cluster, capsys, is_by_files):
        if is_by_files:
            for database in (DATABASE, "postgres", "template1"):
                old_cluster.execute(*WITHOUT_VERSIONS, database=database)
        else:
            # What pg_upgrade refuses: a column whose values are numbers of functions in this cluster.
            old_cluster.execute("CREATE TABLE by_number AS SELECT 'now'::regproc AS function")
        old_cluster.stop("immediate")
        kept = old_cluster.upgrade()
        server = Postgres(old_cluster.directory)
        try:
            server.start()
            assert old_cluster.rows() == ALL_ROWS
        finally:
            server.child.stop()
            os.close(acquire_when_free(server.child.lock_file, 60))
        assert (kept.name, (kept / "PG_VERSION").read_text().strip()) == ("postgres.15", "15")
        assert ("instead" in capsys.readouterr().out) != is_by_files
        assert not (old_cluster.directory.path / "postgres.upgraded").exists()


class TestFailure:
    pytestmark = needs_old

    def test_the_old_cluster_is_usable_after_an_upgrade_that_fails(self, old_cluster):
        old_cluster.stop()
        # The upgrade fails in the middle: pg_restore of the new version ends while it writes the schema.
        wheel = find_postgres()
        broken = old_cluster.directory.path / "pginstall"
        broken.mkdir()
        for entry in wheel.parent.iterdir():
            (broken / entry.name).symlink_to(entry)
        (broken / "bin").unlink()
        (broken / "bin").mkdir()
        for program in wheel.iterdir():
            runs = f'exec "{program}" "$@"'
            ends = f'case "$1" in -V|--version) {runs};; esac; exit 1'
            (broken / "bin" / program.name).write_text(f"#!/bin/sh\n{ends if program.name == 'pg_restore' else runs}\n")
            (broken / "bin" / program.name).chmod(0o755)
        with pytest.raises(CannotStartError, match=r"its rows could not be copied\. The cluster is unchanged"):
            old_cluster.upgrade(broken / "bin")
        old_cluster.start()
        assert old_cluster.rows() == ALL_ROWS
        assert (old_cluster.cluster / "PG_VERSION").read_text().strip() == "15"
        assert not (old_cluster.directory.path / "postgres.upgraded").exists()

    def test_a_cluster_in_use_and_wrong_programs_are_refused(self, old_cluster):
        with pytest.raises(CannotStartError, match="serves this cluster"):
            old_cluster.upgrade()
        with pytest.raises(CannotStartError, match="expected programs of a later version than 15, found 15"):
            old_cluster.upgrade(OLD)
        wheel = find_postgres()
        with pytest.raises(CannotStartError, match=r"created by PostgreSQL 15, but .* has PostgreSQL 18"):
            ClusterUpgrade(old_cluster.directory, wheel, wheel, print).run()
        lock = acquire(old_cluster.directory.path / "lock")
        with pytest.raises(CannotStartError, match="a register runs on it"):
            old_cluster.upgrade()
        os.close(lock)
        assert old_cluster.rows() == ALL_ROWS


def test_a_directory_without_a_cluster_is_refused(tmp_path):
    with pytest.raises(CannotStartError, match="expected a cluster of PostgreSQL, found none"):
        ClusterUpgrade(DataDirectory(tmp_path, durable=False), OLD, OLD, print).run()


def test_a_directory_without_programs_is_refused(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(CannotStartError, match="expected the directory of PostgreSQL's programs"):
        ClusterUpgrade(DataDirectory(tmp_path, durable=False), tmp_path, tmp_path, print).run()


def test_two_directories_exchange_their_names(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    exchange(tmp_path / "one", tmp_path / "other")
    assert (tmp_path / "one" / "other").exists()
    assert (tmp_path / "other" / "one").exists()


@pytest.fixture
def two_clusters(tmp_path, monkeypatch):
    """An upgrade that only exchanges the names of an old and a new cluster."""
    for name, version in (("postgres", 15), ("postgres.upgraded", 18)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "PG_VERSION").write_text(f"{version}\n")
    upgrade = ClusterUpgrade(DataDirectory(tmp_path, durable=False), OLD, OLD, print)
    monkeypatch.setattr(upgrade, "_check", lambda: tmp_path / "postgres.15")
    monkeypatch.setattr(upgrade, "_upgrade", lambda: exchange(upgrade.upgraded, upgrade.cluster))
    return upgrade


def test_an_interruption_before_the_exchange_removes_the_new_cluster(two_clusters, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(two_clusters, "_upgrade", interrupt)
    with pytest.raises(KeyboardInterrupt):
        two_clusters.run()
    assert not two_clusters.upgraded.exists()
    assert version_of(two_clusters.cluster) == 15


def test_an_interruption_after_the_exchange_keeps_the_old_cluster_and_the_next_upgrade_names_it(
    two_clusters, monkeypatch
):
    def interrupt():
        exchange(two_clusters.upgraded, two_clusters.cluster)
        raise KeyboardInterrupt

    monkeypatch.setattr(two_clusters, "_upgrade", interrupt)
    with pytest.raises(KeyboardInterrupt):
        two_clusters.run()
    assert (version_of(two_clusters.upgraded), version_of(two_clusters.cluster)) == (15, 18)
    with pytest.raises(CannotStartError, match=r"Rename it: mv .*postgres\.upgraded .*postgres\.15\."):
        ClusterUpgrade(two_clusters.directory, OLD, OLD, print).run()
    assert version_of(two_clusters.upgraded) == 15


def test_an_old_cluster_that_cannot_be_renamed_is_kept(two_clusters):
    (two_clusters.directory.path / "postgres.15" / "other").mkdir(parents=True)
    with pytest.raises(CannotStartError, match=r"The upgrade is complete.*Directory not empty"):
        two_clusters.run()
    assert version_of(two_clusters.upgraded) == 15
    (two_clusters.directory.path / "postgres.15" / "other").rmdir()
    assert version_of(two_clusters.cluster) == 18
