"""Tables of runs: rows sorted within their statistic, with their marks and links."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape

from django.utils.safestring import SafeString

from results.models import Category, Product, Run, Share, Statistic, Visibility
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK
from webapp.register.tables.columns import Column, drive_order, product_of, share_of
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.marks import NearnessMark, TierMark, nearness_mark, run_tier_mark, tier_code, tier_mark
from webapp.register.tables.meanings import meaning_address
from webapp.register.tables.parameters import FASTEST_FIRST, ListQuery, Sort
from webapp.register.tables.parts import fill
from webapp.templatetags import units

RUN = "\0"  # in the cell of a tier, for the id of the run that it links to; no stored text contains it
CATEGORY_LABELS = dict(Category.choices)
ORDERS = {False: "ascending", True: "descending"}  # of a sort, in `aria-sort`
PART_OF_KIND = {"category": "text", "notes": "text", "tier": "text"}
GROUP_LABELS = {
    "share": "Slow reads",
    "fast": "Below 1 ms",
    "end": "Endurance",
    "size": "Capacity",
    "device": "Devices",
    "ev": "Evidence",
}
STATISTIC_TITLES = {
    Statistic.STEADY_AS_PUBLISHED: ("As published:", "shares are steady-state values, not the worst hour."),
    Statistic.WORST_SLICE: ("From stored logs:", "shares are those of the worst slice of each run."),
    Statistic.OVERALL: ("From stored logs, whole run:", "shares are over the whole run, not its worst slice."),
}


@dataclass(frozen=True)
class TableSpec:
    """The specification of a table: its columns, and the notes below it.

    `by_choice` has the codes of the columns that are shown only on request.
    """

    code: str
    title: str
    columns: tuple[Column, ...]
    by_choice: frozenset[str] = frozenset()
    size_label: str = GROUP_LABELS["size"]
    source_notes: tuple[str, ...] = ()
    reading_notes: tuple[str, ...] = ()

    @property
    def usual(self) -> tuple[Column, ...]:
        """Return the columns that are shown by default."""
        return tuple(column for column in self.columns if column.code not in self.by_choice)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """Return the notes below the table: first those of its source, then how to read it."""
        return self.source_notes + self.reading_notes


def head_html(
    column: Column, sort: Sort, limits: Mapping[int, Decimal], address: Callable[[Sort], str], has_code: bool = False
) -> SafeString:
    """Return the head of a column as HTML; `address` returns the address of the same rows in another order.

    With `has_code`, the head has the column's code, by which the script of the drive tables finds it. A page has
    twenty heads, and a template takes ten times as long for them.
    """
    name, unit = escape(column.head), escape(_unit(column, limits))
    classes = " ".join(filter(None, ("n" * column.is_number, column.group and f"g-{column.group}")))
    attributes, falls, label = f' class="{classes}"' if classes else "", column.falls_first, f"<span>{name}</span>"
    if sort.code == column.code:
        attributes += f' aria-sort="{ORDERS[sort.falls]}"'
        falls = not sort.falls
    if has_code:
        attributes += f' data-column="{column.code}"'
    if column.is_sortable:
        label = f'<a href="{escape(address(Sort(column.code, falls)))}">{name}</a>'
    return SafeString(
        f'<th scope="col"{attributes}>{label}'
        + (f'<span class="u">{unit}</span>' if unit else "")
        + f'<a class="means sign" href="{meaning_address(column.code)}" aria-label="What {name} means">?</a></th>'
    )


def _unit(column: Column, limits: Mapping[int, Decimal]) -> str:
    if column.threshold_us is None:
        return column.unit
    limit_pct = limits.get(column.threshold_us)
    return f"limit {units.decimal(limit_pct)}{units.NBSP}%" if limit_pct is not None else "%, no limit"


def column_groups(spec: TableSpec, columns: Collection[Column]) -> list[tuple[str, str]]:
    """Return code and label of the column groups that a narrow screen chooses from."""
    has_rating = any(column.code == "endurance_dwpd" for column in columns)
    labels = GROUP_LABELS | {"size": spec.size_label, "end": "Endurance" if has_rating else "Notes"}
    return [(code, label) for code, label in labels.items() if any(column.group == code for column in columns)]


@dataclass(frozen=True)
class Cell:
    """One cell: its text, the blanks that align it with the cells above and below, and its mark, if any."""

    column: Column
    text: str
    padding: str = ""
    nearness: NearnessMark | None = None
    share: Share | None = None

    @property
    def html(self) -> SafeString:
        """Return the cell as HTML, if its column has no template of its own."""
        return word_cell(self.column, self.text)


def word_cell(column: Column, word: str) -> SafeString:
    """Return the cell of a word; that of a tier links to the run with the id RUN."""
    text = CATEGORY_LABELS.get(word, word) if column.kind == "category" else word
    text_html = escape(text) or ("" if column.kind == "speed" else fill("missing"))
    if column.kind == "notes":
        text_html = " ".join(fill("word", kind="tag", word=note) for note in word.split("\n") if note)
    if column.kind == "tier" and word:
        text_html = tier_mark(tier_code(word)).html + fill("run", run=RUN, text=word, carried="")
    return fill(PART_OF_KIND.get(column.kind, column.kind), group=column.group, text_html=text_html)


@dataclass(frozen=True)
class Remark:
    """A line below a row: a withdrawal, a successor, an annotation, or the mark of a virtual device."""

    word: str
    text: str
    successor: str = ""


@dataclass(frozen=True)
class Row:
    """One run of a table."""

    run: Run
    product: Product
    cells: list[Cell]
    tier: TierMark
    outcome: str
    remarks: list[Remark]

    @property
    def is_over(self) -> bool:
        """Return whether at least one shown share is over its limit."""
        return any(cell.nearness.is_over for cell in self.cells if cell.nearness)

    @property
    def is_current(self) -> bool:
        """Return whether the run is neither withdrawn nor superseded."""
        return self.run.visibility == Visibility.PUBLIC


@dataclass(frozen=True)
class Table:
    """A table, ready for its template; `groups` are titles with the rows below them."""

    spec: TableSpec
    heads: list[SafeString]
    groups: list[tuple[tuple[str, str], list[Row]]] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """Return all rows, in the order in which they are shown."""
        return [row for _, rows in self.groups for row in rows]

    @property
    def has_several(self) -> bool:
        """Return whether the table has at least two runs, so that a reader can compare them."""
        return len(self.rows) > 1

    @property
    def column_groups(self) -> list[tuple[str, str]]:
        """Return code and label of the column groups that a narrow screen offers."""
        return column_groups(self.spec, self.spec.columns)


def build_table(spec: TableSpec, runs: Iterable[Run], query: ListQuery, limits: dict[int, Decimal]) -> Table:
    """Return the table of these runs; `limits` is threshold in us -> limit in percent."""
    ordered = in_order(list(runs), spec.columns, query.sort)
    places = {column: _places(column, ordered) for column in spec.columns}
    rows = [build_row(run, places, limits) for run in ordered]
    heads = [head_html(column, query.sort, limits, lambda sort: query.address(sort=sort)) for column in spec.columns]
    return Table(spec, heads, list(_groups(rows)))


def in_order(runs: list[Run], columns: Iterable[Column], sort: Sort) -> list[Run]:
    """Return the runs sorted. Missing values come last in both directions; ties are sorted by speed, then by name."""
    column = next((column for column in columns if column.code == sort.code), None)
    by_name = sorted(runs, key=drive_order)
    fastest_first = sorted(by_name, key=lambda run: -(run.tps or 0))
    if column is None or sort == FASTEST_FIRST:
        return fastest_first
    stated = [run for run in fastest_first if column.order(run) is not None]
    missing = [run for run in fastest_first if column.order(run) is None]
    return sorted(stated, key=column.order, reverse=sort.falls) + missing


def _places(column: Column, runs: list[Run]) -> int:
    """Return the largest number of decimals in a column of shares, to which the others are padded."""
    if column.threshold_us is None:
        return 0
    shares = (share_of(run, column.threshold_us) for run in runs)
    return max((units.decimal_places(share.printed) for share in shares if share), default=0)


def build_row(run: Run, places: dict[Column, int], limits: dict[int, Decimal]) -> Row:
    """Return the row of a run; `places` has the columns, and the number of decimals that their shares are padded to."""
    verdicts = run.verdicts.all()
    return Row(
        run=run,
        product=product_of(run),
        cells=[_cell(column, run, places[column], limits) for column in places],
        tier=run_tier_mark(run),
        outcome=verdicts[0].outcome if verdicts else "",
        remarks=remarks_of(run),
    )


def remarks_of(run: Run) -> list[Remark]:
    """Return the remarks on a run's figures; the run was fetched for a table."""
    virtual = [Remark(VIRTUAL_DEVICE_MARK, "this run cannot certify a drive.")] if run.is_on_no_drive else []
    always = virtual + [Remark("annotation", annotation.text) for annotation in run.annotations.all()]
    reason: str = getattr(run, "mark_reason", "")
    if run.visibility == Visibility.WITHDRAWN:
        return [Remark("withdrawn", reason), *always]
    if run.visibility == Visibility.SUPERSEDED and run.superseded_by:
        return [Remark("superseded", reason, run.superseded_by.public_id), *always]
    return always


def _cell(column: Column, run: Run, places: int, limits: dict[int, Decimal]) -> Cell:
    if column.threshold_us is None:
        return Cell(column, column.text(run))
    share = share_of(run, column.threshold_us)
    return share_cell(column, share, places, limits.get(column.threshold_us)) if share else Cell(column, "")


def share_cell(column: Column, share: Share, places: int, limit_pct: Decimal | None) -> Cell:
    """Return the cell of a share, with its mark if there is a limit."""
    printed, padding = units.share(share.printed, share.over_count), units.padding(share.printed, places)
    if limit_pct is None:
        return Cell(column, printed, padding, share=share)
    mark = nearness_mark(share.share_pct, limit_pct, is_over=is_over(share, limit_pct))
    return Cell(column, printed, padding, mark, share)


def _groups(rows: list[Row]) -> Iterable[tuple[tuple[str, str], list[Row]]]:
    """Divide rows by statistic, so that figures of two statistics are never mixed."""
    for statistic, title in STATISTIC_TITLES.items():
        if same := [row for row in rows if row.run.statistic == statistic]:
            yield title, same
