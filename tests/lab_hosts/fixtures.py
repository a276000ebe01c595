"""Fixtures for tests that need lab hosts; a conftest imports the ones it uses."""

import pytest

from tests.lab_hosts.namespaces import LoopDrives, NamespaceHost


@pytest.fixture
def loop_drives(tmp_path):
    """Loop devices used as drives: `loop_drives.add("a")` returns the path of a new one."""
    drives = LoopDrives(tmp_path)
    yield drives
    drives.remove()


@pytest.fixture
def new_lab_host(tmp_path):
    """Boot lab hosts, and remove them after the test."""
    hosts = []

    def make(name="lab-host", kind=NamespaceHost, **options):
        host = kind(tmp_path, name, **options)
        hosts.append(host)
        host.boot()
        return host

    yield make
    for host in hosts:
        host.remove()
