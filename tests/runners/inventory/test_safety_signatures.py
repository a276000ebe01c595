import re
from pathlib import Path

from runners.inventory.safety import IN_USE, is_signature_reported

IDENTITY = Path(__file__).parents[3] / "runners/drivetest/crates/device/src/identity/mod.rs"


def test_the_uses_that_prevent_reading_are_those_of_drivetest():
    listed = re.search(r"const IN_USE: .*? = \[(.*?)\];", IDENTITY.read_text(), re.DOTALL)[1]
    assert set(re.findall(r'"([^"]+)"', listed)) == IN_USE


def test_the_data_of_a_drive_is_shown_only_if_the_host_read_it():
    read = {"signature": None, "signature_error": None, "refusals": []}
    assert is_signature_reported(read)
    assert is_signature_reported({"signature": None, "refusals": []})  # a program that reports no errors
    assert not is_signature_reported(read | {"signature_error": "Input/output error (os error 5)"})
    assert not is_signature_reported(read | {"refusals": [{"id": "mounted", "sentence": "/dev/sda: mounted"}]})
    assert not is_signature_reported({})
