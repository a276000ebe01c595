"""The position of a drive in its category: one strip each for speed, slow reads, and the speed the rating allows."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.urls import reverse
from django.utils.safestring import SafeString

from results.rules.act.positions import Figure, Position, Standing, position_of
from results.rules.endurance import written_gb_per_day
from webapp.register.drives.store.encoded_columns import BILLIONTHS
from webapp.register.drives.store.ranking import RATING_PARTS
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.product_pages.answer import ORDINALS, noun
from webapp.register.product_pages.comparable import ComparableDrive, Comparison, LeftOut
from webapp.register.svg.marks import symbol_of
from webapp.register.svg.scales import LinearScale, LogScale, enclosing_log_scale
from webapp.register.svg.strips import StripMark, Tick, density_svg, strip_svg, ticks_around, ticks_of
from webapp.register.tables.endurance_gap import digits
from webapp.register.tables.groups import group_label
from webapp.templatetags import units

MARKS_AT_MOST = 60  # on one strip; more are drawn as columns, and their drives are in the table of the category
BEYOND_LIMIT = 1.04  # the end of the axis of slow reads, as a multiple of the limit


@dataclass(frozen=True)
class Words:
    """The words for the positions of one figure."""

    ahead: str  # "faster than 27 of 29 others"
    first: str
    last: str
    equal: str
    place: str  # "third by speed of 7"


SPEED = Words("faster than", "fastest", "slowest", "as fast as", "by speed")
SLOW_READS = Words(
    "fewer slow reads than", "fewest slow reads", "most slow reads", "as many slow reads as", "by slow reads"
)
ENDURANCE = Words("allows more than", "highest rated speed", "lowest rated speed", "allows as much as", "by endurance")


def position_words(position: Position, words: Words) -> str:
    """Return a position in a few words.

    >>> position_words(Position(2, 0, 27), SPEED).replace(units.NBSP, " ")
    'faster than 27 of 29 others (93 %)'
    >>> position_words(Position(0, 0, 1), SPEED), position_words(Position(2, 1, 3), ENDURANCE)
    ('fastest of 2', 'shared third by endurance of 7')
    """
    total, others = units.count(position.total), units.count(position.others)
    percent = "" if position.beaten_pct is None else f" ({position.beaten_pct}{units.NBSP}%)"
    place = ORDINALS[position.place] if position.place < len(ORDINALS) else f"number {position.place}"
    texts = {
        Standing.ONLY: "no other drive to compare with",
        Standing.EQUAL: f"{words.equal} {'the other' if position.others == 1 else f'each of the {others} others'}",
        Standing.FIRST: f"{words.first} of {total}",
        Standing.SHARED_FIRST: f"shared {words.first} of {total}",
        Standing.LAST: f"{words.last} of {total}",
        Standing.SHARED_LAST: f"shared {words.last} of {total}",
        Standing.AHEAD: f"{words.ahead} {units.count(position.worse)} of {others} others{percent}",
        Standing.PLACE: f"{'shared ' if position.equal else ''}{place} {words.place} of {total}",
    }
    return texts[position.standing]


@dataclass(frozen=True)
class Strip:
    """One strip: its title, the position in words, and the drawing."""

    title: str
    words: str
    svg: SafeString


@dataclass(frozen=True)
class PositionView:
    """The section on the position: whom the drive is compared with, the strips, and who is left out and why."""

    heading: str
    strips: Sequence[Strip]
    left_out: str
    left_out_count: int


@dataclass(frozen=True)
class _Figure:
    """A figure that drives are compared by."""

    title: str
    words: Words
    value: Callable[[ComparableDrive], Figure | None]
    text: Callable[[ComparableDrive], str]
    more_is_better: bool
    tps_of_unit: float = 1  # of `value`, for the ticks of an axis of speeds


def speed_position(comparison: Comparison) -> Position:
    """Return the position of the speed."""
    return position_of(comparison.this.tps, (drive.tps for drive in comparison.others), more_is_better=True)


def position_view(comparison: Comparison, limits: YourLimits, *, is_historical: bool) -> PositionView:
    """Return the section on the position of a drive."""
    threshold = units.threshold(limits.fields[0].threshold_us)
    figures = (
        _Figure("Speed", SPEED, lambda drive: drive.tps, lambda drive: f"{units.count(drive.tps)} tps", True),
        _Figure(
            "Slow reads",
            SLOW_READS,
            lambda drive: drive.share,
            lambda drive: f"{drive.share_text}{units.NBSP}% over {threshold}",
            False,
        ),
        _Figure(
            "Endurance",
            ENDURANCE,
            lambda drive: drive.rated_writes,
            lambda drive: f"{digits(drive.sustained)} tps allowed",
            True,
            float(1 / written_gb_per_day(1) / RATING_PARTS),
        ),
    )
    strips = [strip for figure in figures if (strip := _strip(figure, comparison, limits))] if comparison.others else []
    category, group = comparison.this.category, comparison.group
    count = len(comparison.others) + 1
    named = noun(category, group, is_historical=is_historical, is_one=count == 1)
    among = f"among {units.count(count)} {named}" if count > 1 else f"no other comparable {named} is within the limits"
    heading = f"{among} ({group_label(group)})"
    left_out = comparison.left_out
    return PositionView(heading, strips, left_out_sentence(left_out), sum(left_out.values()))


def _strip(figure: _Figure, comparison: Comparison, limits: YourLimits) -> Strip | None:
    """Return the strip of one figure; None if the drive or all others lack it."""
    own = figure.value(comparison.this)
    known = Counter(value for drive in comparison.others if (value := figure.value(drive)) is not None)
    if own is None or not known:
        return None
    scale, ticks = _axis(figure, [own, *known], limits)
    words = position_words(position_of(own, known.elements(), more_is_better=figure.more_is_better), figure.words)
    this = _mark(comparison.this, figure, scale.place(float(own)), limits, is_this=True)
    better = "right" if figure.more_is_better else "left"
    name = f"{figure.title}: {words}. {this.label}. Further {better} is better."
    places = {value: scale.place(float(value)) for value in known}
    if known.total() > MARKS_AT_MOST:
        svg = density_svg(name, ticks, ((places[value], count) for value, count in known.items()), this)
    else:
        values = ((drive, figure.value(drive)) for drive in comparison.others)
        marks = [_mark(drive, figure, places[value], limits) for drive, value in values if value is not None]
        svg = strip_svg(name, ticks, marks, this)
    unrated = len(comparison.others) - known.total()
    note = f"; {unrated} without a rating left out" if unrated else ""
    return Strip(figure.title, words + note, svg)


def _axis(
    figure: _Figure, values: Sequence[Figure], limits: YourLimits
) -> tuple[LinearScale | LogScale, Iterable[Tick]]:
    if figure.words is not SLOW_READS:
        scale = enclosing_log_scale(float(min(values) * figure.tps_of_unit), float(max(values) * figure.tps_of_unit))
        return LogScale(scale.low / figure.tps_of_unit, scale.high / figure.tps_of_unit), ticks_of(scale)
    limit = limits.fields[0].limit_pct
    end = max(float(limit), float(Fraction(max(values), BILLIONTHS))) * BEYOND_LIMIT or 1.0
    shown = LinearScale(0, end)
    named = Tick(shown.place(float(limit)), f"limit {units.decimal(limit)} %", is_limit=True)
    return LinearScale(0, end * BILLIONTHS), ticks_around(named, ticks_of(shown, " %"))


def _mark(
    drive: ComparableDrive, figure: _Figure, place: float, limits: YourLimits, *, is_this: bool = False
) -> StripMark:
    text, symbol = figure.text(drive), symbol_of(drive.endurance_dwpd, drive.capacity_gb)
    address = reverse("product", args=[drive.slug]) + limits.query
    return StripMark(place, symbol, text if is_this else f"{drive.name}: {text}", address)


LEFT_OUT_WORDS = {
    LeftOut.OVER_LIMITS: "over a limit",
    LeftOut.NOT_PASSED: "failed for another reason or without a verdict",
    LeftOut.NO_FIGURE: "without a reported speed or share of slow reads",
    LeftOut.WITH_QUEUE: "tested with ACT up to 5.3, which counts the time in the queue",
    LeftOut.SERVICE_TIME: "tested with ACT 6.x, which counts only the time that the drive took",
    LeftOut.UNKNOWN_TIME: "with an unknown version of ACT",
    LeftOut.COMPRESSIBLE: "tested with compressible data",
    LeftOut.OTHER_STATISTIC: "with shares of another statistic",
    LeftOut.OTHER_DEVICES: "tested with another number of devices",
    LeftOut.UNKNOWN_DEVICES: "with an unknown number of devices",
}


def left_out_sentence(left_out: Mapping[LeftOut, int]) -> str:
    """Return how many products of the category are left out, by reason; empty if there are none.

    >>> left_out_sentence({LeftOut.OVER_LIMITS: 2, LeftOut.COMPRESSIBLE: 1})
    '2 over a limit, 1 tested with compressible data.'
    """
    parts = [
        f"{units.count(left_out[reason])} {words}" for reason, words in LEFT_OUT_WORDS.items() if left_out.get(reason)
    ]
    return f"{', '.join(parts)}." if parts else ""
