"""Charts as inline SVG for pages: positions in percent, classes and no styles.

The pieces are the page's templates (webapp/templates/register/landscape/parts.html), which the script fills, too. All
marks and cells of a chart are one tab stop; static/js/landscape/navigation.js moves it by arrow keys. Density cells are
painted over the grid, and below the frontiers, the limit and the load.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from webapp.register.landscape.marks import Mark
from webapp.register.landscape.picture import GRID, Cell, Line, Picture, Text
from webapp.register.svg.scales import LogScale
from webapp.register.tables.parts import fill, format_of

GAP_WIDTH = 120  # units of the endurance gap in a row


@dataclass(frozen=True)
class Link:
    """The link of a mark or a cell: its address, and a sentence as its name. Both are escaped."""

    address: str
    sentence: str


def link_to(address: str, sentence: str) -> Link:
    """Return a link, escaped once: links of marks are cached."""
    return Link(escape(address), escape(sentence))


@dataclass(frozen=True)
class ChartWords:
    """The id, the title and the description of a chart."""

    ident: str
    title: str
    description: str


def chart_svg(
    picture: Picture,
    words: ChartWords,
    link_of: Callable[[int], Link],
    cell_link: Callable[[Cell], Link] | None = None,
    carried: str = "",
) -> SafeString:
    """Return a picture as an SVG element.

    `link_of` returns the link of a mark by its key; `carried` is the query with the reader's load and own limits, for
    all of them.
    """
    ident, title = words.ident, escape(words.title)
    cells = cells_html(picture.cells, cell_link, has_stop=not picture.marks) if cell_link else ""
    html = (
        f'<svg class="landscape" role="group" aria-labelledby="{ident}-title {ident}-desc" data-marks>'
        f'<title id="{ident}-title">{title}</title><desc id="{ident}-desc">{escape(words.description)}</desc>'
        f'<g data-layer="ground" aria-hidden="true">{ground_html(picture)}</g>'
        f'<g data-layer="cells">{cells}</g>'
        f'<g data-layer="rules" aria-hidden="true">{rules_html(picture)}</g>'
        f'<g data-layer="marks">{marks_html(picture.marks, link_of, escape(carried))}</g>'
        f'<g data-layer="labels" aria-hidden="true">{texts_html(picture.labels)}</g></svg>'
    )
    return mark_safe(html)  # noqa: S308 - every text is escaped above and by `fill`


def ground_html(picture: Picture) -> str:
    """Return the SVG of the tinted field and the grid, which density cells cover."""
    x, y, width, height = picture.zone or (0, 0, 0, 0)
    zone = fill("plot-zone", x=_n(x), y=_n(y), width=_n(width), height=_n(height)) if picture.zone else ""
    return zone + lines_html(line for line in picture.lines if line.kind == GRID)


def rules_html(picture: Picture) -> str:
    """Return the SVG of the lines of limit, load and frontiers, and of the axes."""
    tick = format_of("plot-tick").format
    ticks = "".join(tick(x=_n(place)) for place in picture.ticks)
    return lines_html(line for line in picture.lines if line.kind != GRID) + ticks + texts_html(picture.axis_texts)


def lines_html(lines: Iterable[Line]) -> str:
    """Return the SVG of lines."""
    write = format_of("plot-line").format
    return "".join(write(kind=kind, x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2)) for kind, x1, y1, x2, y2 in lines)


def texts_html(texts: Iterable[Text]) -> str:
    """Return texts of axes and labels."""
    write = format_of("plot-text").format
    return "".join(
        write(kind=kind, anchor=anchor, text=escape(text), x=_n(x), y=_n(y), dx=_n(dx), dy=_n(dy))
        for kind, x, y, dx, dy, anchor, text in texts
    )


def marks_html(marks: Sequence[Mark], link_of: Callable[[int], Link], carried: str) -> str:
    """Return the marks; the fastest one is the tab stop."""
    stop = max(marks, key=lambda mark: (mark.x, -mark.key), default=None)
    write, stop_key = format_of("plot-mark").format, stop.key if stop else None
    return "".join(
        write(
            classes=classes,
            address=f"{link.address}{carried}",
            tab="0" if key == stop_key else "-1",
            sentence=link.sentence,
            symbol=symbol,
            x=_n(x),
            y=_n(y),
        )
        for (key, x, y, symbol, classes), link in zip(marks, map(link_of, [mark.key for mark in marks]), strict=True)
    )


def cells_html(cells: Iterable[Cell], link_of: Callable[[Cell], Link], *, has_stop: bool) -> str:
    """Return the density cells; the first one is the tab stop of a chart without marks."""
    write, links = format_of("plot-cell").format, ((cell, link_of(cell)) for cell in cells)
    return "".join(
        write(
            x=_n(cell.x),
            y=_n(cell.y),
            level=cell.level,
            address=link.address,
            tab="0" if has_stop and number == 0 else "-1",
            sentence=link.sentence,
        )
        for number, (cell, link) in enumerate(links)
    )


def glyph_html(symbol: str, classes: str) -> SafeString:
    """Return a mark to be shown in a line of text."""
    return fill("glyph", fill=classes, symbol=symbol)


def gap_html(scale: LogScale, sustained_tps: float, tested_tps: float) -> SafeString:
    """Return the endurance gap of a drive: a ring at the speed that its rating allows, a bar at the tested speed."""
    sustained, tested = (GAP_WIDTH * scale.place(tps) for tps in (sustained_tps, tested_tps))
    side = "below" if tested_tps > sustained_tps else "above"
    return fill("gap", sustained=f"{sustained:.1f}", tested=f"{tested:.1f}", bar=f"{tested - 1:.1f}", side=side)


def _n(number: float) -> str:
    return f"{number:g}"
