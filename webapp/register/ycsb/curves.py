"""Charts of YCSB curves as SVG: panels of points of several drives, with lines at a fixed throughput or latency."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from django.utils.safestring import SafeString

from webapp.register.svg.drawing import Surface, joined, tag
from webapp.register.svg.scales import LinearScale, LogScale
from webapp.register.ycsb.axes import from_zero, of_threads, thread_ticks, tick_text

Span = tuple[Fraction, Fraction]
Position = tuple[float, float]
Scale = LinearScale | LogScale
PAGE = Surface()
HEADROOM = 1.12
MARK_PX, PEAK_PX, HIT_PX, CAP_PX = 4, 6.5, 11, 6
STYLES_COUNT = 6
# Shapes of marks, for a half size of 1; curves of one panel differ in shape, fill, line and colour.
_SHAPES = (
    "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0Z",
    "M-.9,-.9H.9V.9H-.9Z",
    "M0,-1.25L1.25,0L0,1.25L-1.25,0Z",
    "M0,-1.2L1.15,.9H-1.15Z",
    "M-1,-1L1,1M1,-1L-1,1",
    "M0,-1.25V1.25M-1.25,0H1.25",
)


@dataclass(frozen=True)
class Dot:
    """One point with its words, which have the exact digits and units. Spans are what chart readings may be."""

    x: Fraction
    y: Fraction
    words: str
    x_span: Span | None = None
    y_span: Span | None = None
    peak: str = ""


@dataclass(frozen=True)
class Curve:
    """The points of one drive in the order of its line; points read from a chart are not joined."""

    name: str
    dots: Sequence[Dot]
    is_joined: bool = True


@dataclass(frozen=True)
class FixedLine:
    """A line across a panel at a fixed level of one axis, x or y."""

    axis: str
    at: Fraction
    words: str


@dataclass(frozen=True)
class Panel:
    """One chart: title, note, names of the axes with units, curves, and the lines at fixed levels."""

    title: str
    note: str
    x_title: str
    y_title: str
    curves: Sequence[Curve]
    levels: Sequence[FixedLine] = ()
    is_x_log: bool = False

    @property
    def label(self) -> str:
        """Return what the chart shows, for readers who cannot see it."""
        names = " and ".join(curve.name for curve in self.curves)
        return f"{self.title}, {self.note}: {names}. Horizontal: {self.x_title}. Vertical: {self.y_title}."

    @property
    def drawing(self) -> SafeString:
        """Return the content of the panel's SVG element."""
        return joined(_parts(self))

    @property
    def legend(self) -> list[tuple[SafeString, str]]:
        """Return the mark and the name of each curve."""
        return [(_key(place), curve.name) for place, curve in enumerate(self.curves)]


def _parts(panel: Panel) -> Iterator[SafeString]:
    """Yield the elements of a panel: grid and ticks, fixed levels, lines, marks."""
    x_axis, y_axis = _axes(panel)
    yield from _grid(panel, x_axis, y_axis)
    for level in panel.levels:
        yield from _level(level, x_axis, y_axis)
    for place, curve in enumerate(panel.curves):
        at = [(x_axis.place(float(dot.x)), y_axis.place(float(dot.y))) for dot in curve.dots]
        if curve.is_joined:
            yield from (PAGE.line(*ends, f"curve {_style(place)}") for ends in pairwise(at))
    for place, curve in enumerate(panel.curves):
        for dot in curve.dots:
            yield _mark(dot, place, x_axis, y_axis)


def _axes(panel: Panel) -> tuple[Scale, LinearScale]:
    dots = [dot for curve in panel.curves for dot in curve.dots]
    x_values = [end for dot in dots for end in (dot.x, *(dot.x_span or ()))]
    y_values = [end for dot in dots for end in (dot.y, *(dot.y_span or ()))]
    x_levels, y_levels = ([level.at for level in panel.levels if level.axis == axis] for axis in "xy")
    x_axis = of_threads(x_values) if panel.is_x_log else None
    return x_axis or from_zero([*x_values, *x_levels], 1.08, 4), from_zero([*y_values, *y_levels], HEADROOM)


