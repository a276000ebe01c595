"""The chart of tested speed against the speed that the endurance rating allows.

On the diagonal the rating allows the tested speed. Below it, the drive needs more drive writes a day than it is rated
for. static/js/landscape/endurance-chart.js repeats this module.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.act.endurance_gap import times
from webapp.register.landscape.labels import LINE_PX, LabelPlacer
from webapp.register.landscape.marks import Mark, PlottedDrive
from webapp.register.landscape.picture import (
    GRID,
    PHONE,
    WIDE,
    Line,
    Picture,
    Text,
    percent,
    pieces,
    side_tick,
    speed_ticks,
)
from webapp.register.landscape.speed_chart import SHORT_HEIGHTS_PX, SpeedQuestion
from webapp.register.svg.scales import LogScale, step_at_least, step_below
from webapp.templatetags import units

TIMES_OVER = 8
TIMES_NAME = (f"{TIMES_OVER} times the speed", "that its rating allows")
PLOT_PX, PHONE_PX = (330, 208), (290, 148)
TICK_WIDTHS_PX = (PLOT_PX[0], 220)
ABOVE_LABELLED = 2
TIMES_PLACES = (0.25, 0.4, 0.1, 0.55, 0.7, 0.85)  # of the length of the line of eight times
COUNT_PLACES = (4, 1, 14, 24, 34, 44)  # percent
COUNT_NAMES = (  # the first one with room, and what is before the number
    (["rating allows the tested speed"], "above the line: "),
    (["rating allows", "the tested speed"], ""),
    (["rating allows"], ""),
)


@dataclass(frozen=True)
class RatedDrive:
    """A drive with a rating: how many times its tested speed exceeds the speed that the rating allows."""

    drive: PlottedDrive
    sustained_tps: float
    endurance_dwpd: float

    @property
    def ratio(self) -> float:
        """Return the tested speed divided by the sustained one."""
        return self.drive.tps / self.sustained_tps

    @property
    def needed(self) -> str:
        """Return the drive writes a day that the tested speed needs, as text."""
        return rounded_text(self.endurance_dwpd * self.ratio)


def rated_drives(drives: Iterable[PlottedDrive]) -> list[RatedDrive]:
    """Return the drives whose rating allows a known speed."""
    return [
        RatedDrive(drive, drive.sustained_tps, drive.endurance_dwpd)
        for drive in drives
        if drive.sustained_tps and drive.endurance_dwpd
    ]


def rounded_text(value: float) -> str:
    """Return a number with one decimal below 10, otherwise whole.

    >>> rounded_text(24.02), rounded_text(7.45), rounded_text(3.0), rounded_text(9.96)
    ('24', '7.5', '3', '10')
    """
    tenths = math.floor(value * 10 + 0.5)
    return f"{math.floor(value + 0.5):,}" if tenths >= 100 or tenths % 10 == 0 else f"{tenths / 10:g}"


def endurance_chart(
    question: SpeedQuestion,
    drives: Sequence[PlottedDrive],
    headline_key: int | None,
    counts: tuple[int, int],
    *,
    is_short: bool = False,
) -> Picture:
    """Return the picture of the drives that have a rating; the gap of the drive with `headline_key` is drawn.

    `counts` has the number of results whose rating allows the tested speed, and of all results of rated drives.
    """
    rated = rated_drives(drives)
    x = question.x
    y = sustained_scale(rated, x)
    marks = tuple(_mark(question, each, x, y) for each in _paint_order(rated))
    headline = next((each for each in rated if each.drive.key == headline_key), None)
    gap = [_gap(headline, x, y)] if headline else []
    rules = [*_diagonal("limit", 1, x, y), *_diagonal("iso", TIMES_OVER, x, y)]
    places, ticks = speed_ticks(x, TICK_WIDTHS_PX)
    lines = [*rules, *gap]
    return Picture(
        lines=(*_grid(y), *lines),
        ticks=tuple(places),
        axis_texts=(*_side_ticks(y), *ticks),
        marks=marks,
        labels=tuple(_labels(rated, headline, marks, lines, counts, is_short=is_short)),
    )


def sustained_scale(rated: Sequence[RatedDrive], x: LogScale) -> LogScale:
    """Return the vertical axis. It reaches as far up as the horizontal one, so that the diagonal ends in the corner."""
    sustained = [each.sustained_tps for each in rated] or [x.low]
    return LogScale(step_below(min(*sustained, x.low)), max(step_at_least(max(sustained)), x.high))


def _paint_order(rated: Iterable[RatedDrive]) -> list[RatedDrive]:
    return sorted(rated, key=lambda each: each.drive.paint_order)


def _mark(question: SpeedQuestion, each: RatedDrive, x: LogScale, y: LogScale) -> Mark:
    drive, place = each.drive, percent(1 - y.place(each.sustained_tps))
    classes = f"m {drive.fill} {question.state_of(drive)}"
    return Mark(drive.key, percent(x.place(drive.tps)), place, question.symbol_of(drive), classes)


def _grid(y: LogScale) -> list[Line]:
    places = [percent(1 - y.place(value)) for value in _decades(y)]
    return [Line(GRID, 0, place, 100, place) for place in places]


def _side_ticks(y: LogScale) -> list[Text]:
    return [side_tick(percent(1 - y.place(value)), f"{value:,.0f}") for value in _decades(y)]


def _decades(y: LogScale) -> list[float]:
    """Return the decades of an axis; all ticks if there are not two decades."""
    decades = [value for value in y.ticks() if f"{value:.0f}".strip("0") == "1"]
    return decades if len(decades) > 1 else y.ticks()


def _diagonal(kind: str, times: int, x: LogScale, y: LogScale) -> list[Line]:
    """Return the line on which the tested speed is a multiple of the sustained one, within the plot."""
    low, high = max(x.low, times * y.low), min(x.high, times * y.high)
    if low >= high:
        return []
    y1, y2 = (percent(1 - y.place(tps / times)) for tps in (low, high))
    return [Line(kind, percent(x.place(low)), y1, percent(x.place(high)), y2)]


def _place_times_over(lines: Iterable[Line], placer: LabelPlacer) -> Iterable[Text]:
    """Yield the name of the line of eight times and what it means: right of a place of the line, or left of it."""
    for line in lines:
        if line.kind == "iso":
            texts = [
                Text(
                    f"isotext {placer.kind}",
                    percent((line.x1 + (line.x2 - line.x1) * part) / 100),
                    percent((line.y1 + (line.y2 - line.y1) * part) / 100),
                    *side,
                    "",
                )
                for part in TIMES_PLACES
                for side in ((8, 14, "start"), (-8, -4 - LINE_PX, "end"))
            ]
            yield from placer.first_free(texts, TIMES_NAME)


def _place_counts(sustaining_count: int, rated_count: int, placer: LabelPlacer) -> list[Text]:
    """Return the name of the area above the diagonal and its number of results, at the left edge."""
    results = "result" if rated_count == 1 else "results"
    count = f"{sustaining_count:,} of {rated_count:,} {results}"
    places = [Text(f"strong {placer.kind}", 2, top, 0, 8, "start", "") for top in COUNT_PLACES]
    for names, before in COUNT_NAMES:
        if placed := placer.first_free(places, [*names, before + count]):
            return [*placed[:-1], placed[-1]._replace(kind=f"aside {placer.kind}")]
    return []


def _gap(headline: RatedDrive, x: LogScale, y: LogScale) -> Line:
    place = percent(x.place(headline.drive.tps))
    tested = percent(1 - y.place(min(headline.drive.tps, y.high)))
    return Line("gap", place, tested, place, percent(1 - y.place(headline.sustained_tps)))


def _labels(
    rated: Sequence[RatedDrive],
    headline: RatedDrive | None,
    marks: Sequence[Mark],
    lines: Sequence[Line],
    counts: tuple[int, int],
    *,
    is_short: bool,
) -> Iterable[Text]:
    """Yield the names of the lines, and labels: the headline's gap, drives above the diagonal, and the largest gap."""
    mark_of = {mark.key: mark for mark in marks}
    wanted = list(_wanted(rated, headline))
    for kind, (width, height), most in ((WIDE, PLOT_PX, len(wanted)), (PHONE, PHONE_PX, 1)):
        placer = LabelPlacer(kind, width, SHORT_HEIGHTS_PX[kind] if is_short else height)
        placer.avoid_marks(marks)
        placer.avoid_lines(piece for line in lines if line.kind != "iso" for piece in pieces(line))
        yield from _place_counts(*counts, placer)
        yield from _place_times_over(lines, placer)
        for each, words in wanted[:most]:
            yield from placer.next_to(mark_of[each.drive.key], f"name {kind}", words)


def _wanted(rated: Sequence[RatedDrive], headline: RatedDrive | None) -> Iterable[tuple[RatedDrive, list[str]]]:
    if headline:
        yield headline, [f"needs {headline.needed}", f"rated {headline.endurance_dwpd:g}"]
    largest = max(rated, key=lambda each: (each.ratio, each.drive.key), default=None)
    if largest and largest is not headline and largest.ratio > 1:
        tested, sustained = Fraction(largest.drive.tps), Fraction(largest.sustained_tps)
        yield largest, [f"{units.decimal(times(tested / sustained))} times", "its rating"]
    above = sorted(rated, key=lambda each: (each.ratio, each.drive.key))
    for each in [each for each in above if each.ratio <= 1][:ABOVE_LABELLED]:
        yield each, [each.drive.name]
