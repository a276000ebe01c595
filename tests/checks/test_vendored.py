"""Vendored scripts, unchanged and with their licences."""

import gzip
import hashlib
import re

import pytest
from django.conf import settings

VENDOR = settings.BASE_DIR / "static/vendor"
OF_TESTS = settings.BASE_DIR / "tests/vendor"
ROW = re.compile(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", re.MULTILINE)


def vendored(folder):
    """Return the vendored files: scripts and schemas."""
    return [*folder.rglob("*.js"), *folder.rglob("*.json")]


@pytest.mark.parametrize("folder", [VENDOR, OF_TESTS], ids=["static", "tests"])
def test_every_vendored_script_is_listed_with_its_hash(folder):
    scripts = {str(path.relative_to(folder)): path for path in vendored(folder)}
    found = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in scripts.items()}
    assert found == dict(ROW.findall((folder / "README.md").read_text()))


@pytest.mark.parametrize("folder", [VENDOR, OF_TESTS], ids=["static", "tests"])
def test_every_vendored_script_comes_with_its_licence(folder):
    assert all((path.parent / "LICENSE.txt").exists() for path in vendored(folder))


@pytest.mark.parametrize("path", sorted(VENDOR.rglob("*.gz")), ids=lambda path: path.name)
def test_the_script_sent_to_browsers_is_the_vendored_one(path):
    assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()
