"""The CSV files of published results: their rows, checked cell by cell, and their sources."""

import csv
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import TextIO, TypeVar

from results.models import Category

SOURCES = Path(__file__).parent / "published" / "sources.csv"
CERTIFICATION_PAGE = "act-certified-drives"


@dataclass(frozen=True)
class PublishedSource:
    """One publication; what was not recorded with its figures is empty, and never made up.

    `title` describes the publication. `printed_title`, `published_on` and `page` are as the publication prints them.
    """

    source: str
    title: str
    publisher: str
    address: str
    retrieved_on: str
    printed_title: str = ""
    published_on: str = ""
    page: str = ""


@cache
def published_sources() -> dict[str, PublishedSource]:
    """Return the publications by the name that their figures have in results/catalogue/published."""
    with SOURCES.open(newline="", encoding="utf-8") as file:
        return {row["source"]: PublishedSource(**row) for row in csv.DictReader(file)}


T = TypeVar("T")

# Column of the file -> threshold in us. Every row has 8 and 64 ms, and the others if the source states them.
SHARE_COLUMNS = {
    "pct_over_256us": 256,
    "pct_over_512us": 512,
    "pct_over_1ms": 1_000,
    "pct_over_8ms": 8_000,
    "pct_over_64ms": 64_000,
}
COLUMNS = (
    *("category", "historical", "vendor", "model", "capacity_gb", "over_provisioned_to_gb", "over_provisioning_pct"),
    *("pcie_gen", "provider", "instance", "sole_tenant", "device_count", "device_gb", "backing_device", "protocol"),
    *("tps", *SHARE_COLUMNS, "endurance_dwpd", "compress_pct", "act_version", "source", "duration_hours", "notes"),
    "source_row",
)
# The identity of a published result: the tested system and the version of ACT.
IDENTITY_COLUMNS = (
    *("category", "vendor", "model", "provider", "instance", "capacity_gb", "over_provisioned_to_gb", "sole_tenant"),
    *("device_count", "device_gb", "backing_device", "protocol", "act_version"),
)
PRODUCT_COLUMNS = ("category", "vendor", "model", "provider", "instance", "capacity_gb")
PRODUCT_FACT_COLUMNS = ("historical", "pcie_gen", "endurance_dwpd")


class CatalogueError(Exception):
    """The file is not what the import expects; nothing of it was taken."""

    def __init__(self, path: Path, line: int, column: str, expected: str, got: str) -> None:
        super().__init__(f"{path}:{line}: {column}: expected {expected}, got {got!r}")


@dataclass(frozen=True)
class CatalogueRow:
    """One line of the file; its cells are read by kind, and a cell that cannot be read stops the import."""

    path: Path
    line: int
    cells: dict[str, str]

    @property
    def key(self) -> str:
        """Return the result's permanent key: a hash of its identity."""
        return hashlib.sha256("\n".join(self.cells[column] for column in IDENTITY_COLUMNS).encode()).hexdigest()

    @property
    def category(self) -> Category:
        """Return the table of the page that contains the row."""
        return self._read("category", Category, f"one of {', '.join(Category.values)}")

    def text(self, column: str) -> str:
        """Return the text of a cell; empty means not stated."""
        return self.cells[column]

    def number(self, column: str) -> int | None:
        """Return a whole number of 0 or more, None if not stated."""
        return self._read(column, parse_count, "a whole number") if self.cells[column] else None

    def decimal(self, column: str) -> Decimal | None:
        """Return a decimal of 0 or more with its digits, None if not stated."""
        return self._read(column, parse_decimal, "a number") if self.cells[column] else None

    def percentage(self, column: str) -> Decimal | None:
        """Return a percentage of 0 to 100, None if not stated."""
        return self._read(column, parse_percentage, "a percentage of 0 to 100") if self.cells[column] else None

    def flag(self, column: str) -> bool | None:
        """Return yes or no, None if not stated."""
        return self._read(column, {"yes": True, "no": False}.__getitem__, "yes or no") if self.cells[column] else None

    def fail(self, column: str, expected: str) -> CatalogueError:
        """Return the error that this row's cell is not what was expected."""
        return CatalogueError(self.path, self.line, column, expected, self.cells[column])

    def _read(self, column: str, parse: Callable[[str], T], expected: str) -> T:
        try:
            return parse(self.cells[column])
        except (ValueError, KeyError, InvalidOperation):
            raise self.fail(column, expected) from None


def parse_count(text: str) -> int:
    """Return a whole number; int() alone would also take signs, blanks and underscores."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def parse_decimal(text: str) -> Decimal:
    """Return a plain decimal; Decimal() alone would also take signs, exponents and NaN."""
    if not text.isascii() or text.strip("0123456789.") or text.startswith(".") or text.endswith("."):
        raise ValueError(text)
    return Decimal(text)


def parse_percentage(text: str) -> Decimal:
    """Return a decimal of 0 to 100."""
    percentage = parse_decimal(text)
    if percentage > 100:
        raise ValueError(text)
    return percentage


def read_catalogue(path: Path) -> list[CatalogueRow]:
    """Return the rows of a file. Raises CatalogueError, with line and column, if a row is not valid."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(_read_rows(path, file))
    _refuse_conflicts(rows)
    return rows


def _read_rows(path: Path, file: TextIO) -> Iterator[CatalogueRow]:
    reader = csv.reader(file, strict=True)
    try:
        header: list[str] = next(reader, [])
        if tuple(header) != COLUMNS:
            raise CatalogueError(path, 1, "header", ",".join(COLUMNS), ",".join(header))
        for cells in reader:
            if len(cells) != len(COLUMNS):
                raise CatalogueError(path, reader.line_num, "row", f"{len(COLUMNS)} cells", str(len(cells)))
            yield CatalogueRow(path, reader.line_num, dict(zip(COLUMNS, cells, strict=True)))
    except csv.Error as error:
        raise CatalogueError(path, reader.line_num, "row", "a row of CSV", str(error)) from error
    except UnicodeDecodeError as error:
        raise CatalogueError(path, reader.line_num + 1, "row", "UTF-8", str(error.object[error.start])) from error


def _refuse_conflicts(rows: list[CatalogueRow]) -> None:
    """Raise CatalogueError if two rows are of one result, or state different facts of one product."""
    by_key: dict[str, CatalogueRow] = {}
    by_product: dict[tuple[str, ...], CatalogueRow] = {}
    for row in rows:
        other = by_key.setdefault(row.key, row)
        if other is not row:
            raise row.fail("act_version", f"another one than line {other.line} has for the same device")
        other = by_product.setdefault(tuple(row.text(column) for column in PRODUCT_COLUMNS), row)
        for column in PRODUCT_FACT_COLUMNS:
            if other.text(column) != row.text(column):
                raise row.fail(column, f"{other.text(column)!r} as in line {other.line}, for the same product")
