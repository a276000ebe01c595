"""Addresses of a running register's servers, in a file for other commands: `manage.py` reads it at its start."""

import json
import os
from pathlib import Path

DEFAULT_DATA_DIR = Path(__file__).resolve().parents[2] / "var"


def write_addresses(run_dir: Path, environment: dict[str, str]) -> None:
    """Write the addresses of the embedded servers to a file that only this user can read."""
    path = _address_file(run_dir)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(environment, file)


def remove_addresses(run_dir: Path) -> None:
    """Remove the file, because the servers are about to stop."""
    _address_file(run_dir).unlink(missing_ok=True)


def missing_addresses(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables that the environment lacks to reach the register that runs on its data directory, if any."""
    data_dir = Path(environment.get("DRIVECERT_DATA") or DEFAULT_DATA_DIR)
    path = _address_file(data_dir / "run")
    if not os.access(path, os.R_OK):
        return {}
    addresses: dict[str, str] = json.loads(path.read_text())
    return {name: value for name, value in addresses.items() if not environment.get(name)}


def _address_file(run_dir: Path) -> Path:
    return run_dir / "addresses.json"
