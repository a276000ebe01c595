"""Bar charts of published figures: pairs of bars of two drives, and columns by thread count with levels across them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.utils.safestring import SafeString

from webapp.register.svg.drawing import Surface, joined
from webapp.register.svg.scales import LinearScale
from webapp.register.ycsb.axes import from_zero, tick_text

# Heights in pixels of a page; an image has the same proportions.
TITLE_PX, WORDS_PX, BAR_PX, THIN_PX, GAP_PX, LEVEL_PX = 19, 16, 14, 8, 8, 20
HEADROOM, LEFT_THIRD = 1.08, 0.35
LABEL_WIDTH, LABEL_HEIGHT = 0.42, 0.07  # of the columns on a phone: the room for the label of a line
# A label above all columns is far from its line, so it begins with a sample of it: its ends, its height, and its room.
SAMPLE_FROM, SAMPLE_TO, SAMPLE_HEIGHT, SAMPLE_WIDTH = 0.01, 0.06, 1.0345, 0.07
ABOVE_ALL = 1.0  # the height of a label that has no room next to its line
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
    """Bars on one axis from 0. `level` is a value that a dashed line marks across the own bar, with its words above."""

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
            next_px += LEVEL_PX if group.level else 0  # the label of the line is between the words and the bar
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
        yield surface.line((at, down(own_px - 3)), (at, down(own_px + BAR_PX + 2)), "level stated")
        anchor = "start" if at < LEFT_THIRD else "end" if at > 1 - LEFT_THIRD else "middle"
        yield surface.text((at, down(own_px - 6)), words, "stated", anchor=anchor)


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
    """Return columns by thread count with both lines, each with its label next to it where no column is."""
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
    places = _label_places([float(value) for _, (value, _) in lines], [float(each.value) for each in columns], axis)
    for (kind, (value, words)), (left, height, is_above) in zip(lines, places, strict=True):
        at = axis.place(float(value))
        parts.append(surface.line((0, at), (1, at), f"level{kind}"))
        if height == ABOVE_ALL:
            ends = [(left + SAMPLE_FROM, SAMPLE_HEIGHT), (left + SAMPLE_TO, SAMPLE_HEIGHT)]
            parts.append(surface.line(ends[0], ends[1], f"level sample{kind}"))
        start = left + (SAMPLE_WIDTH if height == ABOVE_ALL else 0)
        parts.append(surface.text((start, height), words, kind.strip() or "strong", dx=4, dy=-6 if is_above else 15))
    return joined(parts)


def _label_places(
    levels: Sequence[float], values: Sequence[float], axis: LinearScale
) -> list[tuple[float, float, bool]]:
    """Return the place of the label of each line: its left end, a height, and whether it is above this height.

    A label covers no column, no other line and no other label. Without such a place next to its line, it is above all.
    """
    width, zero = 1 / max(1, len(values)), axis.place(0)
    tops = [axis.place(value) for value in values]
    taken = [
        ((number + 0.13) * width, (number + 0.87) * width, min(top, zero), max(top, zero))
        for number, top in enumerate(tops)
    ]
    taken += [(0, 1, axis.place(level), axis.place(level)) for level in levels]
    lefts = [*(left for number in range(len(values)) if (left := number * width) + LABEL_WIDTH <= 1), 1 - LABEL_WIDTH]
    found = []
    for number, level in enumerate(levels):
        at, is_highest = axis.place(level), level == max(levels) and level not in levels[:number]
        beside = [(left, at, is_above) for is_above in (is_highest, not is_highest) for left in lefts]
        above_all = [(left, ABOVE_ALL, True) for left in (0, 1 - LABEL_WIDTH - SAMPLE_WIDTH)]
        for left, height, is_above in (*beside, *above_all):
            bottom = height if is_above else height - LABEL_HEIGHT
            right = left + LABEL_WIDTH + (SAMPLE_WIDTH if height == ABOVE_ALL else 0)
            box = (left, right, bottom, bottom + LABEL_HEIGHT)
            if bottom >= zero and not any(_overlap(box, other) for other in taken):
                break
        taken.append(box)
        found.append((left, height, is_above))
    return found


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
