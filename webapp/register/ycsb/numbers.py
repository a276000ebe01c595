"""Exact fractions of YCSB as text: gains, rates, times. None is not known and gives no text."""

from collections.abc import Iterable
from fractions import Fraction

from results.rules.act.loads import printed_decimal
from results.rules.ycsb.statements import printed

SIGNIFICANT_FROM = 1000  # a time of 1,000 us or more needs no decimals


def percent(ratio: Fraction | None) -> str:
    """Return a gain in percent with its sign and one decimal: +43.9, -0.4, 0.0."""
    if ratio is None:
        return ""
    text = printed(ratio * 100, 1)
    text = "0.0" if text in {"0", "-0.0"} else text
    return f"+{text}" if ratio > 0 and text != "0.0" else text


def rate(ops_per_s: Fraction | None) -> str:
    """Return operations a second as a whole number with thousands separated."""
    return "" if ops_per_s is None else f"{round(ops_per_s):,d}"


def time_us(value: Fraction | None) -> str:
    """Return a time in us: one decimal below 1,000 us, none above."""
    if value is None:
        return ""
    return f"{round(value):,d}" if value >= SIGNIFICANT_FROM else printed_decimal(value, 1)


def span(ends: Iterable[Fraction], unit: str) -> str:
    """Return between what a value lies whose figures were read off: good to 1 digit: 10.3 to 18.8 x."""
    found = list(ends)
    low, high = printed_decimal(min(found), 1), printed_decimal(max(found), 1)
    return f"good to 1 digit: {low} to {high} {unit}".rstrip()


def times(ratio: Fraction | None) -> str:
    """Return how many times with one decimal: 13.8x."""
    return "" if ratio is None else f"{printed_decimal(ratio, 1)}x"
