"""The register parses the records of drivetest that docs/reference/formats.md documents."""

import json

import pytest
from django.conf import settings as django_settings

from runners.errors import HostUnavailableError
from runners.hosts.protocol import ProgramState, parse_identity, parse_removal, parse_status


def test_the_documented_detached_record_is_parsed():
    record = json.loads(_example("drivecert.detached/1"))
    status = parse_status(record)
    assert (status.state, status.pid, status.generation, status.exit_status) == (ProgramState.RUNNING, 4711, 1, None)
    assert status.boot_ids == (record["boot_id"],)


def test_a_detached_record_of_an_earlier_drivetest_has_no_boot_of_its_host():
    record = json.loads(_example("drivecert.detached/1"))
    del record["boot_id"]
    assert parse_status(record).boot_ids == ()


def test_the_documented_removal_is_parsed():
    record = json.loads(_example("drivecert.removal/1"))
    assert parse_removal(record).endswith("its program or its monitor is still running")
    assert not parse_removal(record | {"removed": True})
    with pytest.raises(HostUnavailableError):
        parse_removal({})


def test_the_documented_identity_is_parsed():
    identity = parse_identity("/dev/loop0", json.loads(_example("drivecert.identity/1")))
    assert (identity.kind, identity.drive_key, identity.size_bytes) == ("virtual", "file:lab1:64768:123456", 536870912)
    assert identity.refusals == ("/dev/loop0: mounted at /mnt; unmount it or choose another device",)


def _example(schema):
    """Return the example that docs/reference/formats.md prints."""
    text = (django_settings.BASE_DIR / "docs/reference/formats.md").read_text()
    blocks = text.split("```json\n")[1:]
    return next(block.split("```")[0] for block in blocks if f'"{schema}"' in block)
