"""Vendored scripts, unchanged and with their licences."""

import gzip
import hashlib
import re

import pytest
from django.conf import settings

VENDOR = settings.BASE_DIR / "static/vendor"
HASHES = dict(
    re.findall(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.MULTILINE)
)


def test_every_vendored_script_is_listed_with_its_hash():
    scripts = {str(path.relative_to(VENDOR)): path for path in VENDOR.rglob("*.js")}
    found = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in scripts.items()}
    assert found == HASHES


def test_every_vendored_script_comes_with_its_licence():
    assert all((path.parent / "LICENSE.txt").exists() for path in VENDOR.rglob("*.js"))


@pytest.mark.parametrize("path", sorted(VENDOR.rglob("*.gz")), ids=lambda path: path.name)
def test_the_script_sent_to_browsers_is_the_vendored_one(path):
    assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()
