"""The chart of a claim, drawn alike on its page and on its share image."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString

from results.rules.ycsb.claim_analysis import needed_value
from results.rules.ycsb.claims import MEAN_OF_GAINS, PEAKS, Basis, BasisRow
from results.rules.ycsb.gains import better
from results.rules.ycsb.statements import Taken, printed
from results.rules.ycsb.sweeps import improvements
from webapp.register.svg.card import Headline, Plot, plot_surface, share_card
from webapp.register.svg.drawing import Surface
from webapp.register.ycsb.bars import Bar, BarGroup, Column, Levels, bars_height_px, draw_bars, draw_columns
from webapp.register.ycsb.claims.entries import ClaimEntry
from webapp.register.ycsb.claims.sentences import card_foot, card_headlines, card_note, favours
from webapp.register.ycsb.gains import READ_FROM_CHART, digits
from webapp.register.ycsb.impossible_results import impossible_results_behind
from webapp.register.ycsb.publications import metric_name

COLUMNS_HEIGHT_PX = 290
CARD_GROUPS_MOST = 2  # more groups of bars would be too small on a share image


@dataclass(frozen=True)
class ClaimChart:
    """A chart: its title, the name of its horizontal axis, its height on a page, and how it is drawn on a surface."""

    title: str
    x_title: str
    height_px: int
    draw: Callable[[Surface, bool], SafeString]
    fits_card: bool = True

    @property
    def drawing(self) -> SafeString:
        """Return the content of the SVG element of a page."""
        return self.draw(Surface(), True)


def chart_of(entry: ClaimEntry) -> ClaimChart | None:
    """Return the chart of a claim; None if its figures are not published."""
    check = entry.row.check
    if not check.basis:
        return None
    if check.claim.formula == MEAN_OF_GAINS:
        return _gains_chart(entry, check.basis[0])
    groups = [_group(entry, basis, is_only=len(check.basis) == 1) for basis in check.basis]
    basis = check.basis[0]
    metric = metric_name(basis.metric)
    return ClaimChart(
        f"{f'Peak {metric.lower()}' if check.claim.formula == PEAKS else metric}, {basis.unit}",
        "",
        bars_height_px(groups),
        lambda surface, _: draw_bars(groups, surface),
        len(groups) <= CARD_GROUPS_MOST,
    )


def gains_of(entry: ClaimEntry, basis: Basis) -> dict[int, Fraction | None]:
    """Return the gain in percent at each thread count that both drives have."""
    sides = [
        {row.threads: taken.value for row in basis.rows for taken in [getattr(row, side)] if row.threads and taken}
        for side in ("a", "b")
    ]
    direction = better(basis.metric, entry.slug)
    found = improvements(sides[0], sides[1], direction) if direction else {}
    return {threads: None if gain is None else gain * 100 for threads, gain in found.items()}


def _gains_chart(entry: ClaimEntry, basis: Basis) -> ClaimChart:
    claim, gains = entry.row.check.claim, gains_of(entry, basis)
    columns = [
        Column(
            str(row.threads),
            gain,
            printed(gain, 1),
            f"{row.threads} threads: {claim.device} {digits(row.a.value)} {basis.unit}, {claim.against} "
            f"{digits(row.b.value)} {basis.unit}, gain {printed(gain, 1)} %",
        )
        for row in basis.rows
        for gain in [gains.get(row.threads or 0)]
        if gain is not None and row.a and row.b
    ]
    stated = (Fraction(claim.stated_value), f"stated {entry.stated}") if entry.is_number else None
    levels = Levels((entry.row.check.values[0], f"its table {entry.recomputed}"), stated)
    return ClaimChart(
        "Gain at each thread count, %",
        "threads",
        COLUMNS_HEIGHT_PX,
        lambda surface, has_values: draw_columns(columns, levels, surface, has_values=has_values),
    )


def peak_row(rows: Sequence[BasisRow], side: str) -> BasisRow:
    """Return the row with the highest value of a side, of equal ones that with the fewest threads."""
    known = [row for row in rows if getattr(row, side)]
    return max(known, key=lambda row: getattr(row, side).value)


def _group(entry: ClaimEntry, basis: Basis, *, is_only: bool) -> BarGroup:
    claim = entry.row.check.claim
    is_peak = claim.formula == PEAKS
    rows = [peak_row(basis.rows, side) if is_peak else basis.rows[0] for side in "ab"]
    own, other = (getattr(row, side) for row, side in zip(rows, "ab", strict=True))
    at = [f" with {row.threads} threads" if is_peak else "" for row in rows]
    wrong = {each.check.model for row in rows for each in impossible_results_behind(entry.row.check, basis, row)}
    bars = [
        _bar(drive, taken, f"{basis.unit}{where}", is_own=is_own, is_impossible=drive in wrong)
        for drive, taken, where, is_own in ((claim.against, other, at[1], False), (claim.device, own, at[0], True))
    ]
    needed = needed_value(entry.row.check, other) if is_only else None
    level = (needed, f"stated {entry.stated} needs {digits(_short(needed))} {basis.unit}") if needed else None
    return BarGroup("" if is_only else f"Workload {basis.workload}", bars, level)


def _bar(drive: str, taken: Taken, unit: str, *, is_own: bool, is_impossible: bool) -> Bar:
    low, high = taken.ends[0], taken.ends[-1]
    words = f"{digits(taken.value)} {unit}"
    if low == high:
        return Bar(drive, taken.value, words, is_own, is_impossible=is_impossible)
    detail = f", {READ_FROM_CHART}: {digits(low)} to {digits(high)}"
    return Bar(drive, taken.value, words, is_own, (low, high), detail, is_impossible)


def _short(value: Fraction) -> Fraction:
    """Return a computed value with two decimals below 100, one below 1,000 and none above."""
    factor = 1 if abs(value) >= 1000 else 10 if abs(value) >= 100 else 100
    return Fraction(round(value * factor), factor)


def card_of(entry: ClaimEntry) -> str:
    """Return the share image of a claim as SVG."""
    chart = chart_of(entry)
    plot = None
    if chart and chart.fits_card:
        plot = Plot(chart.draw(plot_surface(chart.x_title), False), chart.title, chart.x_title)
    first, second = card_headlines(entry)
    headlines = [Headline(*first, warns=entry.is_contradicted), Headline(*second)]
    address = f"{settings.PUBLIC_URL}{reverse('permanent-id', args=[entry.public_id])}"
    foot = [*card_foot(entry), f"{address} (licence of the data: {settings.DATA_LICENCE})"]
    return share_card(
        f"published claims, recomputed: {entry.status_line}",
        headlines,
        favours(entry),
        foot,
        plot,
        card_note(entry),
    )
