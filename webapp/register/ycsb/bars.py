"""Bar charts of published figures: pairs of bars of two drives, and columns by thread count with levels across them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.utils.safestring import SafeString

from webapp.register.svg.drawing import Surface, joined
from webapp.register.ycsb.axes import from_zero, tick_text

# Heights in pixels of a page; an image has the same proportions.
TITLE_PX, WORDS_PX, BAR_PX, THIN_PX, GAP_PX, LEVEL_PX = 19, 16, 14, 8, 8, 20
HEADROOM, LEFT_THIRD = 1.08, 0.35
Span = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Bar:
    """The figure of one drive; `words` has its digits and unit.

    `span` is what a figure read from a chart may be; `detail` says so to pointer and keyboard. The figure of an
    impossible result has a dashed frame, and its words say so.
    """

    drive: str
    value: Fraction
    words: str
    is_own: bool = False
    span: Span | None = None
    detail: str = ""
    is_impossible: bool = False

    @property
    def name(self) -> str:
        """Return its drive and its figure, and whether its result is impossible."""
        return f"{self.drive}: {self.words}{', impossible' if self.is_impossible else ''}"

    @property
    def kind(self) -> str:
        """Return its class."""
        return f"col{' own' if self.is_own else ''}{' impossible' if self.is_impossible else ''}"


@dataclass(frozen=True)
class BarGroup:
    """Bars on one axis from 0. `level` is a value with its words that a dashed line marks across the own bar."""

    title: str
    bars: Sequence[Bar]
    level: tuple[Fraction, str] | None = None


def bars_height_px(groups: Sequence[BarGroup], *, are_thin: bool = False) -> int:
    """Return the height of a chart of groups on a page."""
    return sum(_group_px(group, are_thin=are_thin) for group in groups)


def _group_px(group: BarGroup, *, are_thin: bool) -> int:
    each = THIN_PX if are_thin else WORDS_PX + BAR_PX
    title, level = (TITLE_PX if group.title else 0), (LEVEL_PX if group.level else 0)
    return title + each * len(group.bars) + level + GAP_PX


def draw_bars(groups: Sequence[BarGroup], surface: Surface, *, are_thin: bool = False) -> SafeString:
    """Return groups of bars, each on its own axis. Thin bars have their words only for the pointer and the keyboard."""
    parts: list[SafeString] = []
    total_px, top_px = bars_height_px(groups, are_thin=are_thin), 0
    for group in groups:
        parts += _draw_group(group, surface, (top_px, total_px), are_thin=are_thin)
        top_px += _group_px(group, are_thin=are_thin)
    return joined(parts)


def _draw_group(group: BarGroup, surface: Surface, place: tuple[int, int], *, are_thin: bool) -> Iterator[SafeString]:
    top_px, total_px = place

    def down(pixels: float) -> float:
        return 1 - (top_px + pixels) / total_px

    values = [end for bar in group.bars for end in (bar.value, *(bar.span or ()))]
    axis = from_zero([*values, *([group.level[0]] if group.level else [])], HEADROOM)
    next_px = TITLE_PX if group.title else 0
    if group.title:
        yield surface.text((0, down(TITLE_PX - 6)), group.title, "name")
    own_px = next_px
    for bar in group.bars:
        words = bar.name
        shown = []
        if not are_thin:
            shown.append(surface.text((0, down(next_px + WORDS_PX - 4)), words, "value"))
            next_px += WORDS_PX
        thick = (THIN_PX if are_thin else BAR_PX) - 2
        if bar.is_own:
            own_px = next_px
        end = (axis.place(float(bar.value)), down(next_px + thick))
        shown.append(surface.bar((axis.place(0), down(next_px)), end, bar.kind))
        if bar.span:
            shown += _range_across(surface, [axis.place(float(each)) for each in bar.span], down, (next_px, thick))
        yield surface.mark(f"{words}{bar.detail}", *shown)
        next_px += thick + 2
    if group.level:
        value, words = group.level
        at = axis.place(float(value))
        yield surface.line((at, down(own_px - 2)), (at, down(next_px + 4)), "level stated")
        anchor = "start" if at < LEFT_THIRD else "end" if at > 1 - LEFT_THIRD else "middle"
        yield surface.text((at, down(next_px + LEVEL_PX - 5)), words, "stated", anchor=anchor)


def _range_across(
    surface: Surface, ends: Sequence[float], down: Callable[[float], float], place: tuple[float, float]
) -> Iterator[SafeString]:
    top_px, thick = place
    low, high = ends
    yield surface.line((low, down(top_px + thick / 2)), (high, down(top_px + thick / 2)), "range")
    for end in ends:
        yield surface.line((end, down(top_px + 2)), (end, down(top_px + thick - 2)), "range")


@dataclass(frozen=True)
class Column:
    """One column: the label below it, its value, the value as text, and the words for pointer and keyboard."""

    label: str
    value: Fraction
    shown: str
    words: str


@dataclass(frozen=True)
class Levels:
    """The two lines across columns: the recomputed and the stated value, each with its words."""

    recomputed: tuple[Fraction, str]
    stated: tuple[Fraction, str] | None = None


def draw_columns(columns: Sequence[Column], levels: Levels, surface: Surface, *, has_values: bool = True) -> SafeString:
    """Return columns by thread count with both lines; the label of the higher line is above it, the other one below."""
    lines = [("", levels.recomputed), *([(" stated", levels.stated)] if levels.stated else [])]
    axis = from_zero([*(column.value for column in columns), *(value for _, (value, _) in lines)], 1.1)
    parts = [
        part
        for tick in axis.ticks()
        for part in (
            surface.line((0, axis.place(tick)), (1, axis.place(tick)), "grid"),
            surface.text((0, axis.place(tick)), tick_text(tick), "tick", anchor="end", dx=-8, dy=4),
        )
    ]
    width = 1 / max(1, len(columns))
    for number, column in enumerate(columns):
        middle = (number + 0.5) * width
        top = axis.place(float(column.value))
        box = surface.bar((middle - 0.37 * width, axis.place(0)), (middle + 0.37 * width, top), "col")
        inside = surface.text((middle, 0), column.shown, "value", anchor="middle", dy=-6) if has_values else ""
        below = surface.text((middle, 0), column.label, "tick", anchor="middle", dy=17)
        parts.append(surface.mark(column.words, box, inside, below))
    highest = max(value for _, (value, _) in lines)
    for kind, (value, words) in lines:
        at = axis.place(float(value))
        is_above = value == highest and not (kind and levels.recomputed[0] == value)
        parts.append(surface.line((0, at), (1, at), f"level{kind}"))
        parts.append(surface.text((0, at), words, kind.strip() or "strong", dx=4, dy=-6 if is_above else 15))
    return joined(parts)
