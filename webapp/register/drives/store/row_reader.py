"""Reads runs from the database into the rows of a column store, each again only when it has changed."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import TypeVar
from uuid import UUID

from django.db import connection

from results.lifecycle.listing_changes import ListingState
from results.models import Run
from webapp.register.drives.store.column_values import CODE_TYPE, ColumnWords
from webapp.register.drives.store.encoded_columns import ColumnEncoding, ColumnStore
from webapp.register.products.name_search import CORRECTED_COLUMNS, SEARCHED_COLUMNS, Names, names_text
from webapp.register.tables.columns import drive_order, product_of
from webapp.register.tables.tables import remarks_of

T = TypeVar("T")
Remarks = list[tuple[str, str, str]]
Order = tuple[tuple[str, str, int], int]  # by the name of the drive, then by the id of the run
# A list of names, so that a visibility added later stays out of the tables until it is added here and to the triggers
# of results/migrations/0062_listing_changes.py.
LISTED_IN_TABLES = "visibility IN ('public', 'superseded', 'withdrawn')"
READ_AT_ONCE = 5000  # runs, with everything that their rows show


def row_state(table: str) -> str:
    """Return the SQL expression of a row's state: its place, and the transaction that wrote it."""
    return f"hashtidextended({table}.ctid, hashint8extended({table}.id, {table}.xmin::text::bigint))"


def rows_state(table: str) -> str:
    """Return the SQL expression of the state of a set of rows: their number, and the state of each, in any order.

    The largest id is not enough: rows become visible when their transaction ends, and a row with a lower id may be
    the later one.
    """
    return f"count(*) || ' ' || bit_xor({row_state(table)})"


STATES_OF_RUNS = f"""
SELECT run.id,
       hashtextextended(concat_ws(' ', {row_state("run")}, {row_state("product")}, 'n', notes.states, 's',
                                  shares.states, 'v', verdicts.states), 0)
FROM results_run run
JOIN results_product product ON product.id = run.product_id
LEFT JOIN (SELECT run_id, {rows_state("note")} AS states FROM results_annotation note
           WHERE %(every)s OR run_id = ANY(%(runs)s::bigint[]) GROUP BY run_id) notes
       ON notes.run_id = run.id
LEFT JOIN (SELECT run_id, {rows_state("share")} AS states FROM results_share share
           WHERE %(every)s OR run_id = ANY(%(runs)s::bigint[]) GROUP BY run_id) shares
       ON shares.run_id = run.id
LEFT JOIN (SELECT run_id, {rows_state("verdict")} AS states FROM results_verdict verdict
           WHERE %(every)s OR run_id = ANY(%(runs)s::bigint[]) GROUP BY run_id) verdicts
       ON verdicts.run_id = run.id
WHERE run.{LISTED_IN_TABLES} AND (%(every)s OR run.id = ANY(%(runs)s::bigint[]))
"""  # noqa: S608 - of constants


@dataclass(frozen=True, slots=True)
class RowRead:
    """One run: its sort key, its names, and for each column the number of its word."""

    order: Order
    public_id: str
    slug: str
    names: str
    numbers: tuple[int, ...]
    remarks: Remarks


@dataclass
class Rows:
    """What is known of the rows of the last store, each list in their order.

    `states` has the state of every run that was read, also of those without a row.
    """

    orders: list[Order] = field(default_factory=list)
    public_ids: list[str] = field(default_factory=list)
    slugs: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    remarks: dict[int, Remarks] = field(default_factory=dict)  # by run, for those with remarks
    states: dict[int, int] = field(default_factory=dict)  # by run

    def places(self) -> dict[int, int]:
        """Return the place of each run."""
        return {run: place for place, (_, run) in enumerate(self.orders)}


@dataclass(frozen=True)
class Part:
    """Some of the last rows, from one place up to another, and then perhaps a new row."""

    first: int
    end: int
    row: RowRead | None = None


