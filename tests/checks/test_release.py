"""The built drivetest without the variables that only tests use."""

from pathlib import Path

from tests.results.fixtures import real_reader

__all__ = ["real_reader"]


def test_no_variable_shortens_the_safety_gate_of_a_release(real_reader):
    assert b"DRIVETEST_GATE" not in Path(real_reader).read_bytes()
