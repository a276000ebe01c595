"""The archive of PostgreSQL's log, and a recovery with the commands of docs/how-to/recover-to-a-moment.md."""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from webapp.embedded import Postgres, find_postgres
from webapp.supervisor.data_directory import DataDirectory
from webapp.supervisor.lock_files import acquire_when_free
from webapp.supervisor.wal_archive import archive


@pytest.fixture
def place():
    """A directory that other accounts can enter, unlike that of pytest."""
    parent = Path(tempfile.mkdtemp(prefix="drivecert-archive-"))
    parent.chmod(0o711)
    yield parent
    shutil.rmtree(parent)


def test_a_segment_is_archived_once_and_never_replaced(tmp_path):
    source, directory = tmp_path / "segment", tmp_path / "archive"
    directory.mkdir()
    source.write_bytes(b"first")
    assert archive(directory, source, "0001") == ""
    assert archive(directory, source, "0001") == ""
    source.write_bytes(b"other")
    assert "found other bytes" in archive(directory, source, "0001")
    assert [(path.name, path.read_bytes()) for path in directory.iterdir()] == [("0001", b"first")]


def test_a_segment_that_cannot_be_archived_is_an_error(tmp_path):
    (tmp_path / "segment").touch()
    assert "not archived: No such file" in archive(tmp_path / "missing", tmp_path / "segment", "0001")


@pytest.mark.long
def test_a_lost_cluster_is_recovered_to_a_moment_between_two_rows(place):
    directory = DataDirectory(place / "var", wal_archive=place / "wal 100%")
    directory.create()
    with running(directory) as server:
        moment = write_rows(server, place / "base")
    shutil.copy2(directory.path / "secrets" / "postgres", place / "password")
    shutil.rmtree(directory.path)  # the disk is lost
    (directory.path / "secrets").mkdir(parents=True)
    shutil.copy2(place / "password", directory.path / "secrets" / "postgres")
    directory.create()
    prepare_recovery(server.cluster, place, moment)
    with running(directory) as server, psycopg.connect(server.url) as session:
        names = [name for (name,) in session.execute("SELECT name FROM moments ORDER BY at")]
        session.execute("CREATE TABLE can_be_written ()")
    assert names == ["in the full base backup", "in the incremental base backup", "in the archive"]


@contextmanager
def running(directory):
    server = Postgres(directory)
    try:
        server.start()
        yield server
    finally:
        server.child.stop()
        os.close(acquire_when_free(server.child.lock_file, 60))
        server.directory.remove_sockets()


def write_rows(server, base):
    """Make base backups between rows, and return the moment before the last row. All of them are in the archive."""
    base.mkdir()
    copy = [find_postgres() / "pg_basebackup", f"--dbname={server.url}", "--checkpoint=fast", "--pgdata"]
    with psycopg.connect(server.url, autocommit=True) as session:
        session.execute("CREATE TABLE moments (name text, at timestamptz DEFAULT clock_timestamp())")
        add_row(session, "in the full base backup")
        subprocess.run([*copy, base / "full"], check=True)
        add_row(session, "in the incremental base backup")
        subprocess.run([*copy, base / "monday", f"--incremental={base / 'full' / 'backup_manifest'}"], check=True)
        add_row(session, "in the archive")
        (moment,) = session.execute("SELECT clock_timestamp()::text").fetchone()
        add_row(session, "a mistake")
        (segment,) = session.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
    wait_for(server.directory.wal_archive / segment)
    return moment


def add_row(session, name):
    session.execute("INSERT INTO moments (name) VALUES (%s)", [name])


def prepare_recovery(cluster, place, moment):
    programs, base = find_postgres(), place / "base"
    subprocess.run([programs / "pg_combinebackup", base / "full", base / "monday", "--output", cluster], check=True)
    subprocess.run([programs / "pg_verifybackup", "--quiet", cluster], check=True)
    with (cluster / "postgresql.auto.conf").open("a") as settings:
        settings.write(f'restore_command = \'cp "{place}/wal 100%%/%f" "%p"\'\n')
        settings.write(f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n")
    (cluster / "recovery.signal").touch()


def wait_for(path):
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} was not archived"
        time.sleep(0.05)
