"""The register on one machine: killed, refused and restarted processes, and leftovers."""

import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest
import redis

from tests.register import (
    WITH_EXAMPLES,
    WITH_USUAL_COLLECTIONS,
    WITHOUT_SNAPSHOTS,
    Register,
    command_of,
    copy_prepared_data,
    opened_by,
    parent_of,
    wait_for,
)

pytestmark = pytest.mark.faults
NOBODY_UID = 65534
NAMES = ["postgres", "redis", "web", "live", "worker", "lab", "beat"]


def register_under(directory):
    # The path is longer than a socket path may be, and private.
    parent = directory / ("long" * 25)
    parent.mkdir(mode=0o700)
    return Register(parent / "var", **WITHOUT_SNAPSHOTS, **WITH_USUAL_COLLECTIONS)


@pytest.fixture
def register(tmp_path):
    register = register_under(tmp_path)
    yield register
    register.end()


@pytest.fixture(scope="module")
def survivor(tmp_path_factory):
    """Yield a register that several tests stop, kill and damage in turn.

    A start takes ten seconds of processor time, so tests that need a running register come before those that end it.
    """
    register = register_under(tmp_path_factory.mktemp("survivor"))
    copy_prepared_data(tmp_path_factory, register.data_dir)
    yield register
    register.end()


@pytest.fixture
def running(survivor):
    if survivor.supervisor is None or survivor.supervisor.poll() is not None:
        survivor.start_and_wait()
    return survivor


@pytest.fixture
def stopped(survivor):
    """Return a register that has run and is stopped now."""
    if survivor.supervisor is None:
        survivor.start_and_wait()
    if survivor.supervisor.poll() is None:
        survivor.stop()
    return survivor


@pytest.fixture
def stranger():
    """Yield a process that does not belong to the register."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def sockets(register):
    return Path((register.data_dir / "run" / "sockets").read_text())


def test_a_port_in_use_is_reported_before_any_process_starts(register):
    with socket.socket() as other:
        other.bind(("127.0.0.1", register.port))
        other.listen()
        done = register.run_command("up")
    assert done.returncode == 1
    assert f"port {register.port} on 127.0.0.1 cannot be used" in done.stderr
    assert not (register.data_dir / "postgres").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("name", [".s.PGSQL.5432", "redis.sock"])
def test_another_user_of_the_machine_cannot_reach_a_server(running, name):
    path = sockets(running) / name
    connect_as(os.geteuid(), path)  # this user can connect
    with pytest.raises(PermissionError):
        connect_as(NOBODY_UID, path)


def connect_as(uid, path):
    """Connect with another user's file permissions, in this process and for this call only."""
    own = os.geteuid()
    os.seteuid(uid)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
    finally:
        os.seteuid(own)


def test_reaching_the_socket_is_not_enough(running):
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(host=str(sockets(running)), user="drivecert", dbname="drivecert")
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(unix_socket_path=str(sockets(running) / "redis.sock")).ping()


def test_only_the_web_servers_listen_and_on_loopback_alone(running):
    def both_listen():  # a restarted server listens later, and the kernel lists sockets in parts while others change
        return {running.port} < {port for _, port in listening(running)}

    wait_for(both_listen, lambda: str(listening(running)))
    loopback = "0100007F"  # 127.0.0.1, as the kernel writes it
    found = listening(running)
    assert {address for address, _ in found} == {loopback}
    assert len(found) <= 2, found  # the other one is for waiting clients


def listening(register):
    """Return the addresses and ports at which the processes of a register listen."""
    inodes = {inode for pid in register.processes() for inode in socket_inodes(pid)}
    return {
        (address, int(port, 16))
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
        if fields[3] == "0A" and fields[9] in inodes
        for address, port in [fields[1].split(":")]
    }


def socket_inodes(pid):
    links = map(str, opened_by(Path(f"/proc/{pid}")))
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def test_a_second_supervisor_reports_the_first_and_does_not_change_it(running):
    before = [running.pid_of(name) for name in NAMES]  # some of PostgreSQL's other processes come and go
    done = running.run_command("up", PORT="1")
    assert done.returncode == 1
    assert "another `manage.py up` runs on it" in done.stderr
    assert [running.pid_of(name) for name in NAMES] == before


