"""The register's own key pair, with which it signs in on every lab host: one per register, under its data directory."""

from pathlib import Path

import asyncssh
from django.conf import settings

from runners.hosts.machine import make_once

KIND = "ssh-ed25519"


def private_key() -> asyncssh.SSHKey:
    """Return the register's key, made by whoever asks first."""
    path = key_path()
    if not path.exists():
        key = asyncssh.generate_private_key(KIND, comment="drivecert register")
        make_once(path, key.export_private_key())
    return asyncssh.read_private_key(path)


def public_key() -> str:
    """Return what a host has to be told of it: kind, key, and whose it is."""
    return private_key().export_public_key().decode().strip()


def key_path() -> Path:
    """Return where the private key lies; nobody but the register's account can read it."""
    return Path(settings.LAB_DIR) / "ssh_key"


def fingerprint(key: str) -> str:
    """Return the fingerprint of a public key. Raises ValueError for what is none."""
    try:
        return asyncssh.import_public_key(key).get_fingerprint()
    except asyncssh.KeyImportError as error:
        raise ValueError(f"expected a public key such as ssh-ed25519 AAAA..., got {key[:60]!r}") from error
