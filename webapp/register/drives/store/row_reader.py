"""The rows of a shelf as they are read from the register: each once, and again only where something of it changed."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import connection

from results.models import Run
from webapp.register.drives.store.column_values import ColumnWords
from webapp.register.drives.store.encoded_columns import Coding, Shelf
from webapp.register.products.names import SEARCHED_COLUMNS, Names, names_text
from webapp.register.tables.columns import drive_order, product_of
from webapp.register.tables.tables import remarks_of

Remarks = list[tuple[str, str, str]]
# Named, so that a state that is added later is kept from the tables until somebody adds it here.
STANDS_IN_TABLES = "visibility IN ('public', 'superseded', 'withdrawn')"


def row_state(table: str) -> str:
    """Return the expression that names the state of a table's row: its place, and the transaction that wrote it."""
    return f"hashtidextended({table}.ctid, hashint8extended({table}.id, {table}.xmin::text::bigint))"


def rows_state(table: str) -> str:
    """Return the expression that names the state of a set of rows: how many, and that of each, in whatever order.

    The largest id would not do: what two transactions wrote becomes visible in the order in which they end, and the one
    with the lower id may be the later.
    """
    return f"count(*) || ' ' || bit_xor({row_state(table)})"


STATES_OF_RUNS = f"""
SELECT run.id,
       concat_ws(' ', {row_state("run")}, {row_state("product")}, 'n', beside.states, 's', shares.states,
                 'v', verdicts.states)
FROM results_run run
JOIN results_product product ON product.id = run.product_id
LEFT JOIN (SELECT run_id, {rows_state("note")} AS states FROM results_annotation note GROUP BY run_id) beside
       ON beside.run_id = run.id
LEFT JOIN (SELECT run_id, {rows_state("share")} AS states FROM results_share share GROUP BY run_id) shares
       ON shares.run_id = run.id
LEFT JOIN (SELECT run_id, {rows_state("verdict")} AS states FROM results_verdict verdict GROUP BY run_id) verdicts
       ON verdicts.run_id = run.id
WHERE run.{STANDS_IN_TABLES}
"""  # noqa: S608 - of constants


@dataclass(frozen=True, slots=True)
class RowRead:
    """One run: what it sorts by, its names, and for each column the number of its word."""

    order: tuple[tuple[str, str, int], int]
    public_id: str
    slug: str
    names: str
    numbers: tuple[int, ...]
    remarks: Remarks


@dataclass
class RowReader:
    """Reads runs into rows, and makes a shelf of those that are public."""

    codings: dict[str, Coding]
    columns: list[ColumnWords] = field(init=False)
    places: dict[str, int] = field(init=False)
    read: dict[int, tuple[str, RowRead | None]] = field(default_factory=dict)  # by run; None: of no table of drives
    ordered: list[int] = field(default_factory=list)  # the runs of the last shelf

    def __post_init__(self) -> None:
        self.columns = [ColumnWords(coding) for coding in self.codings.values()]
        self.places = {code: place for place, code in enumerate(self.codings)}

    def shelf(self, version: str) -> Shelf:
        """Return every public result; `version` was asked for before, so that what changed since is read next time."""
        self._read_changed(_states())
        rows = self._in_order()
        numbers = zip(*(row.numbers for row in rows), strict=True) if rows else ((),) * len(self.columns)
        coded = [column.coded(list(each)) for column, each in zip(self.columns, numbers, strict=True)]
        columns = dict(zip(self.codings, coded, strict=True))
        return Shelf(
            version=version,
            count=len(rows),
            runs=tuple(row.public_id for row in rows),
            slugs=tuple(row.slug for row in rows),
            columns=columns,
            names=Names(
                tuple(row.names for row in rows),
                tuple(word for code in SEARCHED_COLUMNS for word in columns[code].words),
            ),
            remarks={place: row.remarks for place, row in enumerate(rows) if row.remarks},
        )

    def _read_changed(self, states: dict[int, str]) -> None:
        """Read runs whose state is another than when they were read, and forget those that are gone."""
        changed = [pk for pk, state in states.items() if self.read.get(pk, ("",))[0] != state]
        runs = {run.pk: self._row(run) for run in _runs(changed, is_every=len(changed) == len(states))}
        for pk in self.read.keys() - states.keys():
            del self.read[pk]
        self.read.update((pk, (states[pk], runs.get(pk))) for pk in changed)

    def _in_order(self) -> list[RowRead]:
        """Return the rows in the order of drives' names; sorted from the last shelf's order, which nearly is it."""
        known = set(self.ordered)
        runs = [pk for pk in self.ordered if pk in self.read] + [pk for pk in self.read if pk not in known]
        rows = [row for _, row in map(self.read.__getitem__, runs) if row]
        rows.sort(key=lambda row: row.order)
        self.ordered = [row.order[1] for row in rows]
        return rows

    def _row(self, run: Run) -> RowRead:
        numbers = tuple(column.number(run) for column in self.columns)
        return RowRead(
            order=(drive_order(run), run.pk),
            public_id=run.public_id,
            slug=product_of(run).slug,
            names=names_text([self._word(code, numbers) for code in SEARCHED_COLUMNS]),
            numbers=numbers,
            remarks=[(remark.word, remark.text, remark.successor) for remark in remarks_of(run)],
        )

    def _word(self, code: str, numbers: tuple[int, ...]) -> str:
        return self.columns[self.places[code]].word(numbers[self.places[code]])


def _states() -> dict[int, str]:
    """Return the state of each run that anybody may see: its own, its product's, and those of what stands beside it."""
    with connection.cursor() as cursor:
        cursor.execute(STATES_OF_RUNS)
        return dict(cursor.fetchall())


def _runs(changed: list[int], *, is_every: bool) -> Iterable[Run]:
    if not changed:
        return ()
    runs = Run.objects.public().rated().for_table().defer("facts", "source_row", "notes")
    return runs if is_every else runs.filter(pk__in=changed)
