"""The register's own key pair for all lab hosts: one per register, in its data directory.

The keys of the hosts themselves are read and replaced in runners/inventory/enrolment.py.
"""

from pathlib import Path

import asyncssh
from django.conf import settings

from runners.hosts.machine import create_once

KIND = "ssh-ed25519"


def private_key() -> asyncssh.SSHKey:
    """Return the register's key. The first process that needs it creates it."""
    path = key_path()
    if not path.exists():
        key = asyncssh.generate_private_key(KIND, comment="drivecert register")
        create_once(path, key.export_private_key())
    return asyncssh.read_private_key(path)


def public_key() -> str:
    """Return the public key for a host: type, key and comment."""
    return private_key().export_public_key().decode().strip()


def key_path() -> Path:
    """Return the path of the private key. Only the register's account can read it."""
    return Path(settings.LAB_DIR) / "ssh_key"


def fingerprint(key: str) -> str:
    """Return the fingerprint of a public key. Raise ValueError for any other text."""
    try:
        return asyncssh.import_public_key(key).get_fingerprint()
    except asyncssh.KeyImportError as error:
        raise ValueError(f"expected a public key such as ssh-ed25519 AAAA..., got {key[:60]!r}") from error
