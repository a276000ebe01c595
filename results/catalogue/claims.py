"""Published YCSB figures and claims: imported without a log, and recomputed from the figures of their publication."""

import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from django.db import transaction

from results.history import record_event
from results.models import PublishedClaim, PublishedFigure
from results.rules.ycsb.claims import Claim, ClaimCheck, Figure, LittlesLawCheck, check_claim, law_checks
from results.rules.ycsb.statements import Status, outcome_of

PUBLISHED = Path(__file__).parent / "published"
FIGURE_FILES = ("ycsb_published.csv", "ycsb_read_off_points.csv")
CLAIM_FILE = "published_claims.csv"
CLAIMS_RECOMPUTED, CLAIM_CHANGED = "claims-recomputed", "claim-changed"  # kinds of events
STATED, READ_OFF = "stated", "read off a figure"  # of the column "exactness"; a remark can follow "stated"

APPROXIMATE = "stated with ~"  # of the column "note" of claims

Row = dict[str, str]
T = TypeVar("T", PublishedFigure, PublishedClaim)


def import_figures(folder: Path = PUBLISHED) -> int:
    """Write every figure of the two YCSB files; return how many rows were new."""
    with transaction.atomic():
        return sum(
            _upsert(PublishedFigure, name, [(row, _figure_columns(row)) for row in _rows(folder / name)])
            for name in FIGURE_FILES
        )


def import_claims(folder: Path = PUBLISHED) -> int:
    """Write every claim, and record what is new or changed as events; return how many rows were new."""
    rows, checks = _rows(folder / CLAIM_FILE), [each.check for each in check_published_claims(folder)]
    impossible = [each for each in published_law_checks(folder) if not each.law.is_possible]
    claims = [
        (row, row | {"exact_status": check.status.value}, any(each.is_used_by(check) for each in impossible))
        for row, check in zip(rows, checks, strict=True)
    ]
    with transaction.atomic():
        known = {claim.catalogue_key: claim for claim in PublishedClaim.objects.all()}
        added = _upsert(PublishedClaim, CLAIM_FILE, [(row, columns) for row, columns, _ in claims])
        _record_claims(claims, known)
    return added


RECOMPUTED = ("stated_value", "recomputed_value", "exact_status")  # their changes are events
CLAIM_NAME = ("publication", "claim", "workload", "device", "unit")


def _record_claims(claims: Iterable[tuple[Row, Row, bool]], known: Mapping[str, PublishedClaim]) -> None:
    """Record one event for the new claims of each publication, and one for each claim with another result.

    Both have the statuses of exact values, as pages show them, not those of the file, which judges rounded values. The
    first also counts the claims that use an impossible result.
    """
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    impossible: Counter[str] = Counter()
    for row, columns, uses_impossible in claims:
        earlier = known.get(_key(CLAIM_FILE, row))
        if earlier is None:
            outcome = outcome_of(Status(columns["exact_status"]), uses_impossible=uses_impossible)
            outcomes[row["publication"]][outcome.value] += 1
            impossible[row["publication"]] += uses_impossible
        elif changes := _changes(earlier, columns):
            details = {name: row[name] for name in CLAIM_NAME} | {"changes": changes}
            record_event(None, CLAIM_CHANGED, ("claim", earlier.catalogue_key), "", details)
    for publication, counts in outcomes.items():
        recomputed = {"outcomes": dict(counts), "impossible_claims": impossible[publication]}
        record_event(None, CLAIMS_RECOMPUTED, ("publication", publication), "", recomputed)


def _changes(earlier: PublishedClaim, columns: Row) -> dict[str, list[str]]:
    """Return old and new values. The old exact status is not known if an earlier release imported the claim."""
    compared = RECOMPUTED if earlier.exact_status else RECOMPUTED[:-1]
    both = {name: [getattr(earlier, name), columns[name]] for name in compared}
    return {name: values for name, values in both.items() if values[0] != values[1]}


