"""Part numbers: the maker, family and capacity that part_numbers.csv derives from the name that a drive reports.

A row of the file is a pattern of a maker's part numbers, with the family and the encoding of the capacity in its
digits. A row without a family identifies the maker only. A part number that matches no row is unknown; nothing is
guessed.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RULES = Path(__file__).with_name("part_numbers.csv")
AS_PRINTED, TENTHS_OF_TB = "as printed", "tenths of TB"
BEFORE, AFTER = r"(?<![0-9A-Z])", r"[0-9A-Z]*"
LONGEST_TEXT = 200


@dataclass(frozen=True)
class Part:
    """A part number found in a text; `model` is empty and `capacity_gb` None if only the maker is known.

    Its digits are rounded: 1T9 is sold as 1.92 TB.
    """

    number: str
    vendor: str
    model: str = ""
    capacity_gb: float | None = None

    @property
    def name(self) -> str:
        """Return maker and family as one text."""
        return f"{self.vendor} {self.model}"


def part_of(text: str) -> Part | None:
    """Return the part number in a model string; None if no row of the file matches.

    >>> part = part_of("SAMSUNG MZQLB1T9HAJR-00007")
    >>> part.number, part.name, part.capacity_gb
    ('MZQLB1T9HAJR', 'Samsung PM983', 1900.0)
    """
    capitals = text[:LONGEST_TEXT].upper().replace("_", " ")
    for pattern, row in _rules():
        if found := pattern.search(capitals):
            capacity_gb = _gigabytes(found[1], row["size"]) if row["model"] else None
            return Part(found[0], row["vendor"], row["model"], capacity_gb)
    return None


@cache
def _rules() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """Return the patterns of the file with their rows, those with a family first. Patterns are of upper-case texts."""
    with RULES.open(newline="", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: not row["model"])
    return [(re.compile(f"{BEFORE}{row['pattern']}{AFTER}", re.ASCII), row) for row in rows]


def _gigabytes(digits: str, size: str) -> float:
    """Return the capacity: 12T8 is 12.8 TB, 960 is GB, 064 in tenths of TB is 6.4 TB; or the fixed size of the row."""
    if size == TENTHS_OF_TB:
        return int(digits) * 100.0
    if size != AS_PRINTED:
        return float(size)
    return float(digits.replace("T", ".")) * 1000 if "T" in digits else float(digits.rstrip("G"))
