"""The chart of speed against the share of slow reads: a limit, a load, and one frontier for each comparison group.

The horizontal axis is logarithmic. The vertical one is linear: most drives are between 80 and 100 % of the limit,
because a test raises the load until the limit is reached. static/js/landscape/speed-chart.js repeats this module.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from webapp.register.landscape.labels import ASCENT_PX, LINE_PX, LabelPlacer
from webapp.register.landscape.marks import Fill, Mark, PlottedDrive, State
from webapp.register.landscape.picture import (
    GRID,
    PHONE,
    WIDE,
    Cell,
    Line,
    Picture,
    Text,
    Zone,
    percent,
    plain,
    side_tick,
    speed_ticks,
)
from webapp.register.svg.marks import over_limit
from webapp.register.svg.scales import LinearScale, LogScale, enclosing_log_scale
from webapp.templatetags import units

ABOVE_LIMIT = 1.12  # of the limit: room for the limit's name
ABOVE_LARGEST, LARGEST_OF_LIMIT = 1.2, 3
SHARE_TICKS = 6
ABOVE_NAME_ROWS, ABOVE_NAME_PLACES = 8, tuple(range(0, 100, 5))  # lines from the top, and percent
STACK_WIDTH, STACK_STEP = 1.6, 0.016  # of the plot: a mark's width in percent, half of its height as a fraction
# From the limit to the baseline of a name, px. The second one is used if marks are close to the line.
NAME_ABOVE, NAME_BELOW = (-6, -10), (14, 18)
LIMIT_NAME_PLACES = tuple(range(5, 90, 5))  # percent, if both ends of the limit are taken
LOAD_NAME_HEIGHTS = (0.12, 0.24, 0.36, 0.48, 0.6, 0.72, 0.84, 0.94)  # of the way from the limit down
LABELS_MAX, TRIED_MAX = 12, 40
WIDE_PX, PHONE_PX = (630, 208), (334, 148)
TICK_WIDTHS_PX = (WIDE_PX[0], 264)  # texts of ticks are apart on phones of 320 px, too
SHORT_HEIGHTS_PX = {WIDE: 158, PHONE: 138}  # of the charts of the home page, whose first screen shows results
LINE_STYLES = {Fill.SERVICE: "front solid", Fill.WITH_QUEUE: "front dashed"}
NAME_HEIGHTS = (
    0.5,
    0.42,
    0.58,
    0.34,
    0.66,
    0.26,
    0.74,
    0.18,
)  # of the way from the limit to the fastest drive of a frontier


@dataclass(frozen=True)
class Frontier:
    """The frontier of a group: the drives on it, slowest first, and the speed of the slowest drive of the group.

    `name` has the lines of its label, `short_name` that of a phone.
    """

    fill: Fill
    slowest_tps: float
    edges: tuple[tuple[int, float, float], ...]  # key, speed, share
    name: tuple[str, ...] = ()
    short_name: str = ""


@dataclass(frozen=True)
class SpeedQuestion:
    """The question of a chart: the limit, the load if there is one, and the extent of the drives.

    `answers_count` is the number of results that sustain the load within all limits.
    """

    limit_pct: float
    slowest_tps: float
    fastest_tps: float
    largest_share_pct: float
    load_tps: float | None = None
    answers_count: int = 0

    @cached_property
    def x(self) -> LogScale:
        """Return the speed axis, which includes the load."""
        speeds = [self.slowest_tps, self.fastest_tps, *([self.load_tps] if self.load_tps else [])]
        return enclosing_log_scale(min(speeds), max(speeds))

    @cached_property
    def y(self) -> LinearScale:
        """Return the axis of shares, which always includes the limit, and larger shares up to three times the limit."""
        limit, largest = self.limit_pct, self.largest_share_pct
        if not limit:
            return LinearScale(0, ABOVE_LARGEST * largest or 1.0, SHARE_TICKS)
        if largest <= limit:
            return LinearScale(0, ABOVE_LIMIT * limit, SHARE_TICKS)
        highest = min(ABOVE_LARGEST * largest, LARGEST_OF_LIMIT * limit)
        return LinearScale(0, max(ABOVE_LIMIT * limit, highest), SHARE_TICKS)

    def is_answer(self, drive: PlottedDrive) -> bool:
        """Return whether a drive sustains the load within the limits."""
        return drive.is_within and (not self.load_tps or drive.tps >= self.load_tps)

    def state_of(self, drive: PlottedDrive) -> State:
        """Return the state of the mark of a drive, which is the same in both charts."""
        if drive.share_pct > self.limit_pct:
            return State.OVER
        return State.WITHIN if self.is_answer(drive) else State.OUTSIDE

    def symbol_of(self, drive: PlottedDrive) -> str:
        """Return the symbol of the mark of a drive: one over the limit has a line below it."""
        return over_limit(drive.symbol) if self.state_of(drive) is State.OVER else drive.symbol


def speed_chart(
    question: SpeedQuestion,
    drives: Sequence[PlottedDrive],
    frontiers: Sequence[Frontier] = (),
    cells: tuple[Cell, ...] = (),
    *,
    is_short: bool = False,
) -> Picture:
    """Return the picture of these drives. With density cells, `drives` are only those that also have a mark.

    In a short picture, only the drives of the frontiers and the answers have a label, and the names of the frontiers
    come after them.
    """
    x, y = question.x, question.y
    limit_y = percent(1 - y.place(question.limit_pct))
    load_x = percent(x.place(question.load_tps)) if question.load_tps else None
    marks = _marks(question, drives, {key for frontier in frontiers for key, _, _ in frontier.edges})
    rules = [*_rules(limit_y, load_x), *(line for each in frontiers for line in _steps(each, x, y, limit_y))]
    places, ticks = speed_ticks(x, TICK_WIDTHS_PX)
    above_count = 0 if cells else sum(drive.share_pct > y.high for drive in drives)  # cells count those, too
    labelled = _labelled(drives, frontiers) if cells else drives
    models = Counter(drive.model for drive in labelled)
    if is_short:
        labelled = [*_labelled(drives, frontiers), *filter(question.is_answer, drives)]
    names = [
        (drive, _words(drive, is_short=models[drive.model] == 1))
        for drive in _order_of_labels(question, labelled, frontiers)
    ]
    wanted = _wanted_names(question, names, frontiers, is_short=is_short)
    placers = [
        _placer(kind, size, marks, rules, is_short=is_short) for kind, size in ((WIDE, WIDE_PX), (PHONE, PHONE_PX))
    ]
    texts, leaders = _labels(question, wanted, frontiers, placers, rules, above_count)
    return Picture(
        zone=Zone(load_x or 0, limit_y, _two(100 - (load_x or 0)), _two(100 - limit_y)),
        cells=cells,
        lines=(*_grid(y, limit_y), *rules, *leaders),
        ticks=tuple(places),
        axis_texts=(*_share_ticks(question, y, limit_y), *ticks),
        marks=marks,
        labels=tuple(texts),
    )


def _two(number: float) -> float:
    return percent(number / 100)


def _rules(limit_y: float, load_x: float | None) -> list[Line]:
    limit = Line("limit", 0, limit_y, 100, limit_y)
    return [limit] if load_x is None else [limit, Line("load", load_x, limit_y, load_x, 100)]


def _grid(y: LinearScale, limit_y: float) -> list[Line]:
    places = [percent(1 - y.place(value)) for value in y.ticks()]
    return [Line(GRID, 0, place, 100, place) for place in places if place != limit_y]


def _share_ticks(question: SpeedQuestion, y: LinearScale, limit_y: float) -> list[Text]:
    """Return the texts of the vertical axis; the limit has its own, and no other is too close to it."""
    near = [(percent(1 - y.place(value)), value) for value in y.ticks()]
    texts = [side_tick(place, plain(value)) for place, value in near if abs(place - limit_y) > 6]
    return [*texts, side_tick(limit_y, plain(question.limit_pct), "tick strong")]


def _rule_names(
    question: SpeedQuestion, limit_y: float, load_x: float | None, placer: LabelPlacer, kind: str
) -> Iterable[Text]:
    """Yield the names of the load and of the limit, each at the first place along its line that covers nothing."""
    if load_x is not None:
        above = [(limit_y, dx, dy, anchor) for dy in NAME_ABOVE for dx, anchor in ((2, "start"), (-2, "end"))]
        along = [
            (_two(limit_y + (100 - limit_y) * height), dx, 4, anchor)
            for height in LOAD_NAME_HEIGHTS
            for dx, anchor in ((6, "start"), (-6, "end"))
        ]
        count = question.answers_count
        unit = " tps" if kind == WIDE else ""  # the axis names it
        text = f"{question.load_tps:,.0f}{unit}: {count:,} {'result' if count == 1 else 'results'}"
        yield placer.always([Text(f"zonetext {kind}", load_x, *place, "") for place in (*above, *along)], text)
    places = ((0, 2, "start"), (100, -2, "end"), *((place, 0, "start") for place in LIMIT_NAME_PLACES))
    names = [
        Text(f"strong {kind}", x, limit_y, dx, dy, anchor, "")
        for dy in (*NAME_ABOVE, *NAME_BELOW)
        for x, dx, anchor in places
    ]
    yield placer.always(names, f"limit {plain(question.limit_pct)} %")


def _marks(question: SpeedQuestion, drives: Iterable[PlottedDrive], edges: set[int]) -> tuple[Mark, ...]:
    """Return the marks in the order of painting: small ones over large ones."""
    x, y = question.x, question.y
    ordered = sorted(drives, key=attrgetter("paint_order"))
    marks = [_mark(question, drive, x, y, is_edge=drive.key in edges) for drive in ordered]
    stacked = _stacked([mark for mark, drive in zip(marks, ordered, strict=True) if drive.share_pct == 0])
    return tuple(stacked.get(mark.key, mark) for mark in marks)


def _mark(question: SpeedQuestion, drive: PlottedDrive, x: LogScale, y: LinearScale, *, is_edge: bool) -> Mark:
    place = percent(1 - y.place(min(drive.share_pct, y.high)))
    classes = f"m {drive.fill} {question.state_of(drive)}{drive.provider_class}{' edge' if is_edge else ''}"
    return Mark(drive.key, percent(x.place(drive.tps)), place, question.symbol_of(drive), classes)


def _stacked(marks: list[Mark]) -> dict[int, Mark]:
    """Stack marks without slow reads that would hide each other upwards, each by half a mark."""
    last_at_level: list[float] = []
    moved = {}
    for mark in sorted(marks, key=lambda mark: (mark.x, mark.key)):
        free = (number for number, last in enumerate(last_at_level) if mark.x - last >= STACK_WIDTH)
        level = next(free, len(last_at_level))
        last_at_level[level : level + 1] = [mark.x]
        if level:
            moved[mark.key] = mark._replace(y=percent(1 - level * STACK_STEP))
    return moved


def _steps(frontier: Frontier, x: LogScale, y: LinearScale, limit_y: float) -> Iterable[Line]:
    """Yield the steps of a frontier, from the slowest drive of its group to the limit."""
    style, left = LINE_STYLES[frontier.fill], percent(x.place(frontier.slowest_tps))
    corners = [(percent(x.place(tps)), percent(1 - y.place(share))) for _, tps, share in frontier.edges]
    tops = [place for _, place in corners[1:]] + [limit_y]
    for (right, place), top in zip(corners, tops, strict=True):
        yield Line(style, left, place, right, place)
        yield Line(style, right, place, right, top)
        left = right


def _labelled(drives: Iterable[PlottedDrive], frontiers: Iterable[Frontier]) -> list[PlottedDrive]:
    """Return the drives that a picture with density cells labels: only those of the frontiers."""
    edges = {key for frontier in frontiers for key, _, _ in frontier.edges}
    return [drive for drive in drives if drive.key in edges]


def _is_rated_answer(question: SpeedQuestion, drive: PlottedDrive) -> bool:
    """Return whether a drive is an answer and its rating allows the load, or without one the tested speed."""
    return question.is_answer(drive) and (drive.sustained_tps or 0) >= (question.load_tps or drive.tps)


def _placer(
    kind: str, size_px: tuple[float, float], marks: Sequence[Mark], rules: Sequence[Line], *, is_short: bool
) -> LabelPlacer:
    """Return what places the labels of a kind of screen, away from marks and rules."""
    width, height = size_px
    placer = LabelPlacer(kind, width, SHORT_HEIGHTS_PX[kind] if is_short else height)
    placer.avoid_marks(marks)
    placer.avoid_lines(rules)
    return placer


@dataclass(frozen=True)
class WantedNames:
    """The names of drives to place, in order: each drive, and its name in one line and in two.

    The names of the frontiers come after the first `before_frontiers` of them. Only the drives in `away` may have their
    name away from the mark.
    """

    names: Sequence[tuple[PlottedDrive, tuple[list[str], list[str]]]]
    before_frontiers: int
    away: frozenset[int]


def _wanted_names(
    question: SpeedQuestion,
    names: Sequence[tuple[PlottedDrive, tuple[list[str], list[str]]]],
    frontiers: Sequence[Frontier],
    *,
    is_short: bool,
) -> WantedNames:
    """Return how to place these names. A short picture has room for the names of the frontiers only at the end."""
    edges = {key for frontier in frontiers for key, _, _ in frontier.edges}
    answers = [drive for drive, _ in names if question.is_answer(drive)]
    first = len(names) if is_short else sum(drive.key in edges for drive in answers)
    away = [each for each in answers if not is_short or each.key in edges or _is_rated_answer(question, each)]
    return WantedNames(names, min(first, len(names) - 1), frozenset(each.key for each in away if question.load_tps))


def _labels(
    question: SpeedQuestion,
    wanted: WantedNames,
    frontiers: Sequence[Frontier],
    placers: Sequence[LabelPlacer],
    rules: Sequence[Line],
    above_count: int,
) -> tuple[list[Text], list[Line]]:
    """Return the names of lines and drives for wide screens and phones, and the number of marks above; leader lines."""
    found: list[Text] = []
    leaders: list[Line] = []
    limit_y, load_x = rules[0].y1, next((line.x1 for line in rules if line.kind == "load"), None)
    for placer in placers:
        kind, mark_of = placer.kind, {mark.key: mark for mark in placer.marks}
        most = LABELS_MAX if kind == WIDE else 1
        found += _rule_names(question, limit_y, load_x, placer, kind)
        found += _above_name(above_count, placer)
        placer.avoid_lines([Line("", 0, 0, 100, limit_y)])  # only marks over it and names of lines are above it
        placed_count = 0
        for number, (drive, words) in enumerate(wanted.names):
            if number == wanted.before_frontiers:
                for frontier in frontiers:
                    found += _frontier_name(question, frontier, placer, kind)
            if placed_count < most:
                mark = mark_of[drive.key]
                placed = placer.next_to(mark, f"name {kind}", *words)
                if not placed and (number == 0 or (kind == WIDE and drive.key in wanted.away)):
                    placed, lines = placer.with_leader(mark, f"name {kind}", *words)
                    leaders += lines
                placed_count += bool(placed)
                found += placed
    return found, leaders


def _words(drive: PlottedDrive, *, is_short: bool) -> tuple[list[str], list[str]]:
    """Return the name of a drive in one line and in two: its model, and its capacity if another drive has the model."""
    if is_short:
        return [drive.model], []
    capacity = drive.name.removeprefix(drive.model).strip()
    return [drive.name], [drive.model, capacity] if capacity else []


def _order_of_labels(
    question: SpeedQuestion, drives: Sequence[PlottedDrive], frontiers: Sequence[Frontier]
) -> list[PlottedDrive]:
    """Return the drives in the order of labels: the answers to the question, the frontiers, then all others.

    Of the answers, the fastest is first, then those of the frontiers.
    """
    by_key = {drive.key: drive for drive in drives}
    edges = [by_key[key] for frontier in frontiers for key, _, _ in reversed(frontier.edges) if key in by_key]
    fastest = sorted(drives, key=lambda drive: (-drive.tps, drive.key))
    answers = [drive for drive in fastest if question.is_answer(drive)]
    wanted = [*answers[:1], *filter(question.is_answer, edges), *answers, *edges, *fastest]
    return [by_key[key] for key in dict.fromkeys(drive.key for drive in wanted)][:TRIED_MAX]


def _frontier_name(question: SpeedQuestion, frontier: Frontier, placer: LabelPlacer, kind: str) -> list[Text]:
    """Return the name of a frontier: on a free side of its last vertical line, or above its first horizontal one.

    A wide screen has the short name if there is no room for the other one.
    """
    short = (frontier.short_name,)
    choices = [lines for lines in ((frontier.name, short) if kind == WIDE else (short,)) if all(lines)]
    if not frontier.edges:
        return []
    _, tps, share = frontier.edges[-1]
    right, low = percent(question.x.place(tps)), percent(1 - question.y.place(share))
    left, top = percent(question.x.place(frontier.slowest_tps)), percent(1 - question.y.place(question.limit_pct))
    along = [
        Text(f"fronttext {kind}", right, _two(top + (low - top) * height), dx, 0, anchor, "")
        for height in NAME_HEIGHTS
        for dx, anchor in ((-9, "end"), (9, "start"))
    ]
    first = percent(1 - question.y.place(frontier.edges[0][2]))
    for lines in choices:
        above = Text(f"fronttext {kind}", left, first, 6, 6 - LINE_PX * len(lines), "start", "")
        if placed := placer.first_free([*along, above], lines):
            return placed
    return []


def _above_name(count: int, placer: LabelPlacer) -> list[Text]:
    """Return how many results are above the picture, whose marks are on its upper edge, near that edge."""
    if not count:
        return []
    places = [
        Text(f"overtext {placer.kind}", place, 0, 0, ASCENT_PX + row * LINE_PX, "start", "")
        for row in range(ABOVE_NAME_ROWS)
        for place in ABOVE_NAME_PLACES
    ]
    whole = placer.first_free(places, [f"\u2191 {units.counted(count, 'result')} above the chart"])
    return whole or placer.first_free(places, [f"\u2191 {units.count(count)} above"])
