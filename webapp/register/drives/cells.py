"""The rows of the tables of drives as HTML, filled into the same templates by static/js/drives/rows.js.

A cell that depends on no limit and on no other row is written once per register state and cached with the column store.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from html import escape

from django.utils.safestring import SafeString, mark_safe

from results.models import Verdict, Visibility
from webapp.register.drives.layouts import PageLayout
from webapp.register.drives.limit_check import over_flags
from webapp.register.drives.order import RowGroup
from webapp.register.drives.store.encoded_columns import BILLIONTHS, NOT_REPORTED, ColumnStore, EncodedColumn
from webapp.register.drives.store.ranking import row_glyph
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.columns import Column
from webapp.register.tables.marks import ABOVE_ALL, nearness_html
from webapp.register.tables.parts import fill
from webapp.register.tables.tables import RUN, word_cell
from webapp.templatetags import units

WITHDRAWN = ' class="withdrawn"'
DRIVE_LINK = re.compile(r'"/drive/[^"]*(?=">)')


def whole_words(name: str) -> str:
    """Return a name as HTML whose lines break only at blanks, and not at the hyphens of a word.

    >>> whole_words("n2-standard-80"), whole_words("PM983 <X>")
    ('<span class="nowrap">n2-standard-80</span>', 'PM983 &lt;X&gt;')
    """
    words = name.split(" ")
    return " ".join(fill("word", kind="nowrap", word=word) if "-" in word else escape(word) for word in words)


class RowWriter:
    """Writes the rows of one table as HTML, given its columns and the limits that shares are compared with.

    `layout` is that of the page: historical drives among current ones have a tag, and instances on a page of their own
    have the mark of their provider, as in its chart. `load_tps` is the reader's load.
    """

    def __init__(
        self,
        store: ColumnStore,
        columns: Sequence[Column],
        limits: YourLimits,
        shown: Iterable[int],
        *,
        layout: PageLayout,
        load_tps: float | None = None,
    ) -> None:
        self.store, self.columns, self.layout = store, columns, layout
        self.across = str(len(columns))
        self.limits, self.carried = limits.by_threshold, escape(limits.query)
        self.carried_to_drives = escape(limits.query_with_load(load_tps))
        self._words = {column.code: self._written(column, shown) for column in columns if column.kind != "drive"}
        self._notes: Mapping[int, str] = {}
        look = (layout.is_historical, layout.has_only_instances)
        self._drives: dict[tuple[int, str], str] = store.cached(("drive cells", *look), dict)

    def table(
        self, groups: Iterable[RowGroup], first_id: str = "", notes: Mapping[int, str] | None = None
    ) -> SafeString:
        """Return the bodies of the table, with the reader's own limits in each link, and the load in links to drives.

        The first body gets an id. `notes` has a note for some rows, which follows the name of the drive.

        Cached cells have plain links. Each link ends with a slash, and no text has a quotation mark after one.
        """
        self._notes = notes or {}
        bodies = "".join(self._body(group) for group in groups)
        if first_id:
            bodies = bodies.replace("<tbody>", f'<tbody id="{first_id}" tabindex="-1">', 1)
        if self.carried_to_drives:
            bodies = DRIVE_LINK.sub(lambda link: link[0] + self.carried_to_drives, bodies)
        if self.carried:
            bodies = bodies.replace('/">', f'/{self.carried}">')
        return mark_safe(bodies)  # noqa: S308 - every text is escaped by `fill`

    def _body(self, group: RowGroup) -> str:
        title, note = group.title
        head = fill("title", across=self.across, title=title, note=note)
        return f"<tbody>\n{head}{''.join(self._row(row) for row in group.rows)}</tbody>\n"

    def _row(self, row: int) -> str:
        """Return a row and its remarks. A withdrawn run's row is struck through (css/withdrawn.css)."""
        is_withdrawn = self.store.columns["visibility"].word(row) == Visibility.WITHDRAWN
        cells = "".join(self._cell(column, row) for column in self.columns)
        return f"<tr{WITHDRAWN if is_withdrawn else ''}>{cells}</tr>\n{self._remarks(row)}"

    def _cell(self, column: Column, row: int) -> str:
        if column.kind == "drive":
            key = row, self._notes.get(row, "")
            if key not in self._drives:
                self._drives[key] = self._drive(*key)
            return self._drives[key]
        cell = self._words[column.code][self.store.columns[column.code].codes[row]]
        return cell.replace(RUN, self.store.runs[row]) if column.kind == "tier" else cell

    def _drive(self, row: int, note: str) -> str:
        vendor, model, capacity = (self.store.columns[code].word(row) for code in ("vendor", "model", "capacity_gb"))
        storage = "" if capacity else self.store.columns["storage"].word(row)
        symbol, own_fill = row_glyph(self.store, row, shows_provider=self.layout.has_only_instances)
        return fill(
            "drive",
            glyph_html=fill("glyph", fill=own_fill, symbol=symbol),
            run=self.store.runs[row],
            product=self.store.slugs[row],
            vendor=vendor,
            model=model,
            model_html=whole_words(model),
            size=f", {capacity}" if capacity else "",
            storage_html=fill("storage", storage=storage) if storage else "",
            marks_html="".join(f" {fill('word', kind=kind, word=word)}" for kind, word in self._words_after(row, note)),
            carried="",
        )

    def _words_after(self, row: int, note: str) -> Iterator[tuple[str, str]]:
        """Yield class and text of the words after a drive's name."""
        visibility, outcome, historical = (
            self.store.columns[code].word(row) for code in ("visibility", "outcome", "historical")
        )
        if visibility == Visibility.WITHDRAWN:
            yield "fail", "withdrawn"
        if visibility == Visibility.SUPERSEDED:
            yield "tag", "superseded"
        if outcome and outcome != Verdict.Outcome.PASS:
            yield ("fail", "fails") if outcome == Verdict.Outcome.FAIL else ("tag", outcome)
        if not self.layout.is_historical and historical == "yes":
            yield "tag", "historical"
        if note:
            yield "sub other-counts", note

    def _remarks(self, row: int) -> str:
        return "".join(
            fill(
                "remark",
                across=self.across,
                word=word,
                successor_html=fill("successor", run=successor, carried="") if successor else "",
                text=f": {text}" if text else "",
            )
            + "\n"
            for word, text, successor in self.store.remarks.get(row, ())
        )

    def _written(self, column: Column, shown: Iterable[int]) -> dict[int, str]:
        """Return the HTML of each word of a column that is shown, by its code."""
        encoded = self.store.columns[column.code]
        used = {encoded.codes[row] for row in shown}
        if column.threshold_us is not None:
            return _share_cells(encoded, used, column, self.limits.get(column.threshold_us))
        cells: dict[int, str] = self.store.cached(("cells", column.code, column.kind, column.group), dict)
        for code in used:
            if code not in cells:
                cells[code] = word_cell(column, "" if code == NOT_REPORTED else encoded.words[code])
        return cells


def _share_cells(encoded: EncodedColumn, used: set[int], column: Column, limit_pct: Decimal | None) -> dict[int, str]:
    codes = [code for code in used if code != NOT_REPORTED]
    places = max((units.decimal_places(encoded.words[code]) for code in codes), default=0)
    shares = [encoded.values[code] for code in codes]
    over = [False] * len(codes) if limit_pct is None else over_flags(shares, limit_pct)
    limit = float(limit_pct or 0) * BILLIONTHS
    texts: dict[int, str] = {NOT_REPORTED: fill("missing")}
    for code, share, is_over in zip(codes, shares, over, strict=True):
        printed, ratio = encoded.words[code], share / limit if limit else ABOVE_ALL * (share > 0)
        digits = fill("over", digits=printed) if is_over else escape(printed)
        mark = "" if limit_pct is None else nearness_html(ratio, is_over=is_over)
        texts[code] = f"{digits}{units.padding(printed, places)}{mark}"
    return {code: fill("share", group=column.group, text_html=text) for code, text in texts.items()}
