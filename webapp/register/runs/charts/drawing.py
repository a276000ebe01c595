"""SVG of a chart: elements, scales, and the frame with its ticks. It needs no script and no inline style.

Positions are percentages and text has a fixed size, so one picture suits every width. The marks are in an inner picture
that is stretched over the plot; lines keep their width (`vector-effect` in charts.css). Colours are classes of
static/css/charts.css, which follow the theme and the print style.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

FULL = "100%"
TICKS_MAX = 6
NICE = (1, 2, 5, 10, 20)
NOTHING = SafeString("")
TIME_UNITS = ((86_400, "days", 4 * 86_400), (3_600, "hours", 2 * 3_600), (60, "minutes", 5 * 60), (1, "seconds", 0))


def element(name: str, *children: str | SafeString, **attributes: object) -> SafeString:
    """Return an element. Texts are escaped; `class_` and `text_anchor` are the attributes `class` and `text-anchor`.

    >>> element("text", "a < b", x=1.50, text_anchor="end")
    '<text x="1.5" text-anchor="end">a &lt; b</text>'
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{conditional_escape(_text(value))}"'
        for key, value in attributes.items()
    )
    content = "".join(map(conditional_escape, children))
    return mark_safe(f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>")  # noqa: S308 - escaped


def _text(value: object) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def joined(parts: Iterable[SafeString]) -> SafeString:
    """Return elements as one text."""
    return mark_safe("".join(parts))  # noqa: S308 - of elements


@dataclass(frozen=True)
class Linear:
    """A scale from `low` to `high`; a scale without extent counts as one unit long."""

    low: float
    high: float

    def part(self, value: float) -> float:
        """Return the position of a value, 0 at the low end and 1 at the high end, also beyond the ends."""
        return (value - self.low) / ((self.high - self.low) or 1)

    def ticks(self, most: int = TICKS_MAX) -> list[float]:
        """Return at most `most` round values, the same distance apart.

        >>> Linear(0, 24).ticks(), Linear(98, 101).ticks(4)
        ([0.0, 5.0, 10.0, 15.0, 20.0], [98.0, 99.0, 100.0, 101.0])
        """
        extent = self.high - self.low
        if extent <= 0:
            return [self.low]
        power = 10.0 ** floor(log10(extent / most))
        found = (self._multiples(power * factor) for factor in NICE)
        return next(values for values in found if len(values) <= most)

    def _multiples(self, step: float) -> list[float]:
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [round(number * step, 10) for number in range(first, last + 1)]


@dataclass(frozen=True)
class Tick:
    """A value on an axis: its position as a part of the axis, and its text; `is_strong` for the edge of a limit."""

    part: float
    text: str
    is_strong: bool = False


def time_unit(seconds: float) -> tuple[int, str]:
    """Return the unit of a time axis that is so many seconds long: its seconds and its name.

    >>> time_unit(86_400), time_unit(1_200), time_unit(40)
    ((3600, 'hours'), (60, 'minutes'), (1, 'seconds'))
    """
    return next((length, name) for length, name, least in TIME_UNITS if seconds >= least)


def time_ticks(start_s: float, end_s: float) -> tuple[list[Tick], str]:
    """Return the ticks of a time axis and its title."""
    unit_s, name = time_unit(end_s - start_s)
    axis = Linear(start_s / unit_s, end_s / unit_s)
    return [Tick(axis.part(value), f"{value:g}") for value in axis.ticks()], f"{name} since the start"


def percent(part: float) -> str:
    """Return a part as an SVG length that follows the width of the picture."""
    return f"{part * 100:.3f}".rstrip("0").rstrip(".") + "%"


def stretched(width: float, height: float, marks: Iterable[SafeString]) -> SafeString:
    """Return the inner picture with the marks, whose own units fill the plot."""
    view = f"0 0 {_text(float(width))} {_text(float(height))}"
    return element(
        "svg", joined(marks), viewBox=view, preserveAspectRatio="none", width=FULL, height=FULL, class_="marks"
    )


def drawing(  # noqa: PLR0913 - the parts of a picture, each with its name
    label: str,
    marks: SafeString,
    *,
    x_ticks: Sequence[Tick],
    y_ticks: Sequence[Tick],
    x_title: str = "",
    above: SafeString = NOTHING,
    kind: str = "",
) -> SafeString:
    """Return a picture: grid and ticks, the marks, and what is drawn above them. `label` is its text for readers."""
    grid = (element("line", class_="grid", x1=0, x2=FULL, y1=percent(1 - tick.part), y2=percent(1 - tick.part))
            for tick in y_ticks)  # fmt: skip
    names = (_y_text(tick) for tick in y_ticks)
    times = (_x_text(tick) for tick in x_ticks)
    axis = element("line", class_="axis", x1=0, x2=FULL, y1=FULL, y2=FULL)
    title = element("text", x_title, class_="title", x=FULL, y=FULL, dy=32, text_anchor="end") if x_title else ""
    return element(
        "svg", joined(grid), marks, axis, joined(names), joined(times), title, above,
        class_=f"drawing {kind}".rstrip(), role="img", aria_label=label,
    )  # fmt: skip


def level(part: float) -> SafeString:
    """Return the line of a value that the marks are compared with; `part` is its position on the axis."""
    return element("line", class_="limit", x1=0, x2=FULL, y1=percent(1 - part), y2=percent(1 - part))


def _tick_class(tick: Tick) -> str:
    return "strong" if tick.is_strong else "tick"


def _y_text(tick: Tick) -> SafeString:
    return element("text", tick.text, class_=_tick_class(tick), x=-6, y=percent(1 - tick.part), dy=4, text_anchor="end")


def _x_text(tick: Tick) -> SafeString:
    """Return the text of a tick below the axis; the outermost ones stay within the picture."""
    anchor = "start" if tick.part < 0.02 else "end" if tick.part > 0.98 else "middle"
    return element(
        "text", tick.text, class_=f"{_tick_class(tick)} along", x=percent(tick.part), y=FULL, dy=16, text_anchor=anchor
    )


@dataclass(frozen=True)
class Bar:
    """A bar of a band: its start, end, least and greatest value, all as parts of the plot, and its text."""

    start: float
    end: float
    least: float
    greatest: float
    text: str


def band(bars: Iterable[Bar]) -> SafeString:
    """Return a picture of bars, each from a least to a greatest value. The pointer shows the text of a bar."""
    return stretched(1000, 100, map(_band_mark, bars))


def _band_mark(bar: Bar) -> SafeString:
    low, high = (min(1.0, max(0.0, part)) * 100 for part in (bar.least, bar.greatest))
    place = {"x": bar.start * 1000, "width": (bar.end - bar.start) * 1000, "y": 100 - high, "height": high - low}
    return element("rect", element("title", bar.text), class_="band", **place)
