"""Published YCSB figures and claims: imported without a log, and recomputed from the figures of their publication."""

import csv
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from django.db import transaction

from results.models import PublishedClaim, PublishedFigure
from results.rules.ycsb.claims import Claim, ClaimCheck, Figure, FigureFlight, check_claim, flights
from results.rules.ycsb.statements import Status

PUBLISHED = Path(__file__).parent / "published"
FIGURE_FILES = ("ycsb_published.csv", "ycsb_read_off_points.csv")
CLAIM_FILE = "published_claims.csv"
STATED, READ_OFF = "stated", "read off a figure"  # of the column "exactness"; a remark can follow "stated"

Row = dict[str, str]
T = TypeVar("T", PublishedFigure, PublishedClaim)


def import_figures(folder: Path = PUBLISHED) -> int:
    """Write every figure of the two YCSB files; return how many rows were new."""
    with transaction.atomic():
        return sum(_upsert(PublishedFigure, name, _read_rows(folder / name), _figure_columns) for name in FIGURE_FILES)


def import_claims(folder: Path = PUBLISHED) -> int:
    """Write every claim; return how many rows were new."""
    with transaction.atomic():
        return _upsert(PublishedClaim, CLAIM_FILE, _read_rows(folder / CLAIM_FILE), dict)


def _read_rows(path: Path) -> Iterator[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _upsert(
    model: type[T],
    name: str,
    rows: Iterable[Row],
    columns: Callable[[Row], dict[str, object]],
) -> int:
    """Write all rows in one statement: a first start has some two hundred."""
    manager = model._default_manager
    count_before = manager.count()
    rows_of_file = [{"catalogue_key": _key(name, row)} | columns(row) for row in rows]
    if not rows_of_file:
        return 0
    manager.bulk_create(
        [model(**each) for each in rows_of_file],
        update_conflicts=True,
        unique_fields=["catalogue_key"],
        update_fields=[column for column in rows_of_file[0] if column != "catalogue_key"],
    )
    return manager.count() - count_before


# The file may correct these columns; all others identify a figure or claim and make its key.
CORRECTABLE = {"value", "unit", "source_label", "exactness", "stated_value", "recomputed_value", "status", "note"}


def _key(name: str, row: Row) -> str:
    identity = [name, *(f"{column}={row[column]}" for column in sorted(row.keys() - CORRECTABLE))]
    return hashlib.sha256("\n".join(identity).encode()).hexdigest()


def _figure_columns(row: Row) -> dict[str, object]:
    return {
        "publication": row["publication"],
        "database": row["database"],
        "vendor": row["vendor"],
        "model": row["model"],
        "capacity_gb": _count(row["capacity_gb"]),
        "workload": row["workload"],
        "threads_count": _count(row["threads"]),
        "at_ops_per_s": _count(row.get("throughput_ops_per_sec", "")),
        "metric": row["metric"],
        "value": row["value"],
        "unit": row["unit"],
        "source_label": row.get("source_label", ""),
        "operations_count": _count(row.get("operations", "")),
        "exactness": row.get("exactness", STATED),
    }


def _count(text: str) -> int | None:
    return int(text) if text else None


@dataclass(frozen=True)
class CheckedRow:
    """A row of the claims' file with what its figures give; `line` counts from 1, the heading included."""

    line: int
    check: ClaimCheck
    recorded_value: str
    recorded_status: str

    @property
    def is_value_recorded(self) -> bool:
        """Return whether the value in the file equals the recomputed value, to the digit."""
        return self.check.printed == self.recorded_value

    @property
    def is_as_recorded(self) -> bool:
        """Return whether value and status in the file equal the recomputed ones, both for the printed value."""
        return self.is_value_recorded and self.check.printed_status == self.recorded_status

    @property
    def is_exactly_another(self) -> bool:
        """Return whether the exact and the rounded value differ in status; False for words and chart points."""
        is_of_digits = self.check.span is None and not self.is_in_words
        return is_of_digits and self.check.status != self.check.printed_status

    @property
    def is_in_words(self) -> bool:
        """Return whether the claim states a word instead of a number, so that its figures cannot decide it."""
        return self.check.status is Status.IN_WORDS


def read_published_figures(folder: Path = PUBLISHED) -> list[Figure]:
    """Return all figures of the two YCSB files."""
    return [_figure(row) for name in FIGURE_FILES for row in _rows(folder / name)]


def check_published_claims(folder: Path = PUBLISHED) -> list[CheckedRow]:
    """Return every claim of the file, in its order, recomputed."""
    figures = read_published_figures(folder)
    return [
        CheckedRow(line, check_claim(_claim(row), figures), row["recomputed_value"], row["status"])
        for line, row in enumerate(_rows(folder / CLAIM_FILE), start=2)
    ]


def published_flights(folder: Path = PUBLISHED) -> Sequence[FigureFlight]:
    """Return the operations in flight behind every published throughput whose latencies are all stated."""
    return flights(read_published_figures(folder))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _claim(row: dict[str, str]) -> Claim:
    return Claim(**{name: row[name] for name in Claim.__dataclass_fields__})


def _figure(row: dict[str, str]) -> Figure:
    at_ops_per_s = row.get("throughput_ops_per_sec", "")
    return Figure(
        publication=row["publication"],
        model=row["model"],
        workload=row["workload"],
        metric=row["metric"],
        value=Fraction(Decimal(row["value"])),
        unit=row["unit"],
        threads=int(row["threads"]) if row["threads"] else None,
        at_ops_per_s=Fraction(at_ops_per_s) if at_ops_per_s else None,
        is_read_off=row.get("exactness") == READ_OFF,
    )
