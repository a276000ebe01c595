"""The frame of share images: 1200x630 pixels in the light colours of static/css/tokens.css, with one plot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString

from webapp.register.svg.drawing import Surface, joined, tag
from webapp.register.svg.png import BOLD, fitting_size, lines_of, one_line

WIDTH, HEIGHT, EDGE = 1200, 630, 60
TEXT_WIDTH, WHOLE_WIDTH = 530, WIDTH - 2 * EDGE
# The plot of a card: drawings use the same positions as on a page, in these pixels.
PLOT = Surface(left=640, top=164, width=500, height=246, unit="", zoom=1.75)
X_TITLE_PX = 26  # a plot is lower by so much to have room for the title of its horizontal axis
HEADLINE_SIZES, LABEL_SIZE, REMARK_SIZES, FOOT_SIZE = (104, 84, 68, 54, 42), 34, (28, 26, 24, 22), 24
NOTE_SIZES = (24, 22, 20)
PAPER, INK, INK_2, INK_3, OVER = "#ffffff", "#14191b", "#414b50", "#5a656a", "#a5350f"
RULE, RULE_2, TRACK, ACCENT, ACCENT_2 = "#d3d9db", "#7f8a8f", "#c6cdd0", "#0b5876", "#e0edf2"
# The classes of the drawings, as static/css/charts.css styles them on pages.
STYLE = f"""
text {{ fill: {INK_3}; font: 20px Inter; }}
text.value, text.strong, text.name {{ fill: {INK}; }}
text.strong, text.stated {{ font-weight: 700; paint-order: stroke; stroke: {PAPER}; stroke-width: 5px; }}
text.stated {{ fill: {OVER}; }}
.grid {{ stroke: {RULE}; stroke-width: 1.5; }}
.axis {{ stroke: {RULE_2}; stroke-width: 2; }}
.col {{ fill: {TRACK}; stroke: {RULE_2}; stroke-width: 1.5; }}
.col.own {{ fill: {ACCENT}; stroke: {ACCENT}; }}
.col.impossible {{ fill: {PAPER}; stroke: {OVER}; stroke-width: 3; stroke-dasharray: 8 5; }}
.level {{ stroke: {INK}; stroke-width: 4; }}
.level.stated {{ stroke: {OVER}; stroke-dasharray: 12 8; }}
.range {{ stroke: {INK}; stroke-width: 3; }}
"""


@dataclass(frozen=True)
class Headline:
    """A short label with large words below it; `warns` colours the words as a fault, next to what they say."""

    label: str
    words: str
    warns: bool = False


@dataclass(frozen=True)
class Plot:
    """The drawing of a plot with its title; `x_title` is that of its horizontal axis, if it has one."""

    drawing: str
    title: str
    x_title: str = ""


def plot_surface(x_title: str) -> Surface:
    """Return the area of a plot, which leaves room for the title of its horizontal axis."""
    return replace(PLOT, height=PLOT.height - X_TITLE_PX) if x_title else PLOT


def share_card(
    subject: str,
    headlines: Sequence[Headline],
    remark: str,
    foot: Sequence[str],
    plot: Plot | None = None,
    note: str = "",
) -> str:
    """Return a share image as SVG: two headlines at most with the plot next to them, a remark, and three lines at most.

    The lines name the subject, its source and its address. Without a plot the headlines have the whole width. A `note`
    is a small line below the remark, for which all lines move closer together.
    """
    width = TEXT_WIDTH if plot else WHOLE_WIDTH
    parts: list[str] = [
        tag("style", STYLE),
        tag("rect", width=WIDTH, height=HEIGHT, fill=PAPER),
        tag("rect", width=WIDTH, height=12, fill=INK),
        _text(EDGE, 70, "Drivecert", 30, INK, BOLD),
        _text(EDGE + 152, 70, one_line(subject, 26, WHOLE_WIDTH - 152), 26, INK_3),
        tag("line", x1=EDGE, x2=WIDTH - EDGE, y1=464, y2=464, stroke=RULE, stroke_width=2),
    ]
    for number, headline in enumerate(headlines[:2]):
        top = 142 + 152 * number
        parts.append(_text(EDGE, top, one_line(headline.label, LABEL_SIZE, width), LABEL_SIZE, INK_2))
        size = fitting_size(headline.words, HEADLINE_SIZES, width, BOLD)
        lines = lines_of(headline.words, size, width, 1 if size > HEADLINE_SIZES[-1] else 2, BOLD)
        first = top + (92 if len(lines) == 1 else 50)
        colour = OVER if headline.warns else INK
        parts += [_text(EDGE, first + 48 * place, line, size, colour, BOLD) for place, line in enumerate(lines)]
    size = fitting_size(remark, REMARK_SIZES, WHOLE_WIDTH, BOLD)
    remark_y, foot_y, step = (496, 554, 28) if note else (506, 542, 32)
    parts.append(_text(EDGE, remark_y, one_line(remark, size, WHOLE_WIDTH, BOLD), size, INK, BOLD))
    if note:
        size = fitting_size(note, NOTE_SIZES, WHOLE_WIDTH)
        parts.append(_text(EDGE, remark_y + 30, one_line(note, size, WHOLE_WIDTH), size, INK))
    parts += [
        _text(EDGE, foot_y + step * number, one_line(line, FOOT_SIZE, WHOLE_WIDTH), FOOT_SIZE, INK_2)
        for number, line in enumerate(foot[:3])
    ]
    if plot:
        parts += [_text(PLOT.left, 130, one_line(plot.title, 24, PLOT.width), 24, INK_3), plot.drawing]
        if plot.x_title:
            parts.append(tag("text", plot.x_title, x=PLOT.left + PLOT.width / 2, y=448, text_anchor="middle"))
    box = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    return tag("svg", joined(parts), **box, width=WIDTH, height=HEIGHT)


def _text(x: float, y: float, words: str, size: int, colour: str, weight: int = 400) -> SafeString:
    style = f"font-size:{size}px;font-weight:{weight};fill:{colour}"
    return tag("text", words, x=f"{x:g}", y=f"{y:g}", style=style)
