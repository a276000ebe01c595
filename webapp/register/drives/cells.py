"""The rows of the tables of drives as HTML. static/js/drives/rows.js makes the same rows from the same columns.

A page has a thousand cells. Python code writes them in a fifth of the time that a template takes. A cell that depends
on no limit and on no other row is written once per register state and cached with the column store.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from html import escape

from django.utils.safestring import SafeString, mark_safe

from results.models import Category, Verdict, Visibility
from webapp.register.drives.limit_check import over_flags
from webapp.register.drives.order import RowGroup
from webapp.register.drives.store.column_store import BILLIONTHS, tier_code
from webapp.register.drives.store.encoded_columns import NOT_REPORTED, ColumnStore, EncodedColumn
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.columns import Column
from webapp.register.tables.marks import STRONG_FROM, TIERS_RISING, TRACK_UNITS, tier_mark
from webapp.templatetags import units

NOT_REPORTED_MARK = '<span class="dim" aria-hidden="true">-</span><span class="vh">not reported</span>'
TRACK = '<svg class="near" viewBox="0 0 52 10" aria-hidden="true"><rect class="track" y="3" width="44" height="4"/>'
BEYOND = '<rect class="beyond" x="45" y="2" width="6" height="6"/>'
LINE = '<rect class="line" x="43.5" width="1.5" height="10"/></svg>'
CATEGORY_LABELS = dict(Category.choices)


class RowWriter:
    """Writes the rows of one table as HTML, given its columns and the limits that shares are compared with.

    `tags_historical` is true if historical drives are listed among current ones.
    """

    def __init__(
        self,
        store: ColumnStore,
        columns: Sequence[Column],
        limits: YourLimits,
        shown: Iterable[int],
        *,
        tags_historical: bool,
    ) -> None:
        self.store, self.columns, self.tags_historical = store, columns, tags_historical
        self.limits, self.carried = limits.by_threshold, escape(limits.query)
        self._words = {column.code: self._written(column, shown) for column in columns if column.kind != "drive"}
        self._drives: dict[int, str] = store.cached(("drive cells", self.tags_historical), dict)

    def table(self, groups: Iterable[RowGroup]) -> SafeString:
        """Return the bodies of the table, with the reader's own limits in each link.

        Cached cells have plain links. Each link ends with a slash, and no text has a quotation mark after one.
        """
        bodies = "".join(self._body(group) for group in groups)
        carrying = bodies.replace('/">', f'/{self.carried}">') if self.carried else bodies
        return mark_safe(carrying)  # noqa: S308 - every text is escaped below

    def _body(self, group: RowGroup) -> str:
        across = len(self.columns)
        titles = (
            f'<tr class="group"><th colspan="{across}" scope="colgroup"><b>{escape(title)}</b> {escape(note)}</th></tr>'
            for title, note in group.titles
        )
        return f"<tbody>\n{''.join(titles)}{''.join(self._row(row) for row in group.rows)}</tbody>\n"

    def _row(self, row: int) -> str:
        struck = struck_class(self.store.columns["visibility"].word(row))
        cells = "".join(self._cell(column, row) for column in self.columns)
        return f"<tr{struck}>{cells}</tr>\n{self._remarks(row)}"

    def _cell(self, column: Column, row: int) -> str:
        if column.kind == "drive":
            if row not in self._drives:
                self._drives[row] = self._drive(row)
            return self._drives[row]
        cell = self._words[column.code][self.store.columns[column.code].codes[row]]
        return cell.replace("RUN", self.store.runs[row]) if column.kind == "tier" else cell

    def _drive(self, row: int) -> str:
        columns = self.store.columns
        capacity = columns["capacity_gb"].word(row)
        size = f'<span class="only-phone">, {capacity}</span>' if capacity else '<span class="only-phone"></span>'
        vendor, model = escape(columns["vendor"].word(row)), escape(columns["model"].word(row))
        link = f'<a href="/drive/{self.store.slugs[row]}/">{model}</a>'
        named = f'<span class="vendor">{vendor}{size} </span>{link}{self._marks(row)}'
        return f'<th scope="row">{self._box(row, model)}{named}</th>'

    def _box(self, row: int, model: str) -> str:
        run = self.store.runs[row]
        label = f"Compare {model}, run {run}"
        return f'<input type="checkbox" name="run" value="{run}" form="compare-runs" aria-label="{label}">'

    def _marks(self, row: int) -> str:
        columns = self.store.columns
        visibility, outcome = columns["visibility"].word(row), columns["outcome"].word(row)
        marks = withdrawn_mark(visibility)
        marks += ' <span class="tag">superseded</span>' if visibility == "superseded" else ""
        if outcome and outcome != Verdict.Outcome.PASS:
            is_fail = outcome == Verdict.Outcome.FAIL
            marks += f' <span class="{"fail" if is_fail else "tag"}">{"fails" if is_fail else escape(outcome)}</span>'
        is_among_current = self.tags_historical and columns["historical"].word(row) == "yes"
        return marks + (' <span class="tag">historical</span>' if is_among_current else "")

    def _remarks(self, row: int) -> str:
        return "".join(
            f'<tr class="remark"><td colspan="{len(self.columns)}"><b>{escape(word)}</b>'
            + (f' by <a href="/runs/{successor}/">run {successor}</a>' if successor else "")
            + (f": {escape(text)}" if text else "")
            + "</td></tr>\n"
            for word, text, successor in self.store.remarks.get(row, ())
        )

    def _written(self, column: Column, shown: Iterable[int]) -> dict[int, str]:
        """Return the HTML of each word of a column that is shown, by its code."""
        encoded = self.store.columns[column.code]
        used = {encoded.codes[row] for row in shown}
        group = f" g-{column.group}" if column.group else ""
        if column.threshold_us is not None:
            return _share_cells(encoded, used, group, self.limits.get(column.threshold_us))
        write = WRITERS.get(column.kind, _text_cell)
        cells: dict[int, str] = self.store.cached(("cells", column.code, column.kind, group), dict)
        for code in used:
            if code not in cells:
                cells[code] = write("" if code == NOT_REPORTED else encoded.words[code], group)
        return cells


def struck_class(visibility: str) -> str:
    """Return the class attribute that strikes a withdrawn row through (css/withdrawn.css)."""
    return ' class="withdrawn"' if visibility == Visibility.WITHDRAWN else ""


def withdrawn_mark(visibility: str) -> str:
    """Return the word next to the name of a withdrawn run's drive, for readers who cannot see a struck-through line."""
    return ' <span class="fail">withdrawn</span>' if visibility == Visibility.WITHDRAWN else ""


