"""The built drivetest: without the variables that only tests use, and without symbols."""

import struct
from pathlib import Path

from tests.results.fixtures import real_reader

__all__ = ["real_reader"]


def test_no_variable_shortens_the_safety_gate_of_a_release(real_reader):
    assert b"DRIVETEST_GATE" not in Path(real_reader).read_bytes()


SHT_SYMTAB = 2


def section_types(elf: bytes) -> list[int]:
    """Return the types of the sections of a 64-bit little-endian ELF file. Source: elf(5)."""
    offset, size, count = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HH", elf, 0x3A)
    return [struct.unpack_from("<I", elf, offset + number * size + 4)[0] for number in range(count)]


def test_the_release_has_no_symbols(real_reader):
    types = section_types(Path(real_reader).read_bytes())
    assert types
    assert SHT_SYMTAB not in types
