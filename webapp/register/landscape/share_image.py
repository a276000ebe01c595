"""The chart of speed as a share image: an SVG of 1200x630 pixels with fixed colours and text of at least 20 pixels.

It draws the same picture as the page. The plot is ZOOM times as large as the nominal plot that labels are placed for,
and so is all text, so that a label that is free on the page is free in the image.
"""

from django.conf import settings
from django.utils.html import escape

from webapp.register.landscape.density import COLUMNS, ROWS
from webapp.register.landscape.marks import Fill, Mark, State
from webapp.register.landscape.picture import GRID, PHONE, WIDE, Cell, Line, Picture, Text
from webapp.register.landscape.speed_chart import WIDE_PX
from webapp.register.svg.marks import symbol_paths
from webapp.register.svg.png import BOLD, PLAIN, one_line

WIDTH, HEIGHT, EDGE = 1200, 630, 60
ZOOM = 1.7
LEFT, TOP = 74.0, 150.0
PLOT_WIDTH, PLOT_HEIGHT = WIDE_PX[0] * ZOOM, 376.0
TEXT_PX = 12.5 * ZOOM
# The light colours of static/css/tokens.css.
PAPER, INK, INK_2, INK_3, RULE = "#ffffff", "#14191b", "#414b50", "#5a656a", "#d3d9db"
ACCENT, ACCENT_2, OVER, MARK = "#0b5876", "#e0edf2", "#a5350f", "#7b878c"
CELLS = ("#e6eff3", "#c6dbe4", "#9bc1d1", "#69a1b8", "#3a7d99")  # by level, from 1
TICK, TICK_PX = "#7f8a8f", 5
LINES = {
    GRID: (RULE, 1.5, ""),
    "limit": (INK, 2.5, ""),
    "load": (ACCENT, 2.5, ""),
    "front solid": (INK_2, 2.0, ""),
    "front dashed": (INK_2, 2.0, "8 5"),
    f"leader {WIDE}": (INK_3, 1.5, ""),
}
TEXTS = {"strong": (INK, "700"), "zonetext": (ACCENT, "700"), "name": (INK, "400"), "overtext": (OVER, "700")}
OUTLINES = dict(symbol_paths())


def share_svg(picture: Picture, title: str, sentence: str, axis: str) -> str:
    """Return the share image of a picture: a title, a sentence, the plot, the licence and the speed axis."""
    texts, labels = (
        [text for text in some if PHONE not in text.kind.split()] for some in (picture.axis_texts, picture.labels)
    )
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        f'<rect width="{WIDTH}" height="12" fill="{INK}"/>',
        _words(EDGE, 68, title, 38, INK, BOLD),
        _words(EDGE, 108, sentence, 25, INK_2),
        _zone(picture),
        *(_line(line) for line in picture.lines if line.kind == GRID),
        *map(_cell, picture.cells),
        *(_line(line) for line in picture.lines if line.kind in LINES and line.kind != GRID),
        *map(_tick, picture.ticks),
        *map(_text, texts),
        *map(_mark, picture.marks),
        *map(_text, labels),
        _words(EDGE, HEIGHT - 24, f"Drivecert, {settings.DATA_LICENCE}. {axis}", 24, INK_3),
    ]
    box = f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg {box} font-family="Inter, sans-serif">{"".join(parts)}</svg>'


def _x(percent: float) -> float:
    return LEFT + PLOT_WIDTH * percent / 100


def _y(percent: float) -> float:
    return TOP + PLOT_HEIGHT * percent / 100


def _words(x: float, y: float, words: str, size: int, colour: str, weight: int = PLAIN) -> str:
    """Return a line of text, which ends with an ellipsis if it does not fit into the image."""
    place, fitting = f'x="{x:g}" y="{y:g}" font-size="{size}"', one_line(words, size, WIDTH - EDGE - x, weight)
    return f'<text {place} fill="{colour}" font-weight="{weight}">{escape(fitting)}</text>'


def _zone(picture: Picture) -> str:
    if picture.zone is None:
        return ""
    x, y = _x(picture.zone.x), _y(picture.zone.y)
    width, height = PLOT_WIDTH * picture.zone.width / 100, PLOT_HEIGHT * picture.zone.height / 100
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{ACCENT_2}"/>'


def _line(line: Line) -> str:
    colour, width, dashes = LINES[line.kind]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    ends = f'x1="{_x(line.x1):.1f}" y1="{_y(line.y1):.1f}" x2="{_x(line.x2):.1f}" y2="{_y(line.y2):.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dashed}/>'


def _tick(place: float) -> str:
    x, y, end = _x(place), _y(100), _y(100) + ZOOM * TICK_PX
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{end:.1f}" stroke="{TICK}" stroke-width="1.5"/>'


def _cell(cell: Cell) -> str:
    place = f'x="{_x(cell.x):.1f}" y="{_y(cell.y):.1f}"'
    size = f'width="{PLOT_WIDTH / COLUMNS:.1f}" height="{PLOT_HEIGHT / ROWS:.1f}"'
    return f'<rect {place} {size} fill="{CELLS[cell.level - 1]}" stroke="{PAPER}" stroke-width="1"/>'


def _text(text: Text) -> str:
    """Return a text with a border of paper, so that lines below it do not cross its letters."""
    colour, weight = next((TEXTS[kind] for kind in text.kind.split() if kind in TEXTS), (INK_3, "400"))
    x, y = _x(text.x) + ZOOM * text.dx, _y(text.y) + ZOOM * text.dy
    style = "italic" if text.kind.startswith("fronttext") else "normal"
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{text.anchor}" font-size="{TEXT_PX:g}" font-style="{style}"'
    border = "" if text.kind.startswith("tick") else f'stroke="{PAPER}" stroke-width="5" paint-order="stroke"'
    return f'<text {place} fill="{colour}" font-weight="{weight}" {border}>{escape(text.text)}</text>'


def _mark(mark: Mark) -> str:
    """Return a mark: solid, open or dotted as on the page, with the colour of its state and the line of its symbol."""
    _, fill, state, *_ = mark.classes.split()
    colour = {"in": ACCENT, "over": OVER}.get(state, MARK)
    is_solid = fill == Fill.SERVICE
    inside, border = colour if is_solid else PAPER, PAPER if is_solid and state != State.OVER else colour
    dashes = ' stroke-dasharray="2 1.6"' if fill == Fill.UNRANKED else ""
    place = f'transform="translate({_x(mark.x):.1f} {_y(mark.y):.1f}) scale({ZOOM})"'
    return f'<path d="{OUTLINES[mark.symbol]}" {place} fill="{inside}" stroke="{border}" stroke-width="1.4"{dashes}/>'
