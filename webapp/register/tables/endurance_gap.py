"""The endurance gap of a run, as pages show it: a sentence, a headline speed and one axis."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.utils.safestring import SafeString

from results.models import Run
from results.models.categories import SYSTEMS
from results.rules.act.endurance_gap import EnduranceGap, endurance_gap, part_words, times
from results.rules.act.loads import TPS, printed_decimal
from results.rules.endurance import (
    LARGE_BLOCK_BYTES,
    LARGE_BLOCK_WRITES_PER_S,
    SECONDS_PER_DAY,
    WRITTEN_GB_PER_DAY_AT_1X,
    three_digits,
    written_gb_per_day,
)
from webapp.register.svg.endurance_axis import endurance_svg
from webapp.register.tables.columns import device_tps, product_of
from webapp.templatetags import units

TIMES, OVER = " \N{MULTIPLICATION SIGN} ", " \N{DIVISION SIGN} "


@dataclass(frozen=True)
class GapView:
    """The endurance gap of one drive at the speed of a run on `devices` devices."""

    gap: EnduranceGap
    devices: int
    is_mix_reported: bool = True

    @property
    def sustained(self) -> str:
        """Return the speed that the rating allows, tps, with three significant digits; empty without a rating."""
        return digits(self.gap.sustained)

    @property
    def sentence(self) -> str:
        """Return what the tested speed writes, what the drive is rated for, and what the rating allows."""
        speed = f"At {digits_of_speed(self.gap.tested)} tps"
        speed += " on each device" if self.devices > 1 else ""
        needed, rated, sustained = digits(self.gap.needed), self.gap.endurance_dwpd, self.sustained
        if rated is None and not needed:
            return "Endurance rating and capacity are not reported."
        if rated is None:
            return f"{speed} this drive takes {needed} drive writes a day. Its endurance rating is not reported."
        if not needed:
            return f"This drive is rated for {units.decimal(rated)} drive writes a day. Its capacity is not reported."
        takes = f"{speed} this drive takes {needed} drive writes a day; it is rated for {units.decimal(rated)}."
        return f"{takes} Its rating allows {sustained} tps."

    @property
    def lifetime(self) -> str:
        """Return which part of the warranty period the rated writes last at the tested speed; empty if unknown.

        The data has no warranty periods, so the sentence has no years.
        """
        part = self.gap.warranty_part
        if not part:
            return ""
        if part == 1:
            return "At the tested speed, day and night, the rated writes are enough for the whole warranty period."
        used_up = f"the rated writes are used up after {_part_words(part)} of the warranty"
        return f"At the tested speed, day and night, {used_up}."

    @property
    def assumption(self) -> str:
        """Return which mix of reads and writes the sum assumes; empty if the source reports it."""
        if self.is_mix_reported or not self.gap.needed:
            return ""
        return "No mix is stated; 2:1 is assumed."

    @property
    def clause(self) -> str:
        """Return the gap as one short sentence, for the answer of a product page."""
        ratio = self.gap.ratio
        if ratio is None:
            return "Its endurance rating is not reported." if self.gap.endurance_dwpd is None else ""
        if self.gap.is_covered:
            return "Its endurance rating allows the tested speed."
        return f"Its endurance rating allows {_part_words(ratio)} of the tested speed."

    @property
    def sums(self) -> list[str]:
        """Return the computation with the figures of this drive, a sum in each text; empty if nothing is computed."""
        return [*_writes_sums(self.gap), *_rating_sums(self.gap)]

    @property
    def axis(self) -> SafeString:
        """Return the gap as one axis; empty without a rating."""
        gap = self.gap
        if not gap.sustained or gap.endurance_dwpd is None:
            return SafeString("")
        labels = (
            f"rated {units.decimal(gap.endurance_dwpd)} DWPD",
            f"allows {self.sustained}",
            f"needs {digits(gap.needed)} DWPD",
            f"tested {digits_of_speed(gap.tested)}",
            f"{units.decimal(times(gap.tested / gap.sustained))} times its rating",
        )
        return endurance_svg(float(gap.tested), float(gap.sustained), labels)


def gap_of(run: Run) -> GapView | None:
    """Return the gap of a run on drives; None for a system or a virtual device, or without the speed of one device.

    The run was fetched with its product.
    """
    if run.product is None or run.product.category in SYSTEMS or run.is_virtual or run.is_on_no_drive:
        return None
    product = product_of(run)
    gap = endurance_gap(device_tps(run), product.endurance_dwpd, product.capacity_gb)
    return None if gap is None else GapView(gap, run.device_count or 1, run.is_mix_reported)


def load_sentence(load_tps: int, needed: Fraction | None, rated: str) -> str:
    """Return the drive writes per day that a load takes, and the rated ones."""
    takes = f"At {units.count(load_tps)} tps this drive takes {digits(needed)} drive writes a day"
    return f"{takes}; it is rated for {rated}."


def _writes_sums(gap: EnduranceGap) -> list[str]:
    """Return the sums from the tested speed to the drive writes a day; none without a capacity."""
    if not gap.needed:
        return []
    blocks, seconds = printed(LARGE_BLOCK_WRITES_PER_S), units.count(SECONDS_PER_DAY)
    at_1x, written = (f"{printed(each)} GB" for each in (WRITTEN_GB_PER_DAY_AT_1X, written_gb_per_day(gap.tested)))
    a_day = f"{blocks} blocks/s{TIMES}{units.count(LARGE_BLOCK_BYTES)} bytes{TIMES}{seconds} s"
    speeds = f"{printed(gap.tested)} tps{OVER}{units.count(TPS)} tps"
    return [
        f"ACT writes at 1x ({units.count(TPS)} tps): {a_day} = {at_1x} a day.",
        f"It writes at the tested speed: {speeds}{TIMES}{at_1x} = {written} a day.",
        f"Drive writes a day: {written}{OVER}{units.count(gap.capacity_gb)} GB = {printed(gap.needed)}.",
    ]


def _rating_sums(gap: EnduranceGap) -> list[str]:
    """Return the sums from the rating to the part of the tested speed; none without a rating."""
    if not gap.sustained:
        return []
    rated = f"{units.decimal(gap.endurance_dwpd)}{TIMES}{units.count(gap.capacity_gb)} GB"
    each = f"{rated}{OVER}{printed(WRITTEN_GB_PER_DAY_AT_1X)} GB{TIMES}{units.count(TPS)} tps"
    return [
        f"The rating allows: {each} = {printed(gap.sustained)} tps.",
        f"Part of the tested speed: {printed(gap.sustained)} tps{OVER}{printed(gap.tested)} tps = {digits(gap.ratio)}.",
    ]


def _part_words(part: Fraction) -> str:
    return part_words(part).replace(" %", f"{units.NBSP}%")


def digits(figure: Fraction | None) -> str:
    """Return a computed figure as tables print it, with three significant digits; empty for None.

    >>> digits(Fraction("23.98")), digits(Fraction("216_160")), digits(None)
    ('24', '216,000', '')
    """
    return units.decimal(three_digits(figure))


def printed(figure: Fraction) -> str:
    """Return a figure of a sum, with at most three decimals.

    >>> printed(Fraction("153485.756596")), printed(Fraction(1_728_000))
    ('153,485.757', '1,728,000')
    """
    return units.decimal(Decimal(printed_decimal(figure, 3)))


def digits_of_speed(tps: Fraction) -> str:
    """Return a tested speed with all its digits; a part of a tps, as of three devices, is rounded.

    >>> digits_of_speed(Fraction(1_728_000)), digits_of_speed(Fraction(500_000, 3))
    ('1,728,000', '166,667')
    """
    return units.count(round(tps))
