"""Imports the vendors' YCSB figures and claims kept in results/catalogue/published: rows without a log, idempotent."""

import csv
import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from django.db import transaction

from results.models import PublishedClaim, PublishedFigure

PUBLISHED = Path(__file__).parent / "published"
FIGURE_FILES = ("ycsb_published.csv", "ycsb_read_off_points.csv")
CLAIM_FILE = "published_claims.csv"
STATED = "stated"

Row = dict[str, str]
T = TypeVar("T", PublishedFigure, PublishedClaim)


def import_figures(folder: Path = PUBLISHED) -> int:
    """Write every figure of the two YCSB files; return how many rows were new."""
    with transaction.atomic():
        return sum(_upsert(PublishedFigure, name, _read_rows(folder / name), _figure) for name in FIGURE_FILES)


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
    told = [{"catalogue_key": _key(name, row)} | columns(row) for row in rows]
    if not told:
        return 0
    manager.bulk_create(
        [model(**each) for each in told],
        update_conflicts=True,
        unique_fields=["catalogue_key"],
        update_fields=[column for column in told[0] if column != "catalogue_key"],
    )
    return manager.count() - count_before


# What is stated about a thing may be corrected in the file; what the thing is makes its key.
CORRECTABLE = {"value", "unit", "source_label", "exactness", "stated_value", "recomputed_value", "status", "note"}


def _key(name: str, row: Row) -> str:
    identity = [name, *(f"{column}={row[column]}" for column in sorted(row.keys() - CORRECTABLE))]
    return hashlib.sha256("\n".join(identity).encode()).hexdigest()


def _figure(row: Row) -> dict[str, object]:
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
