"""Lab hosts over a real sshd and sudo, in network namespaces (tests/lab_hosts)."""

import time

import pytest

from runners.errors import (
    FileMissingError,
    HostUnavailableError,
    StartRefusedError,
)
from runners.hosts.protocol import ProgramState
from runners.hosts.ssh import SshHost
from runners.hosts.ssh_connection import CONNECTIONS
from runners.models import Host
from tests.lab_hosts.enrolled import list_drives
from tests.runners.hosts.test_local import wait_until

pytestmark = [pytest.mark.lab_hosts, pytest.mark.django_db]

ARGV = ["storage", "config", "--log", "log", "--side-file", "side.jsonl", "--expect-drive"]
DRIVE_BYTES = 64 * 1024 * 1024
REFUSED_ENDS_S = 30  # a refused start answers before its process ends; a load would still run after 30 s
CONFIG = (
    "device-names: {path}\ntest-duration-sec: {duration_s}\n"
    "read-reqs-per-sec: 100\nwrite-reqs-per-sec: 50\nmicrosecond-histograms: yes\n"
)


def config(path="/dev/nvme0n1", duration_s=60, more=""):
    return {"config": (CONFIG.format(path=path, duration_s=duration_s) + more).encode()}


@pytest.fixture
def enrolled(new_enrolled):
    return new_enrolled()


@pytest.fixture
def there(enrolled):
    return enrolled[0]


@pytest.fixture
def host(enrolled):
    return SshHost(enrolled[1])


@pytest.fixture
def drive_key(there, loop_drives):
    return loop_drives.key_of(there.devices["nvme0n1"])


@pytest.fixture
def start(host, drive_key):
    def begin(run="d-one", generation=1, files=None):
        host.put(run, files or config())
        return host.start(run, drive_key, generation, [*ARGV, drive_key])

    return begin


def process_of(there, name="drivetest"):
    return there.pids_of(name)


def test_a_run_is_started_watched_and_stopped(host, start):
    started = start()
    assert (started.state, started.generation) == (ProgramState.RUNNING, 1)
    wait_until(lambda: host.status("d-one").log_bytes > 0)
    assert b"ACT" in host.read("d-one", "log", 0, 200)
    host.stop("d-one")
    wait_until(lambda: host.status("d-one").state is ProgramState.ENDED)
    assert host.status("d-one").exit_status == 5


def test_a_repeated_start_reports_the_same_process(host, there, start):
    first, again = start(), start()
    assert first.pid == again.pid
    wait_until(lambda: len(there.pids_of("drivetest")) == 2)  # the monitor and the load; the second start has ended


def test_a_run_that_was_never_started_is_absent_and_a_sealed_one_never_starts(host, drive_key):
    assert host.status("d-nothing").state is ProgramState.ABSENT
    host.put("d-closed", {})
    assert host.stop("d-closed").state is ProgramState.ENDED
    host.put("d-closed", config())
    assert host.start("d-closed", drive_key, 1, [*ARGV, drive_key]).pid is None


def test_an_older_generation_is_refused(host, start):
    start("d-new", 2)
    host.stop("d-new")
    wait_until(lambda: host.status("d-new").state is ProgramState.ENDED)
    with pytest.raises(StartRefusedError, match="generation 1 is older than 2"):
        start("d-old", 1)


def test_a_drive_has_one_load(host, there, start):
    start("d-one", 1)
    with pytest.raises(StartRefusedError, match="busy"):
        start("d-two", 2)
    wait_until(lambda: len(there.pids_of("drivetest")) == 2, REFUSED_ENDS_S)


def test_a_drive_that_is_not_listed_is_never_loaded(host, there, start):
    list_drives(there, "nvme:another:one")
    with pytest.raises(StartRefusedError, match="not among the 1 drives"):
        start()
    there.path("/etc/drivecert/host.toml").unlink()
    with pytest.raises(StartRefusedError, match="not among the 0 drives"):
        start()
    wait_until(lambda: there.pids_of("drivetest") == [], REFUSED_ENDS_S)


def test_a_list_that_others_can_write_lists_nothing(host, there):
    there.path("/etc/drivecert/host.toml").chmod(0o666)
    with pytest.raises(HostUnavailableError, match="only root can write"):
        host.identify("/dev/nvme0n1")


def test_another_program_than_the_pinned_one_starts_nothing(host, there, start):
    Host.objects.update(program_sha256="0" * 64)
    host.host.refresh_from_db()
    with pytest.raises(StartRefusedError, match="expected the program with SHA-256 0000"):
        start()
    wait_until(lambda: there.pids_of("drivetest") == [], REFUSED_ENDS_S)