@pytest.mark.parametrize("name", NAMES)
def test_a_child_that_was_killed_is_started_again(running, name):
    first, message = running.pid_of(name), f"{name} restarted"
    count_before = running.output_summary().count(message)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: running.output_summary().count(message) > count_before, running.output_summary)
    wait_for(lambda: running.ready()[0] == 200, lambda: str(running.ready()))
    assert running.pid_of(name) != first


def test_the_next_start_comes_up_at_once_after_a_kill(running):
    login = (running.data_dir / "first-login.txt").read_text()
    running.kill()
    running.start_and_wait()
    assert running.ready()[0] == 200
    assert login in running.output_summary()


def test_stale_lock_files_that_name_a_living_stranger_do_not_stop_a_start(running, stranger):
    pid_file = running.data_dir / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    os.kill(running.pid_of("postgres"), signal.SIGKILL)
    running.kill()
    wait_for(lambda: running.processes() == [], running.processes_summary)
    # As after a power cut, when the pid belongs to another process.
    pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
    (sockets(running) / ".s.PGSQL.5432.lock").write_text(pid_file.read_text())
    running.start_and_wait()
    assert running.ready()[0] == 200
    assert stranger.poll() is None


def test_a_killed_supervisor_takes_all_its_processes_along(running):
    assert len(running.processes()) > 10  # supervisor, servers, web, worker, beat and their own children
    running.kill()
    wait_for(lambda: running.processes() == [], running.processes_summary)


def test_a_supervisor_killed_while_its_web_processes_start_takes_them_along(stopped):
    stopped.start()
    wait_for(lambda: serving_processes(stopped), stopped.output_summary)
    stopped.kill()
    wait_for(lambda: stopped.processes() == [], stopped.processes_summary)


def serving_processes(register):
    """Return the processes that granian's main process has started, ready or not.

    From Python 3.14 they do not have its command line, and a helper of multiprocessing runs next to them.
    """
    parents = {pid: parent_of(Path(f"/proc/{pid}")) for pid in register.processes()}
    main = [
        pid for pid, parent in parents.items() if parent == register.supervisor.pid and "granian" in command_of(pid)
    ]
    return [pid for pid, parent in parents.items() if parent in main and "resource_tracker" not in command_of(pid)]


def test_a_server_that_is_not_ours_in_the_cluster_stops_a_start(stopped):
    """Two PostgreSQL servers on one cluster would destroy it; an operator may have started one manually."""
    cluster = stopped.data_dir / "postgres"
    foreign = subprocess.Popen([sleep_named_postgres(stopped), "600"], cwd=cluster)
    try:
        done = stopped.run_command("up")
        assert done.returncode == 1
        assert f"process {foreign.pid} already serves this cluster" in done.stderr
    finally:
        foreign.kill()
        foreign.wait()


def sleep_named_postgres(register):
    copy = register.data_dir.parent / "postgres"
    copy.write_bytes(Path("/bin/sleep").read_bytes())
    copy.chmod(0o755)
    return str(copy)


def test_term_stops_every_process_with_status_0(running):
    directory = sockets(running)
    assert running.stop() == 0
    assert not directory.exists()
    # If PostgreSQL had to be killed because its drive is busy, its processes end by themselves.
    wait_for(lambda: running.processes() == [], running.processes_summary)


def status_of(register, path):
    try:
        with urllib.request.urlopen(f"{register.url}{path}", timeout=30) as answer:  # noqa: S310 - our own http address
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_start_creates_the_example_runs_once_and_a_removal_lasts(tmp_path, tmp_path_factory):
    register = Register(tmp_path / "var", **WITHOUT_SNAPSHOTS, **WITH_EXAMPLES)
    copy_prepared_data(tmp_path_factory, register.data_dir)
    try:
        register.start_and_wait()
        wait_for(lambda: status_of(register, "/runs/demo-loop-heavy/") == 200, register.output_summary)
        assert status_of(register, "/runs/demo-loop/") == 200
        done = register.run_command("demo", "--remove")
        assert (done.returncode, status_of(register, "/runs/demo-loop/")) == (0, 404), done.stderr
        register.stop()
        register.start_and_wait()
        assert status_of(register, "/runs/demo-loop/") == 404
        assert not (register.data_dir / "log" / "examples.log").exists()  # the second start begins no program for them
        assert "failed" not in register.output_summary()
    finally:
        register.end()
