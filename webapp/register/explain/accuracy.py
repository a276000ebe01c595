"""docs/reference/accuracy.json as tables: the measured accuracy of the load generator."""

import datetime
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

DOCUMENT = settings.BASE_DIR / "docs" / "reference" / "accuracy.json"
NOT_REPORTED = "-"

NUMBER = re.compile(r"[\d.,]+(?: \([\d.,]+ - [\d.,]+\)| \[[\d.,]+ - [\d.,]+\]| - [\d.,]+)?")


@dataclass(frozen=True)
class Cell:
    """A cell of a table. Columns of numbers are aligned to the right; an empty text means not reported."""

    text: str
    is_number: bool
    interval: str = ""  # in brackets: round ones hold the range, square ones the 95 % interval


@dataclass(frozen=True)
class Target:
    """A limit that the benchmark sets, and the figure that comes closest to it or exceeds it."""

    text: str
    measured: str
    is_met: bool


@dataclass(frozen=True)
class Measurement:
    """A table of a benchmark, with machine and date."""

    kind: str
    title: str
    explanation: str
    measured_on: datetime.date
    program: str
    machine: str
    load: str
    other_programs: str
    notes: Sequence[str]
    head: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    targets: Sequence[Target]

    @property
    def missed(self) -> Sequence[Target]:
        return [target for target in self.targets if not target.is_met]

    @property
    def met(self) -> Sequence[Target]:
        return [target for target in self.targets if target.is_met]


@cache
def measurements() -> Sequence[Measurement]:
    """Return the published measurements. The file is read once."""
    return [_measurement(found) for found in json.loads(DOCUMENT.read_text(encoding="utf-8"))["measurements"]]


def _measurement(found: dict[str, Any]) -> Measurement:
    columns = zip(*found["rows"], strict=True)
    are_numbers = [all(NUMBER.fullmatch(text) for text in column if text != NOT_REPORTED) for column in columns]
    return Measurement(
        kind=found["kind"],
        title=found["title"],
        explanation=found["explanation"],
        measured_on=datetime.date.fromisoformat(found["measured_on"]),
        program=found["program"],
        machine=found["machine"],
        load=found["load"],
        other_programs=found["other_programs"],
        notes=found["notes"],
        head=_cells(found["head"], are_numbers),
        rows=[_cells(row, are_numbers) for row in found["rows"]],
        targets=[Target(**target) for target in found["targets"]],
    )


def _cells(texts: Sequence[str], are_numbers: Sequence[bool]) -> Sequence[Cell]:
    return [_cell(text, is_number) for text, is_number in zip(texts, are_numbers, strict=True)]


def _cell(text: str, is_number: bool) -> Cell:
    if text == NOT_REPORTED:
        return Cell("", is_number)
    opening = " [" if " [" in text else " ("
    median, bracket, rest = text.partition(opening) if is_number else (text, "", "")
    return Cell(median, is_number, bracket.strip() + rest)
