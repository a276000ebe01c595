"""The data that a host over SSH shows and the requests that it refuses. Nothing is started on this host."""

import json

import pytest

from runners.errors import DeviceUnknownError, StartFailedError, StartRefusedError
from runners.hosts import connect
from runners.hosts.drive_keys import keys_of
from runners.hosts.ssh import SshHost
from runners.hosts.ssh_connection import fingerprint, key_path, public_key
from tests.lab_hosts.enrolled import enrol_host
from tests.lab_hosts.namespaces import PROGRAM
from tests.lab_hosts.network import run
from tests.runners.hosts.test_local import wait_until
from tests.runners.hosts.test_ssh import DRIVE_BYTES, REFUSED_ENDS_S, config

pytestmark = [pytest.mark.lab_hosts, pytest.mark.django_db]


@pytest.fixture
def row(undisturbed_host, warm_connections_closed):
    return enrol_host(undisturbed_host[0], "lab-host")


@pytest.fixture
def there(undisturbed_host, row):
    return undisturbed_host[0]


@pytest.fixture
def drive_key(undisturbed_host):
    return undisturbed_host[1]


@pytest.fixture
def host(row):
    return SshHost(row)


def test_a_drive_is_identified_over_ssh(host, drive_key):
    drive = host.identify("/dev/nvme0n1")
    assert (drive.path, drive.kind, drive.size_bytes) == ("/dev/nvme0n1", "virtual", DRIVE_BYTES)
    assert drive_key in keys_of(drive.drive_key)
    assert drive.refusals == ()


@pytest.mark.parametrize("path", ["/etc/passwd", "/dev/null", "/dev/../etc/passwd", "/dev/nothing", "nvme0n1"])
def test_only_block_devices_are_drives(host, path):
    with pytest.raises(DeviceUnknownError, match=r"expected|No such"):
        host.identify(path)


def test_no_file_is_made_or_read_as_a_drive(host):
    with pytest.raises(DeviceUnknownError, match="a plain file cannot be a device"):
        host.create_file("/srv/drive.img", 1)
    with pytest.raises(DeviceUnknownError, match="a plain file cannot be a device"):
        host.first_bytes("/etc/shadow", 1)


@pytest.mark.parametrize(
    "argv",
    [
        ["storage", "/etc/shadow"],
        ["storage", "config", "--log", "/etc/cron.d/x"],
        ["storage", "config", "--i-know-this-destroys-data"],
        ["prep", "/dev/loop0"],
        ["sh", "-c", "id"],
        ["read", "/etc/shadow"],
    ],
)
def test_the_register_cannot_choose_the_command_line(host, there, drive_key, argv):
    host.put("d-one", config())
    with pytest.raises((StartRefusedError, DeviceUnknownError, StartFailedError)):
        host.start("d-one", drive_key, 1, argv)
    wait_until(lambda: there.pids_of("drivetest") == [], REFUSED_ENDS_S)


@pytest.mark.parametrize("name", ["pid", "exit", "lock", "log", "../../../etc/cron.d/x", "a/b"])
def test_the_register_sends_configurations_and_no_other_file(host, name):
    with pytest.raises(StartRefusedError):
        host.put("d-one", {name: b""})


@pytest.mark.parametrize("run_name", ["../../etc", "locks", "d-../x", "/etc", "d-A", ""])
def test_no_name_of_a_run_leads_out_of_the_directory(host, run_name):
    with pytest.raises(StartFailedError, match="expected the name of a run"):
        host.read(run_name, "passwd", 0, 10)


def test_the_key_opens_no_shell_and_no_tunnel(there):
    key = ["-i", str(key_path()), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    got = run("ssh", *key, "-o", "BatchMode=yes", f"{there.user}@{there.address}", "id; cat /etc/shadow", check=False)
    assert "uid=" not in got.stdout
    assert "root:" not in got.stdout
    tunnel = run("ssh", *key, "-o", "BatchMode=yes", "-W", "127.0.0.1:22", f"{there.user}@{there.address}", check=False)
    assert "SSH-2.0" not in tunnel.stdout


def test_sudo_lets_through_the_one_command_without_arguments(there):
    def as_user(*argv):
        return there.run("sudo", "-u", there.user, "sudo", "-n", *argv, check=False)

    assert as_user(PROGRAM, "host").returncode == 0
    for argv in ([PROGRAM, "host", "x"], [PROGRAM], [PROGRAM, "prep", "/dev/nvme0n1"], ["id"], ["-s"]):
        assert as_user(*argv).returncode != 0


def test_the_key_of_the_register_is_private(row):
    assert key_path().stat().st_mode & 0o777 == 0o600
    assert public_key().startswith("ssh-ed25519 ")
    assert fingerprint(public_key()).startswith("SHA256:")


def test_connect_leads_to_the_host(row):
    assert connect(row).identify("/dev/nvme0n1").kind == "virtual"


def test_the_answers_of_the_host_are_documented(there):
    answer = there.run("sh", "-c", f'echo \'{{"verb": "health"}}\' | {PROGRAM} host')
    health = json.loads(answer.stdout)["ok"]
    assert health["schema"] == "drivecert.host-health/1"
    assert {"program_sha256", "clock_unix_ns", "free_bytes", "drives", "boot_id", "init"} <= health.keys()
