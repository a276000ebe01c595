"""Lab hosts that the register knows: namespaces with drivetest, the key, the sudo rule and a list of drives."""

from pathlib import Path

import pytest
from django.conf import settings as django_settings

from runners.hosts.ssh_connection import CONNECTIONS
from runners.inventory.enrolment import Pins, authorized_key, enrol, own_program_sha256, sudo_line
from runners.models import Host
from tests.lab_hosts.namespaces import USER, LoopDrives, NamespaceHost

__all__ = ["enrol_host", "list_drives", "new_enrolled", "undisturbed_host", "warm_connections_closed"]


@pytest.fixture
def warm_connections_closed():
    """Close the connections of a test after it; the next test has other hosts."""
    yield
    CONNECTIONS.close()


@pytest.fixture
def new_enrolled(db, drivetest, settings, new_lab_host, loop_drives, warm_connections_closed):
    """Return a booted host with one drive at /dev/nvme0n1, listed, and its row: (namespace host, row)."""
    settings.HOST_FREE_MIB_MIN = 1

    def make(name="lab-host", drive_mib=64, **options):
        there = new_lab_host(name, **options)
        drive = loop_drives.add(f"{name}-drive", drive_mib)
        there.give("nvme0n1", drive)
        row = enrol_host(there, name)
        list_drives(there, loop_drives.key_of(drive))
        return there, row

    return make


@pytest.fixture(scope="module")
def undisturbed_host(tmp_path_factory, drivetest):
    """Yield a host on which no test may start a program, and the key of its one drive at /dev/nvme0n1."""
    directory = tmp_path_factory.mktemp("undisturbed")
    drives, there = LoopDrives(directory), NamespaceHost(directory)
    there.boot()
    drive = drives.add("drive")
    there.give("nvme0n1", drive)
    list_drives(there, drives.key_of(drive))
    yield there, drives.key_of(drive)
    assert there.pids_of("drivetest") == []
    there.remove()
    drives.remove()


def enrol_host(there, name) -> Host:
    """Enrol a running host, and install the files that add_host prints."""
    pins = Pins(there.address, there.port, there.user, there.host_key, own_program_sha256())
    row = enrol(name, pins, None)
    there.install(Path(django_settings.DRIVETEST), authorized_key(), sudo_line(USER))
    return row


def list_drives(there: NamespaceHost, *drive_keys: str) -> None:
    """Write the operator's list of drives that may be loaded."""
    listed = ", ".join(f'"{drive_key}"' for drive_key in drive_keys)
    there.write("/etc/drivecert/host.toml", f"drives = [{listed}]\n")