class RowReader:
    """Reads public runs into rows, and makes column stores of them."""

    def __init__(self, encodings: dict[str, ColumnEncoding]) -> None:
        self.columns = {code: ColumnWords(encoding) for code, encoding in encodings.items()}
        self.rows = Rows()
        self.known: frozenset[UUID] = frozenset()  # the changes that the rows show

    def updated(self, state: ListingState) -> ColumnStore:
        """Return all public results. `state` was read before them, so that later changes are read next time."""
        runs = state.changed_since(self.known) if self.known else None
        store = self.store(state.version, runs)
        self.known = frozenset(state.changes)
        return store

    def store(self, version: str, runs: Collection[int] | None = None) -> ColumnStore:
        """Return all public results. Only `runs` may have changed since the last store; None: all of them."""
        if runs is None or runs:
            self._read_changed(runs)
        columns = {code: column.made for code, column in self.columns.items()}
        places = self.rows.places() if self.rows.remarks else {}
        return ColumnStore(
            version=version,
            count=len(self.rows.orders),
            runs=tuple(self.rows.public_ids),
            slugs=tuple(self.rows.slugs),
            columns=columns,
            names=Names(
                tuple(self.rows.names),
                tuple(word for code in CORRECTED_COLUMNS for word in columns[code].words),
            ),
            remarks=dict(sorted((places[run], remarks) for run, remarks in self.rows.remarks.items())),
        )

    def _read_changed(self, runs: Collection[int] | None) -> None:
        """Read the runs whose state has changed, and forget those that no longer exist."""
        states, known = _states(runs), self.rows.states
        changed = [run for run, state in states.items() if known.get(run) != state]
        gone = (known.keys() if runs is None else known.keys() & set(runs)) - states.keys()
        if changed or gone:
            new = sorted(self._read(changed), key=lambda row: row.order)
            self._replace([*changed, *gone], new)
        for run in gone:
            del known[run]
        known.update((run, states[run]) for run in changed)

    def _read(self, runs: Sequence[int]) -> Iterator[RowRead]:
        for first in range(0, len(runs), READ_AT_ONCE):
            yield from map(self._row, _runs(runs[first : first + READ_AT_ONCE]))

    def _replace(self, runs: Iterable[int], new: Sequence[RowRead]) -> None:
        """Remove the rows of some runs, and add new rows in their place in the order."""
        rows, places = self.rows, self.rows.places()
        parts = list(_parts(rows.orders, sorted(places[run] for run in runs if run in places), new))
        for place, column in enumerate(self.columns.values()):
            numbers = array(CODE_TYPE)
            for part in parts:
                numbers.extend(column.rows[part.first : part.end])
                if part.row:
                    numbers.append(part.row.numbers[place])
            column.encode(numbers)
        rows.public_ids = _spliced(rows.public_ids, parts, lambda row: row.public_id)
        rows.slugs = _spliced(rows.slugs, parts, lambda row: intern(row.slug))
        rows.names = _spliced(rows.names, parts, lambda row: intern(row.names))
        rows.orders = _spliced(rows.orders, parts, lambda row: row.order)
        for run in runs:
            rows.remarks.pop(run, None)
        rows.remarks.update((row.order[1], row.remarks) for row in new if row.remarks)

    def _row(self, run: Run) -> RowRead:
        numbers = {code: column.number(run) for code, column in self.columns.items()}
        return RowRead(
            order=(drive_order(run), run.pk),
            public_id=run.public_id,
            slug=product_of(run).slug,
            names=names_text([self.columns[code].word(numbers[code]) for code in SEARCHED_COLUMNS]),
            numbers=tuple(numbers.values()),
            remarks=[(remark.word, remark.text, remark.successor) for remark in remarks_of(run)],
        )


def _parts(orders: Sequence[Order], removed: Sequence[int], new: Sequence[RowRead]) -> Iterator[Part]:
    """Yield what the rows consist of once some places are removed, and new rows, which are sorted, are added."""
    # A new row comes before the row at its place, also before one that is removed.
    cuts = [(bisect_left(orders, row.order), 0, row) for row in new]
    first = 0
    for place, _, row in sorted([*cuts, *((place, 1, None) for place in removed)], key=lambda cut: cut[:2]):
        yield Part(first, place, row)
        first = place if row else place + 1
    yield Part(first, len(orders))


def _spliced(values: Sequence[T], parts: Iterable[Part], of: Callable[[RowRead], T]) -> list[T]:
    found: list[T] = []
    for part in parts:
        found.extend(values[part.first : part.end])
        if part.row:
            found.append(of(part.row))
    return found


def _states(runs: Collection[int] | None) -> dict[int, int]:
    """Return the state of each public run, or of some of them, with its product, annotations, shares and verdicts."""
    with connection.cursor() as cursor:
        cursor.execute(STATES_OF_RUNS, {"every": runs is None, "runs": list(runs or ())})
        return dict(cursor.fetchall())


def _runs(changed: Sequence[int]) -> Iterable[Run]:
    return Run.objects.public().rated().for_table().defer("facts", "source_row", "notes").filter(pk__in=changed)
