"""Reads runs from the database into rows of the column store, each again only when it has changed."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

from results.models import Run
from webapp.register.drives.store.column_values import ColumnWords
from webapp.register.drives.store.encoded_columns import ColumnEncoding, ColumnStore
from webapp.register.products.name_search import CORRECTED_COLUMNS, SEARCHED_COLUMNS, Names, names_text
from webapp.register.tables.columns import drive_order, product_of
from webapp.register.tables.tables import remarks_of

Remarks = list[tuple[str, str, str]]
# A list of names, so that a visibility added later stays out of the tables until it is added here.
LISTED_IN_TABLES = "visibility IN ('public', 'superseded', 'withdrawn')"


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
       concat_ws(' ', {row_state("run")}, {row_state("product")}, 'n', notes.states, 's', shares.states,
                 'v', verdicts.states)
FROM results_run run
JOIN results_product product ON product.id = run.product_id
LEFT JOIN (SELECT run_id, {rows_state("note")} AS states FROM results_annotation note GROUP BY run_id) notes
       ON notes.run_id = run.id
LEFT JOIN (SELECT run_id, {rows_state("share")} AS states FROM results_share share GROUP BY run_id) shares
       ON shares.run_id = run.id
LEFT JOIN (SELECT run_id, {rows_state("verdict")} AS states FROM results_verdict verdict GROUP BY run_id) verdicts
       ON verdicts.run_id = run.id
WHERE run.{LISTED_IN_TABLES}
"""  # noqa: S608 - of constants


@dataclass(frozen=True, slots=True)
class RowRead:
    """One run: its sort key, its names, and for each column the number of its word."""

    order: tuple[tuple[str, str, int], int]
    public_id: str
    slug: str
    names: str
    numbers: tuple[int, ...]
    remarks: Remarks


class RowReader:
    """Reads public runs into rows, and makes column stores of them."""

    def __init__(self, encodings: dict[str, ColumnEncoding]) -> None:
        self.columns = {code: ColumnWords(encoding) for code, encoding in encodings.items()}
        self.read: dict[int, tuple[str, RowRead | None]] = {}  # by run; None for a run without a row
        self.ordered: list[int] = []  # the runs of the last store

    def store(self, version: str) -> ColumnStore:
        """Return all public results. `version` was read before them, so that later changes are read next time."""
        self._read_changed(_states())
        rows = self._in_order()
        numbers = zip(*(row.numbers for row in rows), strict=True) if rows else ((),) * len(self.columns)
        words = zip(self.columns.items(), numbers, strict=True)
        columns = {code: column.encode(list(each)) for (code, column), each in words}
        return ColumnStore(
            version=version,
            count=len(rows),
            runs=tuple(row.public_id for row in rows),
            slugs=tuple(row.slug for row in rows),
            columns=columns,
            names=Names(
                tuple(row.names for row in rows),
                tuple(word for code in CORRECTED_COLUMNS for word in columns[code].words),
            ),
            remarks={place: row.remarks for place, row in enumerate(rows) if row.remarks},
        )

    def _read_changed(self, states: dict[int, str]) -> None:
        """Read the runs whose state has changed, and forget those that no longer exist."""
        changed = [pk for pk, state in states.items() if self.read.get(pk, ("",))[0] != state]
        runs = {run.pk: self._row(run) for run in _runs(changed, is_all=len(changed) == len(states))}
        for pk in self.read.keys() - states.keys():
            del self.read[pk]
        self.read.update((pk, (states[pk], runs.get(pk))) for pk in changed)

    def _in_order(self) -> list[RowRead]:
        """Return the rows in the order of drives' names, sorted from the last order, which is almost right."""
        known = set(self.ordered)
        runs = [pk for pk in self.ordered if pk in self.read] + [pk for pk in self.read if pk not in known]
        rows = [row for _, row in map(self.read.__getitem__, runs) if row]
        rows.sort(key=lambda row: row.order)
        self.ordered = [row.order[1] for row in rows]
        return rows

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


def _states() -> dict[int, str]:
    """Return the state of each public run, with its product, annotations, shares and verdicts."""
    with connection.cursor() as cursor:
        cursor.execute(STATES_OF_RUNS)
        return dict(cursor.fetchall())


def _runs(changed: list[int], *, is_all: bool) -> Iterable[Run]:
    if not changed:
        return ()
    runs = Run.objects.public().rated().for_table().defer("facts", "source_row", "notes")
    return runs if is_all else runs.filter(pk__in=changed)
