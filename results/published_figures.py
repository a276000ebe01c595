"""Imports the vendors' YCSB figures and claims kept in results/published: rows without a log, idempotent."""

import csv
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from django.db import transaction

from results.models import PublishedClaim, PublishedFigure

PUBLISHED = Path(__file__).parent / "published"
FIGURE_FILES = ("ycsb_published.csv", "ycsb_read_off_points.csv")
CLAIM_FILE = "published_claims.csv"
STATED = "stated"

Row = dict[str, str]


def import_figures(folder: Path = PUBLISHED) -> int:
    """Write every figure of the two YCSB files; return how many rows were new."""
    with transaction.atomic():
        return sum(
            _upsert(PublishedFigure, name, row, _figure) for name in FIGURE_FILES for row in _read_rows(folder / name)
        )


def import_claims(folder: Path = PUBLISHED) -> int:
    """Write every claim; return how many rows were new."""
    with transaction.atomic():
        return sum(_upsert(PublishedClaim, CLAIM_FILE, row, dict) for row in _read_rows(folder / CLAIM_FILE))


def _read_rows(path: Path) -> Iterator[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _upsert(
    model: type[PublishedFigure] | type[PublishedClaim],
    name: str,
    row: Row,
    columns: Callable[[Row], dict[str, object]],
) -> int:
    _, is_new = model._default_manager.update_or_create(catalogue_key=_key(name, row), defaults=columns(row))
    return int(is_new)


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
