"""The ACT load that a drive's endurance rating allows, and its speed per capacity: exact, then rounded."""

from decimal import Decimal
from fractions import Fraction

from results.rules.act.loads import TPS

LARGE_BLOCK_WRITES_PER_S = Fraction("23.53")  # per device at 1x, defragmentation included: ACT's derived configuration
LARGE_BLOCK_BYTES = 128 * 1024
SECONDS_PER_DAY = 86_400
BYTES_PER_GB = 10**9
GB_PER_TB = 1000
DIGITS = 3
# aerospike/act README.md and its derived configuration: 23.53 large blocks of 128 KiB a second at 1x.
WRITTEN_GB_PER_DAY_AT_1X = LARGE_BLOCK_WRITES_PER_S * LARGE_BLOCK_BYTES * SECONDS_PER_DAY / BYTES_PER_GB


def written_gb_per_day(tps: Fraction | Decimal | int) -> Fraction:
    """Return what ACT writes in a day at a speed, GB: 266 for each 1x (3000 tps of one device)."""
    return WRITTEN_GB_PER_DAY_AT_1X * Fraction(tps) / TPS


def sustained_tps(endurance_dwpd: Fraction | Decimal | None, capacity_gb: int | None) -> Fraction | None:
    """Return the speed, tps, at which ACT's daily writes equal the rating; None if a fact is missing.

    The rating counts the writes of the host, so the drive's own write amplification does not matter.
    """
    if endurance_dwpd is None or capacity_gb is None:
        return None
    return Fraction(endurance_dwpd) * capacity_gb / written_gb_per_day(1)


def needed_dwpd(tps: Fraction | Decimal | None, capacity_gb: int | None) -> Fraction | None:
    """Return the drive writes per day that a speed needs on one drive; None if speed or capacity is missing."""
    if tps is None or not capacity_gb:
        return None
    return written_gb_per_day(tps) / capacity_gb


def is_within_rating(needed: Fraction, endurance_dwpd: Fraction | Decimal) -> bool:
    """Return whether a rating allows the drive writes per day that a speed needs; it allows exactly the rated ones."""
    return needed <= Fraction(endurance_dwpd)


def tps_per_tb(tps: Fraction | Decimal | None, capacity_gb: int | None) -> Fraction | None:
    """Return the speed of one drive per capacity, tps per TB (10^12 bytes); None if speed or capacity is missing."""
    if tps is None or not capacity_gb:
        return None
    return Fraction(tps) * GB_PER_TB / capacity_gb


def three_digits(number: Fraction | None) -> Decimal | None:
    """Return a number of 0 or more with three significant digits, half to even: what a computed figure is printed with.

    >>> three_digits(Fraction(215_999)), three_digits(Fraction(1, 8)), three_digits(Fraction("0.9996"))
    (Decimal('216000'), Decimal('0.125'), Decimal('1.00'))
    """
    if number is None:
        return None
    over, under, places = number.numerator, number.denominator, 0  # integers take a tenth of the time of Fractions
    while over and over < under * 10 ** (DIGITS - 1):
        over, places = over * 10, places + 1
    while over >= under * 10**DIGITS:
        under, places = under * 10, places - 1
    digits = round(Fraction(over, under))  # of Fractions: half to even, exactly
    if digits == 10**DIGITS:
        digits, places = digits // 10, places - 1
    return Decimal(digits).scaleb(-places) if places > 0 else Decimal(digits * 10**-places)
