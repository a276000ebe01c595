import socket
from pathlib import Path

import pytest

from tests.lab_hosts.namespaces import PROGRAM, USER
from tests.register import wait_for

pytestmark = pytest.mark.lab_hosts


@pytest.fixture
def host(new_lab_host):
    return new_lab_host()


def banner(host, within_s=60):
    with socket.create_connection((host.address, host.port), timeout=within_s) as connection:
        return connection.recv(64)


def boot_id(host):
    return host.run("cat", "/proc/sys/kernel/random/boot_id").stdout


def test_sshd_answers_until_it_is_stopped(host):
    assert banner(host).startswith(b"SSH-2.0")
    host.stop_sshd()
    with pytest.raises(ConnectionRefusedError):
        banner(host)
    host.start_sshd()
    assert banner(host).startswith(b"SSH-2.0")


def test_a_cut_link_carries_no_answers_and_a_restored_one_does(host):
    host.cut()
    with pytest.raises(OSError, match=r"timed out|unreachable"):
        banner(host, within_s=0.3)
    host.restore()
    assert banner(host).startswith(b"SSH-2.0")


def test_a_reboot_ends_every_process_and_the_disk_survives(host):
    before = boot_id(host)
    host.run("sh", "-c", "echo stored > /var/lib/stored; sleep 1000 >/dev/null 2>&1 &")
    wait_for(lambda: len(host.pids_of("sleep")) == 2)  # a process forked by a shell has the shell's name for a moment
    host.reboot()
    assert host.run("cat", "/var/lib/stored").stdout == "stored\n"
    wait_for(lambda: len(host.pids_of("sleep")) == 1)  # the host's first process waits with a sleep of its own
    assert boot_id(host) != before


def test_files_that_a_host_writes_stay_on_its_own_disk(host):
    host.write("/etc/drivecert/host.toml", "")
    assert host.path("/etc/drivecert/host.toml").exists()
    assert not Path("/etc/drivecert/host.toml").exists()


def test_two_hosts_are_separate_machines(new_lab_host):
    one, other = new_lab_host("one"), new_lab_host("other")
    assert one.address != other.address
    assert one.host_key != other.host_key
    assert one.run("hostname").stdout == "one\n"


def test_a_host_has_the_attached_drives_also_after_a_swap(host, loop_drives):
    one, other = loop_drives.add("one"), loop_drives.add("other")
    host.give("nvme0n1", one)
    before = host.path("/dev/nvme0n1").stat().st_rdev
    host.give("nvme0n1", other)
    assert host.path("/dev/nvme0n1").stat().st_rdev != before
    host.reboot()
    assert host.path("/dev/nvme0n1").stat().st_rdev == Path(other).stat().st_rdev
    assert not host.path("/dev/vda").exists()


def test_a_full_disk_is_full_only_for_its_host(new_lab_host):
    small = new_lab_host("small", disk_mib=16)
    full = small.run("dd", "if=/dev/zero", "of=/var/lib/much", "bs=1M", "count=64", check=False)
    assert "No space left" in full.stderr


def test_sudo_applies_the_installed_rule(host):
    host.install("/bin/echo", "ssh-ed25519 AAAA test", f"{USER} ALL=(root) NOPASSWD: {PROGRAM} host")
    allowed = host.run("sudo", "-u", USER, "sudo", "-n", PROGRAM, "host")
    assert allowed.stdout == "host\n"
    assert host.run("sudo", "-u", USER, "sudo", "-n", PROGRAM, "host", "more", check=False).returncode != 0
