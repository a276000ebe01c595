"""Fixtures for tests that need lab hosts; a conftest imports the ones it uses."""

import pytest

from tests.lab_hosts.namespaces import LoopDrives, NamespaceHost


@pytest.fixture
def loop_drives(tmp_path):
    """Loop devices that stand for drives: `loop_drives.add("a")` gives the path of a new one."""
    drives = LoopDrives(tmp_path)
    yield drives
    drives.remove()


@pytest.fixture
def new_lab_host(tmp_path):
    """Make lab hosts, each booted, and take them away with the test."""
    hosts = []

    def make(name="lab-host", kind=NamespaceHost, **options):
        host = kind(tmp_path, name, **options)
        hosts.append(host)
        host.boot()
        return host

    yield make
    for host in hosts:
        host.remove()
