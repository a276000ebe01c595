"""The comparison of a share with a limit: on counts where they are known, on printed digits where they are not.

The same comparison is in the reader (Rust) and in the pages' script; tests/data/verdict_vectors.jsonl holds the
answers that all of them must give.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

SHARE_PLACES = 9  # of the column; migration 0013 computes the same of the rows before it


@dataclass(frozen=True)
class Limit:
    """The percentage of reads allowed beyond a threshold."""

    threshold_us: int
    limit_pct: Decimal


def parse_limits(profile_document: str) -> tuple[Limit, ...]:
    """Return the limits of a profile's JSON document, by rising threshold."""
    limits = (Limit(row["threshold_us"], Decimal(row["limit_pct"])) for row in json.loads(profile_document)["limits"])
    return tuple(sorted(limits, key=lambda limit: limit.threshold_us))


def is_count_within(over_count: int, ops_count: int, limit_pct: Decimal) -> bool:
    """Return whether a share is within a limit, exactly, on whole numbers. A share equal to its limit is within it.

    Without operations, none is over the limit. The caller decides whether such a slice counts.

    >>> is_count_within(5, 100, Decimal("5")), is_count_within(51, 1000, Decimal("5"))
    (True, False)
    """
    numerator, denominator = limit_pct.as_integer_ratio()
    return over_count * 100 * denominator <= numerator * ops_count


def is_share_within(share_pct: Decimal, limit_pct: Decimal) -> bool:
    """Return whether a published percentage keeps within a limit, taking its digits as they were printed.

    Source: aerospike/act README.md ("should not exceed"); the published page lists a drive at 5.00 %.
    """
    return share_pct <= limit_pct


def act_share_pct(over_count: int, ops_count: int) -> Decimal | None:
    """Return the share, percent, rounded to 2 places as ACT prints it; None when there were no operations.

    Source: aerospike/act analysis/act_latency.py, bucket_percentages_over(), which prints 0.00 for an empty slice. It
    rounds a binary fraction, so 0.125 % prints as 0.12; for display only, limits are compared on counts.
    """
    if ops_count == 0:
        return None
    return Decimal(f"{round(over_count * 100.0 / ops_count, 2):.2f}")


def shown_share(printed: str, over_count: int | None) -> str:
    """Return a share's digits as printed; one that rounding made zero becomes "less than the last digit".

    A published share has no count, so its digits stay.

    >>> shown_share("0.00", 1), shown_share("0.00", 0), shown_share("0.00", None), shown_share("0.01", 7)
    ('<0.01', '0.00', '0.00', '0.01')
    """
    is_hidden = bool(over_count) and "." in printed and not printed.strip("0.")
    return f"<{printed[:-1]}1" if is_hidden else printed


def distinct_share(printed: str, over_count: int | None, ops_count: int | None, limit_pct: Decimal | None) -> str:
    """Return a share's digits as shown_share(); one that rounding made equal to its limit shows on which side it is.

    >>> distinct_share("1.00", 99_996, 10**7, Decimal(1)), distinct_share("1.00", 100_004, 10**7, Decimal(1))
    ('0.99996', '1.00004')
    >>> distinct_share("1.00", 10**5, 10**7, Decimal(1)), distinct_share("1.00", None, None, Decimal(1))
    ('1.00', '1.00')
    """
    if limit_pct is None or over_count is None or not ops_count or Decimal(printed) != limit_pct:
        return shown_share(printed, over_count)
    return distinct_digits(printed, Fraction(over_count, ops_count) * 100, limit_pct)


def distinct_excess(printed: str, over_count: int, ops_count: int, limit_pct: Decimal) -> str:
    """Return the digits of a share divided by its limit; a ratio that rounding made 1 shows on which side it is.

    >>> distinct_excess("1.00", 100_004, 10**7, Decimal(1)), distinct_excess("3.33", 20, 6000, Decimal("0.1"))
    ('1.00004', '3.33')
    """
    ratio = excess_ratio(over_count, ops_count, limit_pct)
    return printed if ratio is None or Decimal(printed) != 1 else distinct_digits(printed, ratio, Decimal(1))


def distinct_digits(printed: str, exact: Fraction, limit: Decimal) -> str:
    """Return a number that prints as its limit with as many digits as show on which side it is.

    A number that is equal to the limit keeps its digits.
    """
    places = max(0, -int(Decimal(printed).as_tuple().exponent))
    if exact == Fraction(limit):
        return printed
    while (rounded := round(exact, places)) == Fraction(limit):
        places += 1
    return f"{Decimal(rounded.numerator) / rounded.denominator:.{places}f}"


def excess_ratio(over_count: int, ops_count: int, limit_pct: Decimal) -> Fraction | None:
    """Return share / limit, exactly: above 1 a limit is broken. None without operations, or where the limit is 0.

    >>> excess_ratio(20, 6000, Decimal("0.1"))
    Fraction(10, 3)
    """
    if ops_count == 0 or limit_pct == 0:
        return None
    return Fraction(over_count, ops_count) * 100 / Fraction(limit_pct)


def margin_ratio(over_count: int, ops_count: int, limit_pct: Decimal) -> Fraction | None:
    """Return (limit - share) / limit: 1 if no operation was over the threshold, below 0 if the limit is exceeded.

    None without operations, or if the limit is 0.
    """
    excess = excess_ratio(over_count, ops_count, limit_pct)
    return None if excess is None else 1 - excess


@dataclass(frozen=True)
class CountedShare:
    """A share with its counts: `over_count` of `ops_count` operations beyond a threshold."""

    threshold_us: int
    over_count: int
    ops_count: int


def nearest_limit(shares: Iterable[CountedShare], limits: Iterable[Limit]) -> tuple[CountedShare, Fraction] | None:
    """Return the share that is nearest to its limit, or furthest beyond it, with its margin as a ratio of the limit.

    Of equal margins the lower threshold counts. None if no share has a limit with a margin.
    """
    limit_pct = {limit.threshold_us: limit.limit_pct for limit in limits}
    margins = [
        (margin, share.threshold_us, share)
        for share in shares
        if share.threshold_us in limit_pct
        and (margin := margin_ratio(share.over_count, share.ops_count, limit_pct[share.threshold_us])) is not None
    ]
    margin, _, share = min(margins, key=lambda found: found[:2], default=(None, None, None))
    return None if margin is None or share is None else (share, margin)


def over_count(counts: Sequence[int], ops_count: int, first_bucket: int) -> int:
    """Return how many operations lie in `first_bucket` or above; bucket b > 0 holds [2^(b-1), 2^b) units."""
    return ops_count - sum(counts[:first_bucket])


def exact_share_pct(over_count: int, ops_count: int) -> Decimal:
    """Return over x 100 / all, percent, rounded up at the ninth place.

    The result is within a limit of up to nine places exactly if over x 100 <= limit x all. Rounding up never passes a
    multiple of 10^-9 that the quotient itself does not pass.

    >>> exact_share_pct(1, 3), exact_share_pct(1, 20)
    (Decimal('33.333333334'), Decimal('5.000000000'))
    """
    return Decimal(-(-over_count * 100 * 10**SHARE_PLACES // ops_count)).scaleb(-SHARE_PLACES)
