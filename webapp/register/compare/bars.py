"""The bars of a comparison: a picture for each figure, with a bar for each column, drawn without a script.

Places are percentages of the width of the picture, heights are pixels, so that text keeps its size at every width.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from django.utils.text import Truncator, capfirst

from results.rules.act.limits import Limit
from results.rules.endurance import is_within_rating, needed_dwpd, three_digits, tps_per_tb
from webapp.register.compare.figures import Value, share_value
from webapp.register.compare.heads import Head
from webapp.register.svg.scales import LinearScale, LogScale
from webapp.register.tables.columns import device_tps, product_of
from webapp.templatetags import units

# Names are above the bars, figures left of them: right of a bar, a figure could be beyond the limit of its bar.
LEFT_PCT, WIDTH_PCT = 34, 64  # of the bars
ROW_PX, NAME_PX, BAR_PX = 38, 18, 12  # of a row, and of the name and the bar in it
NAME_CHARS = 42  # that fit in the narrowest picture
SHORTEST_PCT = 0.4  # of a bar that is not 0
LIMITS_SHOWN = 3  # a bar ends at three times its limit, or the limit would be next to 0
BEYOND = 1.3  # the ends of a logarithmic scale are beyond its lowest and its highest place by this factor
BREAK_PX = 26  # of the break between bars that compare and those that do not
GAP_PX = 4  # the height of the gap between a rating and a tested speed
ABOVE_LIMIT = 1.12  # the scale ends a little above the limit


@dataclass(frozen=True)
class Bar:
    """One bar: the letter and name of its column, its place, its figure as text.

    A bar of endurance is the gap between two places: the ring of the `rating`, and the bar of the `tested` speed.
    """

    letter: str
    name: str
    row: int
    width: str
    text: str
    is_over: bool
    is_grey: bool
    left: str = ""
    rating: str = ""
    tested: str = ""
    is_below_break: bool = False

    @property
    def row_px(self) -> int:
        """Return the place of the upper edge of the row, with the name above the bar."""
        return self.row * ROW_PX + (BREAK_PX if self.is_below_break else 0)

    @property
    def top_px(self) -> int:
        """Return the place of the upper edge."""
        return self.row_px + NAME_PX

    @property
    def gap_top_px(self) -> int:
        """Return the place of the upper edge of a gap."""
        return self.middle_px - GAP_PX // 2

    @property
    def middle_px(self) -> int:
        """Return the place of the middle."""
        return self.top_px + BAR_PX // 2

    @property
    def name_px(self) -> int:
        """Return the place of the middle of the name."""
        return self.row_px + NAME_PX // 2

    @property
    def short_name(self) -> str:
        """Return as much of the name as fits."""
        return Truncator(self.name).chars(NAME_CHARS)


@dataclass(frozen=True)
class BarChart:
    """A picture of bars: the figure, its unit, and the line of its limit, if it has one.

    `zero_sentence` replaces the picture if every bar would be empty.
    """

    title: str
    unit: str
    bars: list[Bar]
    limit: str = ""
    limit_text: str = ""
    zero_sentence: str = ""

    @property
    def height_px(self) -> int:
        """Return the height of the picture."""
        return len(self.bars) * ROW_PX + (BREAK_PX if self.has_break else 0)

    @property
    def has_break(self) -> bool:
        """Return whether a break separates the bars that do not compare from those above."""
        return any(bar.is_below_break for bar in self.bars)

    @property
    def break_px(self) -> int:
        """Return the place of the line of the break."""
        return min(bar.row_px for bar in self.bars if bar.is_below_break) - BREAK_PX + 4

    @property
    def break_text_px(self) -> int:
        """Return the place of the middle of the text below the line."""
        return self.break_px + 11

    @property
    def left(self) -> str:
        """Return the place at which bars begin."""
        return _pct(LEFT_PCT)

    @property
    def bar_px(self) -> int:
        """Return the height of a bar."""
        return BAR_PX

    @property
    def gap_px(self) -> int:
        """Return the height of a gap between a rating and a tested speed."""
        return GAP_PX

    @property
    def sentence(self) -> str:
        """Return the figures as text, for readers who do not see the picture."""
        limit = f", limit {self.limit_text} %" if self.limit_text else ""
        return f"{self.title}, {self.unit}{limit}: " + "; ".join(
            f"{bar.name} ({bar.letter}) {bar.text}{', not comparable' if bar.is_grey else ''}" for bar in self.bars
        )

    @property
    def grey_letters(self) -> list[str]:
        """Return the letters of the columns that do not compare."""
        return [bar.letter for bar in self.bars if bar.is_grey]


def bar_charts(heads: Sequence[Head], limits: Iterable[Limit]) -> list[BarChart]:
    """Return the pictures of the figures that at least one run reports."""
    found = [
        _plain_chart("Speed", "tps", heads, lambda head: head.run.tps),
        *(_share_chart(heads, limit) for limit in limits),
        _endurance_chart(heads),
        _plain_chart("Speed per TB", "tps, one device", heads, _per_tb),
    ]
    return _with_merged_zeros([_with_break(chart) for chart in found if chart is not None])


def _with_break(chart: BarChart) -> BarChart:
    """Return a chart whose bars that do not compare are last, below a break: their lengths are not compared."""
    ordered = sorted(chart.bars, key=lambda bar: bar.is_grey)
    has_break = bool(ordered) and not ordered[0].is_grey
    bars = [replace(bar, row=row, is_below_break=bar.is_grey and has_break) for row, bar in enumerate(ordered)]
    return replace(chart, bars=bars)


def _per_tb(head: Head) -> Decimal | None:
    return three_digits(tps_per_tb(device_tps(head.run), product_of(head.run).capacity_gb))


def _plain_chart(
    title: str, unit: str, heads: Sequence[Head], figure: Callable[[Head], Decimal | None]
) -> BarChart | None:
    known = [(head, value) for head in heads if (value := figure(head)) is not None]
    if not any(value for _, value in known):
        return None
    scale = LinearScale(0, float(max(value for _, value in known)))
    return BarChart(
        title,
        unit,
        [
            Bar(head.letter, head.name, row, _width(scale, value), units.decimal(value), False, head.is_grey)
            for row, (head, value) in enumerate(known)
        ],
    )


def _share_chart(heads: Sequence[Head], limit: Limit) -> BarChart | None:
    known = [(head, value) for head in heads if (value := share_value(head.run, limit)).share_pct is not None]
    if not known:
        return None
    limit_pct = float(limit.limit_pct)
    most = max(float(value.share_pct or 0) for _, value in known)
    high = max(limit_pct * ABOVE_LIMIT, min(most, limit_pct * LIMITS_SHOWN)) or most or 1.0
    scale = LinearScale(0, high)
    return BarChart(
        f"Over {units.threshold(limit.threshold_us)}",
        "% of reads",
        [
            Bar(
                head.letter,
                head.name,
                row,
                _width(scale, value.share_pct),
                _share_text(value),
                value.is_over,
                head.is_grey,
            )
            for row, (head, value) in enumerate(known)
        ],
        _pct(LEFT_PCT + scale.place(limit_pct) * WIDTH_PCT),
        units.decimal(limit.limit_pct),
        "" if most else _zero_sentence(known),
    )


def _zero_sentence(known: Sequence[tuple[Head, Value]]) -> str:
    """Return what shares of zero mean: they are smaller than half of the last digit that all of them have."""
    texts = [value.text for _, value in known]
    places = min(len(text.partition(".")[2]) for text in texts)
    letters = ", ".join(head.letter for head, _ in known)
    return f"{letters}: under {Decimal(5).scaleb(-1 - places):f} %, printed as {Decimal(0):.{places}f}"


def _with_merged_zeros(charts: Sequence[BarChart]) -> list[BarChart]:
    """Return the charts with those of shares that have no bar in one panel, which says which share each line is of."""
    empty = [chart for chart in charts if chart.zero_sentence]
    if len(empty) < 2:
        return list(charts)
    title = " and ".join([empty[0].title, *(chart.title.lower() for chart in empty[1:])])
    sentence = "; ".join(
        f"{chart.title.lower()} (limit {chart.limit_text} %): {chart.zero_sentence}" for chart in empty
    )
    merged = BarChart(title, "% of reads", [], zero_sentence=capfirst(sentence))
    return [merged if chart is empty[0] else chart for chart in charts if chart not in empty[1:]]


def _share_text(value: Value) -> str:
    return f"{value.text}, over" if value.is_over else value.text


def _endurance_chart(heads: Sequence[Head]) -> BarChart | None:
    """Return the gap between the rating and the drive writes a day that each tested speed needs.

    The scale is logarithmic, as on the page of a drive: equal lengths are equal ratios.
    """
    known = []
    for head in heads:
        product = product_of(head.run)
        needed = needed_dwpd(device_tps(head.run), product.capacity_gb)
        if needed and product.endurance_dwpd:
            known.append((head, needed, product.endurance_dwpd))
    if not known:
        return None
    every = [float(value) for _, needed, rated in known for value in (needed, rated)]
    scale = LogScale(min(every) / BEYOND, max(every) * BEYOND)
    bars = [_gap(scale, head, row, needed, rated) for row, (head, needed, rated) in enumerate(known)]
    return BarChart("Endurance", "drive writes a day, logarithmic; ring: rating, bar: tested speed", bars)


def _gap(scale: LogScale, head: Head, row: int, needed: Fraction, rated: Decimal) -> Bar:
    at_rating, at_test = (LEFT_PCT + scale.place(float(each)) * WIDTH_PCT for each in (rated, needed))
    text = f"{units.decimal(three_digits(needed))}, rated {units.decimal(rated)}"
    is_over, width = not is_within_rating(needed, rated), _pct(abs(at_test - at_rating))
    left = _pct(min(at_rating, at_test))
    return Bar(head.letter, head.name, row, width, text, is_over, head.is_grey, left, _pct(at_rating), _pct(at_test))


def _width(scale: LinearScale, value: Decimal | Fraction | None) -> str:
    """Return the width of a bar, which ends at the end of the scale."""
    place = min(scale.place(float(value or 0)), 1.0) * WIDTH_PCT
    return _pct(max(place, SHORTEST_PCT) if value else 0)


def _pct(number: float) -> str:
    return f"{number:.2f}%"
