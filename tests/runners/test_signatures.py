import re
from pathlib import Path

from runners.signatures import IN_USE

IDENTITY = Path(__file__).parents[2] / "runners/drivetest/crates/device/src/identity.rs"


def test_the_uses_under_which_nothing_is_read_are_those_of_drivetest():
    listed = re.search(r"const IN_USE: .*? = \[(.*?)\];", IDENTITY.read_text(), re.DOTALL)[1]
    assert set(re.findall(r'"([^"]+)"', listed)) == IN_USE