def _rows(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _upsert(model: type[T], name: str, rows: Sequence[tuple[Row, Mapping[str, object]]]) -> int:
    """Write all rows of a file, with the columns of each, in one statement: a first start has some two hundred."""
    manager = model._default_manager
    count_before = manager.count()
    if rows:
        manager.bulk_create(
            [model(catalogue_key=_key(name, row), **columns) for row, columns in rows],
            update_conflicts=True,
            unique_fields=["catalogue_key"],
            update_fields=list(rows[0][1]),
        )
    return manager.count() - count_before


# The file may correct these columns; all others identify a figure or claim and make its key.
CORRECTABLE = {"value", "unit", "source_label", "exactness", "stated_value", "recomputed_value", "status", "note"}


def _key(name: str, row: Row) -> str:
    identity = [name, *(f"{column}={row[column]}" for column in sorted(row.keys() - CORRECTABLE))]
    return hashlib.sha256("\n".join(identity).encode()).hexdigest()


FIGURE_TEXTS = ("publication", "database", "vendor", "model", "workload", "metric", "value", "unit", "source_label")
# Column of the table -> column of the files.
FIGURE_COUNTS = {
    "capacity_gb": "capacity_gb",
    "threads_count": "threads",
    "at_ops_per_s": "throughput_ops_per_sec",
    "operations_count": "operations",
}


def _figure_columns(row: Row) -> Mapping[str, object]:
    texts = {name: row.get(name, "") for name in FIGURE_TEXTS}
    counts = {column: int(row[name]) if row.get(name) else None for column, name in FIGURE_COUNTS.items()}
    return texts | counts | {"exactness": row.get("exactness", STATED)}


@dataclass(frozen=True)
class CheckedRow:
    """A row of the claims' file with what its figures give; `line` counts from 1, the heading included."""

    line: int
    check: ClaimCheck
    recorded_value: str
    recorded_status: str
    note: str = ""

    @property
    def is_as_recorded(self) -> bool:
        """Return whether value and status in the file equal the recomputed ones, both for the printed value."""
        recorded = (self.recorded_value, self.recorded_status)
        return recorded == (self.check.printed, self.check.printed_status)

    @property
    def is_exactly_another(self) -> bool:
        """Return whether the exact and the rounded value differ in status; False for words and chart points."""
        is_of_digits = self.check.span is None and not self.is_in_words
        return is_of_digits and self.check.status != self.check.printed_status

    @property
    def is_approximate(self) -> bool:
        """Return whether the publication states the number with a "~" before it."""
        return self.note == APPROXIMATE

    @property
    def is_in_words(self) -> bool:
        """Return whether the claim states a word instead of a number, so that its figures cannot decide it."""
        return self.check.status is Status.IN_WORDS


def read_published_figures(folder: Path = PUBLISHED) -> list[Figure]:
    """Return all figures of the two YCSB files."""
    return [_figure(row) for name in FIGURE_FILES for row in _rows(folder / name)]


def published_vendors(folder: Path = PUBLISHED) -> Mapping[tuple[str, str], str]:
    """Return the vendor of each drive that has figures, by publication and drive."""
    rows = [row for name in FIGURE_FILES for row in _rows(folder / name)]
    return {(row["publication"], row["model"]): row["vendor"] for row in rows}


def check_published_claims(folder: Path = PUBLISHED) -> list[CheckedRow]:
    """Return every claim of the file, in its order, recomputed."""
    figures = read_published_figures(folder)
    return [
        CheckedRow(line, check_claim(_claim(row), figures), row["recomputed_value"], row["status"], row["note"])
        for line, row in enumerate(_rows(folder / CLAIM_FILE), start=2)
    ]


def published_law_checks(folder: Path = PUBLISHED) -> Sequence[LittlesLawCheck]:
    """Return the check by Little's law of every published throughput whose latencies are all stated."""
    return law_checks(read_published_figures(folder))


def _claim(row: Row) -> Claim:
    return Claim(**{name: row[name] for name in Claim.__dataclass_fields__})


def _figure(row: Row) -> Figure:
    at_ops_per_s = row.get("throughput_ops_per_sec", "")
    return Figure(
        **{name: row[name] for name in ("publication", "model", "workload", "metric", "unit")},
        value=Fraction(Decimal(row["value"])),
        threads=int(row["threads"]) if row["threads"] else None,
        at_ops_per_s=Fraction(at_ops_per_s) if at_ops_per_s else None,
        is_read_off=row.get("exactness") == READ_OFF,
    )
