"""Strips: values of drives as marks on one axis, as inline SVG that needs neither script nor inline style.

Places are percentages of the width, and sizes are pixels: one drawing fits every width, and its text never shrinks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from django.utils.safestring import SafeString, mark_safe

from webapp.register.svg.marks import radius_of
from webapp.register.svg.scales import LinearScale, LogScale

AXIS_Y, MARK_LABEL_Y, TICK_LABEL_Y, TICK_PX = 34, 18, 51, 4
NEAR_END = 0.15  # a label nearer to an end than this begins or ends at its place, so that it stays in the drawing
TICK_NEAR_END = 0.06
TICK_CLEARANCE = 0.2  # of the width, between the named limit and the next tick


@dataclass(frozen=True)
class StripMark:
    """A drive on a strip: its place from 0 to 1, its symbol, its name with its figure, and the address of its page."""

    place: float
    symbol: str
    label: str
    address: str


@dataclass(frozen=True)
class Tick:
    """A tick of an axis with its label; `is_limit` is the tick of a limit, which has a longer line."""

    place: float
    label: str
    is_limit: bool = False


def percent(place: float) -> str:
    """Return a place as a percentage of the width.

    >>> percent(0.12345), percent(1)
    ('12.35%', '100%')
    """
    return f"{100 * place:.2f}".rstrip("0").rstrip(".") + "%"


def short_number(value: float) -> str:
    """Return the label of a tick: 200k, 1.5M; the same short forms that number fields accept.

    >>> [short_number(value) for value in (0.5, 500, 20_000, 1_500_000)]
    ['0.5', '500', '20k', '1.5M']
    """
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def ticks_of(scale: LinearScale | LogScale, unit: str = "") -> list[Tick]:
    """Return the ticks of a scale."""
    return [Tick(scale.place(value), f"{short_number(value)}{unit}") for value in scale.ticks()]


def ticks_around(limit: Tick, ticks: Iterable[Tick]) -> list[Tick]:
    """Return the tick of a limit with those whose labels do not touch its label."""
    return [*(tick for tick in ticks if abs(tick.place - limit.place) >= TICK_CLEARANCE), limit]


def anchor(place: float, near_end: float) -> str:
    """Return the anchor of a label, so that it stays within the drawing.

    >>> [anchor(place, 0.15) for place in (0.1, 0.5, 0.9)]
    ['start', 'middle', 'end']
    """
    return "start" if place < near_end else "end" if place > 1 - near_end else "middle"


def axis_html(ticks: Iterable[Tick], y: int, label_y: int) -> str:
    """Return an axis over the whole width with its ticks."""
    parts = [f'<line class="axis" x1="0" x2="100%" y1="{y}" y2="{y}"/>']
    for tick in ticks:
        x, name = percent(tick.place), "limit" if tick.is_limit else "axis"
        top = y - 2 * TICK_PX if tick.is_limit else y
        parts.append(f'<line class="{name}" x1="{x}" x2="{x}" y1="{top}" y2="{y + TICK_PX}"/>')
        label = f'text-anchor="{anchor(tick.place, TICK_NEAR_END)}">{escape(tick.label)}</text>'
        parts.append(f'<text x="{x}" y="{label_y}" {label}')
    return "".join(parts)


def strip_svg(name: str, ticks: Iterable[Tick], marks: Sequence[StripMark], this: StripMark) -> SafeString:
    """Return a strip: an axis, a link for each drive, and the drive in question with its figure.

    The strip is one tab stop: only the first link by place is in the tab order, and the arrow keys move the focus
    (static/js/landscape/navigation.js). Small marks are painted over large ones.
    """
    first = min(marks, key=lambda mark: mark.place, default=None)
    painted = sorted(marks, key=lambda mark: (-radius_of(mark.symbol), mark.place))
    links = "".join(_link(mark, is_stop=mark is first) for mark in painted)
    content = axis_html(ticks, AXIS_Y, TICK_LABEL_Y) + links + _own(this)
    return mark_safe(f'<svg class="strip" role="group" aria-label="{escape(name)}" data-marks>{content}</svg>')  # noqa: S308 - escaped above


def _link(mark: StripMark, *, is_stop: bool) -> str:
    label, tab = escape(mark.label), 0 if is_stop else -1
    return (
        f'<a class="mark" href="{escape(mark.address)}" tabindex="{tab}" aria-label="{label}"><title>{label}</title>'
        f'<use href="#{mark.symbol}" x="{percent(mark.place)}" y="{AXIS_Y}"/></a>'
    )


def _own(this: StripMark) -> str:
    """Return the mark of the drive in question, which is no link, with its label above it."""
    x = percent(this.place)
    return (
        f'<g class="mark this"><use href="#{this.symbol}" x="{x}" y="{AXIS_Y}"/></g>'
        f'<text class="this" x="{x}" y="{MARK_LABEL_Y}" text-anchor="{anchor(this.place, NEAR_END)}">'
        f"{escape(this.label)}</text>"
    )


COLUMNS = 60  # of a strip with more drives than can be told apart as marks
COLUMN_PX = 12  # the height of the highest column, below the label of the drive in question


def density_svg(
    name: str, ticks: Iterable[Tick], drives_at: Iterable[tuple[float, int]], this: StripMark
) -> SafeString:
    """Return a strip of many drives: columns as high as the number of drives at a place, without links.

    `drives_at` has pairs: a place, and the number of drives there.
    """
    counts = [0] * COLUMNS
    for place, count in drives_at:
        counts[min(COLUMNS - 1, max(0, int(place * COLUMNS)))] += count
    most = max(counts) or 1
    columns = "".join(
        f'<rect class="column" x="{percent(number / COLUMNS)}" width="{percent(0.9 / COLUMNS)}" '
        f'y="{AXIS_Y - height:g}" height="{height:g}"/>'
        for number, count in enumerate(counts)
        if count and (height := max(1.5, round(COLUMN_PX * count / most, 1)))
    )
    content = columns + axis_html(ticks, AXIS_Y, TICK_LABEL_Y) + _own(this)
    return mark_safe(f'<svg class="strip" role="img" aria-label="{escape(name)}">{content}</svg>')  # noqa: S308 - escaped above
