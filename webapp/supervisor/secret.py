"""Passwords and keys of this machine, made at their first use and kept in files that only we can read."""

import secrets
from pathlib import Path


def read_or_make_secret(path: Path) -> str:
    """Return the secret in `path`; a new one is written whole or not at all."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        new.touch(mode=0o600)
        new.write_text(secrets.token_urlsafe(32))
        new.rename(path)
    return path.read_text()