def _share_cells(encoded: EncodedColumn, used: set[int], group: str, limit_pct: Decimal | None) -> dict[int, str]:
    codes = [code for code in used if code != NOT_REPORTED]
    places = max((units.decimal_places(encoded.words[code]) for code in codes), default=0)
    shares = [encoded.values[code] for code in codes]
    over = [False] * len(codes) if limit_pct is None else over_flags(shares, limit_pct)
    cells = {NOT_REPORTED: f'<td class="n share{group}">{NOT_REPORTED_MARK}</td>'}
    for code, share, is_over in zip(codes, shares, over, strict=True):
        mark = "" if limit_pct is None else _nearness(share, limit_pct, is_over)
        printed = escape(encoded.words[code])
        text = f'<span class="over">{printed}</span><span class="vh"> over the limit</span>' if is_over else printed
        cells[code] = f'<td class="n share{group}">{text}{units.padding(encoded.words[code], places)}{mark}</td>'
    return cells


def _nearness(value: float, limit_pct: Decimal, is_over: bool) -> str:
    limit = float(limit_pct) * BILLIONTHS
    ratio = value / limit if limit else 2.0 * (value > 0)
    filled = min(ratio, 1.0) * TRACK_UNITS
    strength = "strong" if is_over or ratio >= float(STRONG_FROM) else "fill"
    fill = f'<rect class="{strength}" y="3" width="{filled:.1f}" height="4"/>' if filled >= 0.05 else ""
    return f"{TRACK}{fill}{BEYOND if is_over else ''}{LINE}"


def _category_cell(word: str, group: str) -> str:
    return _text_cell(CATEGORY_LABELS.get(word, word), group)


def _text_cell(word: str, group: str) -> str:
    return f'<td class="{group.strip()}">{escape(word) or NOT_REPORTED_MARK}</td>'


def _number_cell(word: str, group: str) -> str:
    return f'<td class="n{group}">{escape(word) or NOT_REPORTED_MARK}</td>'


def _computed_cell(word: str, group: str) -> str:
    return f'<td class="n computed{group}">{escape(word) or NOT_REPORTED_MARK}</td>'


def _speed_cell(word: str, _: str) -> str:
    return f'<td class="n"><b>{escape(word)}</b></td>'


def _notes_cell(word: str, group: str) -> str:
    notes = " ".join(f'<span class="tag">{escape(note)}</span>' for note in word.split("\n") if note)
    return f'<td class="{group.strip()}">{notes}</td>'


def _tier_cell(word: str, group: str) -> str:
    """Return the bars of a tier and its word; RUN is replaced by the id of the run that they link to."""
    code = tier_code(word)
    bars = tier_mark(code).bars if code in TIERS_RISING else ()
    drawn = "".join(
        f'<rect class="{"on" if bar.is_filled else "off"}" x="{bar.x}" y="{bar.y}" width="3" height="{bar.height}"/>'
        for bar in bars
    )
    svg = f'<svg class="tier" viewBox="0 0 19 11" aria-hidden="true">{drawn}</svg>'
    label = f'{escape(word)}<span class="vh">: run RUN</span>'
    return f'<td class="{group.strip()}">{svg}<a href="/runs/RUN/">{label}</a></td>'


WRITERS = {
    "number": _number_cell,
    "computed": _computed_cell,
    "speed": _speed_cell,
    "notes": _notes_cell,
    "tier": _tier_cell,
    "text": _text_cell,
    "category": _category_cell,
}