def _grid(panel: Panel, x_axis: Scale, y_axis: LinearScale) -> Iterator[SafeString]:
    for tick in y_axis.ticks():
        at = y_axis.place(tick)
        yield PAGE.line((0, at), (1, at), "grid")
        yield PAGE.text((0, at), tick_text(tick), "tick", anchor="end", dx=-8, dy=4)
    yield PAGE.line((0, 0), (1, 0), "axis")
    if isinstance(x_axis, LogScale):
        named: Iterable[float] = thread_ticks(int(dot.x) for curve in panel.curves for dot in curve.dots)
    else:
        named = x_axis.ticks()
    for tick in named:
        yield PAGE.text((x_axis.place(tick), 0), tick_text(tick), "tick", anchor="middle", dy=17)


def _level(level: FixedLine, x_axis: Scale, y_axis: LinearScale) -> Iterator[SafeString]:
    """Yield a line with its words, on the side of a vertical line that has room."""
    if level.axis == "x":
        at = x_axis.place(float(level.at))
        yield PAGE.line((at, 0), (at, 1), "fixed")
        is_right = at > 1 / 2
        yield PAGE.text((at, 1), level.words, "strong", anchor="end" if is_right else "start", dx=-4 if is_right else 4)
    else:
        at = y_axis.place(float(level.at))
        yield PAGE.line((0, at), (1, at), "fixed")
        yield PAGE.text((0, at), level.words, "strong", dx=4, dy=-6)


def _mark(dot: Dot, place: int, x_axis: Scale, y_axis: LinearScale) -> SafeString:
    at = x_axis.place(float(dot.x)), y_axis.place(float(dot.y))
    parts = [tag("circle", class_="hit", cx=PAGE.x(at[0]), cy=PAGE.y(at[1]), r=HIT_PX)]
    if dot.y_span:
        low, high = (y_axis.place(float(end)) for end in dot.y_span)
        parts += _interval(((at[0], low), (at[0], high)), "y", place)
    if dot.x_span:
        low, high = (x_axis.place(float(end)) for end in dot.x_span)
        parts += _interval(((low, at[1]), (high, at[1])), "x", place)
    parts.append(_symbol(PAGE.x(at[0]), PAGE.y(at[1]), place, PEAK_PX if dot.peak else MARK_PX))
    if dot.peak:
        below = place % 2 == 1  # the labels of two drives are on two sides of their curves
        parts.append(PAGE.text(at, dot.peak, "value", anchor="middle", dy=20 if below else -11))
    return PAGE.mark(dot.words, *parts)


def _interval(ends: tuple[Position, Position], axis: str, place: int) -> Iterator[SafeString]:
    """Yield a line between two positions with a cap at each end, in the style of its curve."""
    kind = f"range {_style(place)}"
    yield PAGE.line(*ends, kind)
    for end in ends:
        path = tag("path", d=f"M-{CAP_PX},0H{CAP_PX}" if axis == "y" else f"M0,-{CAP_PX}V{CAP_PX}", class_=kind)
        yield tag("svg", path, x=PAGE.x(end[0]), y=PAGE.y(end[1]), overflow="visible")


def _symbol(x: str, y: str, place: int, half_px: float) -> SafeString:
    path = tag("path", d=_SHAPES[place % STYLES_COUNT], transform=f"scale({half_px:g})", class_=f"dot {_style(place)}")
    return tag("svg", path, x=x, y=y, overflow="visible")


def _style(place: int) -> str:
    return f"c{place % STYLES_COUNT}"


def _key(place: int) -> SafeString:
    line = tag("line", class_=f"curve {_style(place)}", x1="0", x2="28", y1="7", y2="7")
    content = joined([line, _symbol("14", "7", place, MARK_PX)])
    return tag("svg", content, class_="key", width="28", height="14", aria_hidden="true")
