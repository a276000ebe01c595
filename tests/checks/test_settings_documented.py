"""docs/reference/settings.md against the variables that the register reads."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
READ = re.compile(r"env\.read_\w+\(\s*\"(\w+)\"")
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def variables_read():
    sources = [path for package in ("webapp", "runners", "results") for path in (ROOT / package).rglob("*.py")]
    return {name for path in sources for name in READ.findall(path.read_text())}


def test_every_variable_is_documented_and_every_documented_one_is_read():
    assert set(ROW.findall((ROOT / "docs" / "reference" / "settings.md").read_text())) == variables_read()
