"""Pairs of keys on which runners/hosts/drive_keys.py and drivetest must agree."""

from pathlib import Path

TABLE = Path(__file__).parents[1] / "data/drive_keys.tsv"


def rows():
    """Return rows of a bound key, the key now, whether both are the same drive, and the reason."""
    lines = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return [(bound, now, is_same == "yes", why) for bound, now, is_same, why in lines]
