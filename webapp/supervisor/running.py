"""How other commands on this machine reach the servers of a register that runs: `manage.py` reads this at its start."""

import json
import os
from pathlib import Path

DEFAULT_DATA_DIR = Path(__file__).resolve().parents[2] / "var"


def write_addresses(run_dir: Path, environment: dict[str, str]) -> None:
    """Keep the addresses of the embedded servers where only we can read them."""
    path = _note(run_dir)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(environment, file)


def forget_addresses(run_dir: Path) -> None:
    """Take the note away: the servers are about to end."""
    _note(run_dir).unlink(missing_ok=True)


def take_addresses(environment: dict[str, str]) -> dict[str, str]:
    """Return what the environment lacks to work on the register that runs on its data directory; mostly nothing."""
    data_dir = Path(environment.get("DRIVECERT_DATA") or DEFAULT_DATA_DIR)
    note = _note(data_dir / "run")
    if not os.access(note, os.R_OK):
        return {}
    known: dict[str, str] = json.loads(note.read_text())
    return {name: value for name, value in known.items() if not environment.get(name)}


def _note(run_dir: Path) -> Path:
    return run_dir / "addresses.json"
