"""The pairs of keys that runners/hosts/drive_keys.py and drivetest have to judge alike."""

from pathlib import Path

TABLE = Path(__file__).parents[1] / "data/drive_keys.tsv"


def rows():
    """Return what was bound, what the key is now, whether that is the same drive, and why."""
    lines = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return [(bound, now, is_same == "yes", why) for bound, now, is_same, why in lines]
