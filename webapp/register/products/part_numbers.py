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


@dataclass(frozen=True)
class PartRule:
    """A row of the file."""

    vendor: str
    pattern: re.Pattern[str]
    model: str
    size: str

    def part(self, text: str) -> Part | None:
        """Return the part number in an upper-case text with blanks for `_`; None if the pattern does not match."""
        found = self.pattern.search(text)
        if found is None:
            return None
        return Part(found[0], self.vendor, self.model, _gigabytes(found[1], self.size) if self.model else None)


def part_of(text: str) -> Part | None:
    """Return the part number in a model string; None if no row of the file matches.

    >>> part = part_of("SAMSUNG MZQLB1T9HAJR-00007")
    >>> part.number, part.name, part.capacity_gb
    ('MZQLB1T9HAJR', 'Samsung PM983', 1900.0)
    """
    capitals = text[:LONGEST_TEXT].upper().replace("_", " ")
    return next((part for rule in part_rules() if (part := rule.part(capitals))), None)


@cache
def part_rules() -> tuple[PartRule, ...]:
    """Return the rows of the file, those with a family first."""
    with RULES.open(newline="", encoding="utf-8") as file:
        rules = [
            PartRule(row["vendor"], re.compile(f"{BEFORE}{row['pattern']}{AFTER}", re.ASCII), row["model"], row["size"])
            for row in csv.DictReader(file)
        ]
    return tuple(sorted(rules, key=lambda rule: not rule.model))


def _gigabytes(digits: str, size: str) -> float:
    """Return the capacity: 12T8 is 12.8 TB, 960 is GB, 064 in tenths of TB is 6.4 TB; or the fixed size of the row."""
    if size == TENTHS_OF_TB:
        return int(digits) * 100.0
    if size != AS_PRINTED:
        return float(size)
    return float(digits.replace("T", ".")) * 1000 if "T" in digits else float(digits.rstrip("G"))