def test_a_configuration_names_the_bound_drive_only(there, start, loop_drives):
    there.give("nvme1n1", loop_drives.add("other"))
    with pytest.raises(StartRefusedError, match=r"/dev/nvme1n1: expected drive"):
        start(files=config("/dev/nvme1n1"))
    with pytest.raises(StartRefusedError, match=r"/dev/nvme1n1: expected drive"):
        start(files=config("/dev/nvme0n1,/dev/nvme1n1"))
    with pytest.raises(StartRefusedError, match="a plain file cannot be a device"):
        start(files=config(more="file-size-mbytes: 64\n"))


def test_a_host_with_another_key_gets_no_data(there, host):
    there.stop_sshd()
    for name in ("host_key", "host_key.pub"):
        there.path(f"/etc/ssh/{name}").unlink()
    there.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/etc/ssh/host_key")
    there.start_sshd()
    with pytest.raises(HostUnavailableError, match="another host key"):
        host.identify("/dev/nvme0n1")


def test_a_missing_sudo_rule_is_reported(there, host):
    there.path("/etc/sudoers.d/drivecert").unlink()
    with pytest.raises(HostUnavailableError, match="a password is required"):
        host.identify("/dev/nvme0n1")


def test_a_lost_connection_is_opened_again_within_one_call(there, host):
    host.identify("/dev/nvme0n1")
    there.stop_sshd()
    there.start_sshd()
    assert host.identify("/dev/nvme0n1").size_bytes


def test_a_cut_link_makes_the_host_silent_and_a_restored_one_answers(there, host, start, settings):
    before, as_set = start(), settings.HOST_ANSWER_TIMEOUT_S
    there.cut()
    settings.HOST_ANSWER_TIMEOUT_S = 2
    with pytest.raises(HostUnavailableError, match="no answer within 2 s"):
        host.status("d-one")
    there.restore()
    settings.HOST_ANSWER_TIMEOUT_S = as_set  # a new login may take seconds on a busy machine
    wait_until(lambda: _answers(host))
    assert host.status("d-one").pid == before.pid


def _answers(host):
    try:
        return host.status("d-one").state is ProgramState.RUNNING
    except HostUnavailableError:
        return False


def test_a_run_outlives_its_sshd(there, host, start):
    before = start()
    there.stop_sshd()
    time.sleep(0.5)
    there.start_sshd()
    now = host.status("d-one")
    assert (now.state, now.pid) == (ProgramState.RUNNING, before.pid)


def test_a_rebooted_host_reports_an_unobserved_end(there, host, start):
    start()
    there.reboot()
    status = host.status("d-one")
    assert (status.state, status.exit_status) == (ProgramState.ENDED, None)
    assert "rebooted" in status.reason


def test_status_and_the_new_bytes_of_the_log_are_one_exchange(host, start, trips):
    start()
    wait_until(lambda: host.status("d-one").log_bytes > 0)
    trips.clear()
    status = host.status("d-one")
    gained = host.read("d-one", "log", max(0, status.log_bytes - 4096), 1024 * 1024)
    assert len(gained) >= min(4096, status.log_bytes)
    assert len(trips) == 1


@pytest.fixture
def trips(host):
    made = []

    class Counted:
        def exchange(self, *args):
            made.append(args)
            return CONNECTIONS.exchange(*args)

    host.connections = Counted()
    return made


def test_a_fetched_log_is_the_host_s_byte_for_byte(there, host, start, monkeypatch):
    start(files=config(duration_s=2))
    wait_until(lambda: host.status("d-one").state is ProgramState.ENDED)
    monkeypatch.setattr("runners.hosts.wire.PIECE_BYTES", 1000)
    with host.fetch("d-one", "log") as log:
        fetched = log.read()
    assert len(fetched) > 1000
    assert fetched == there.path("/var/lib/drivecert/d-one/log").read_bytes()
    with pytest.raises(FileMissingError):
        host.fetch("d-one", "nothing")


def test_drives_that_were_renamed_are_found_and_never_misdirected(there, host, drive_key, loop_drives):
    """The two names are exchanged between the order and the start, as after a reboot."""
    other = loop_drives.add("other")
    there.give("nvme1n1", other)
    bound, path = there.devices["nvme0n1"], "/dev/nvme0n1"
    there.give("nvme0n1", other)
    there.give("nvme1n1", bound)
    assert host.identify(path).drive_key != drive_key
    assert host.find(drive_key, DRIVE_BYTES) == ["/dev/nvme1n1"]
    host.put("d-one", config(path))
    with pytest.raises(StartRefusedError, match=r"/dev/nvme0n1: expected drive"):
        host.start("d-one", drive_key, 1, [*ARGV, drive_key])
    wait_until(lambda: there.pids_of("drivetest") == [], REFUSED_ENDS_S)
