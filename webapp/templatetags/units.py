"""Formats of numbers on pages. None means not reported, and every filter returns an empty text for it."""

import re
from datetime import UTC, datetime
from decimal import Decimal

from django import template

from results.rules import plural
from results.rules.act import limits

register = template.Library()
share = register.filter("share", limits.shown_share)

NBSP = "\N{NO-BREAK SPACE}"
FIGURE_SPACE = "\N{FIGURE SPACE}"  # as wide as a digit
PUNCTUATION_SPACE = "\N{PUNCTUATION SPACE}"  # as wide as a full stop
SIZE_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|us|ms|s|h|GB|TB|tps)(?![\w-]))")
TIME_UNITS = ((3600, "h"), (60, "min"), (1, "s"))


@register.filter
def decimal(number: Decimal | None) -> str:
    """Return a decimal with thousands separated and without trailing zeros: 1,728,000, 1.3."""
    if number is None:
        return ""
    text = f"{number:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@register.filter
def rate(per_s: Decimal | None) -> str:
    """Return a measured rate with one decimal, as ACT's own table prints rates: 2,000.0."""
    return "" if per_s is None else f"{per_s:,.1f}"


@register.filter
def count(number: int | None) -> str:
    """Return a whole number with thousands separated."""
    return "" if number is None else f"{number:,d}"


@register.filter
def counted(number: int | None, thing: str) -> str:
    """Return a number with what it counts: 1 device, 4 devices."""
    return "" if number is None else plural.counted(number, thing)


@register.filter
def unbroken(sentence: str) -> str:
    """Return a sentence whose numbers stay on one line with their units.

    >>> unbroken("at most 5 % over 1 ms") == f"at most 5{NBSP}% over 1{NBSP}ms"
    True
    """
    return BEFORE_UNIT.sub(NBSP, sentence)


def padding(printed: str, places: int) -> str:
    """Return the blanks after printed digits that align decimals with those that have `places` of them.

    >>> padding("0.56", 3) == FIGURE_SPACE, padding("4", 2) == PUNCTUATION_SPACE + 2 * FIGURE_SPACE
    (True, True)
    """
    missing = places - decimal_places(printed)
    point = PUNCTUATION_SPACE if "." not in printed and missing > 0 else ""
    return point + FIGURE_SPACE * missing


def decimal_places(printed: str) -> int:
    """Return the number of digits after the point."""
    return len(printed.partition(".")[2])


@register.filter
def capacity(gigabytes: int | None) -> str:
    """Return a capacity as makers print it: 480 GB, 6.4 TB (1 TB = 1000 GB)."""
    if gigabytes is None:
        return ""
    terabytes = Decimal(gigabytes) / 1000
    return f"{decimal(terabytes)}{NBSP}TB" if terabytes >= 1 else f"{gigabytes}{NBSP}GB"


@register.filter
def size(bytes_count: int | None) -> str:
    """Return a number of bytes with three significant digits: 55.2 MB, 999 bytes."""
    if bytes_count is None:
        return ""
    for unit_bytes, unit in SIZE_UNITS:
        if bytes_count >= unit_bytes:
            return f"{_three_digits(Decimal(bytes_count) / unit_bytes)}{NBSP}{unit}"
    return f"{bytes_count}{NBSP}{'byte' if bytes_count == 1 else 'bytes'}"


def _three_digits(number: Decimal) -> str:
    whole = len(str(int(number)))
    return decimal(round(number, max(0, 3 - whole)))


@register.filter
def duration(seconds: int | None) -> str:
    """Return a duration in the units it is made of: 24 h, 1 h 30 min, 61 s (minutes only where they are whole)."""
    if seconds is None:
        return ""
    if seconds % 60:
        return f"{seconds:,d}{NBSP}s"
    parts, rest = [], seconds
    for unit_s, unit in TIME_UNITS:
        number, rest = divmod(rest, unit_s)
        if number:
            parts.append(f"{number:,d}{NBSP}{unit}")
    return " ".join(parts) or f"0{NBSP}s"


@register.filter
def threshold(microseconds: int) -> str:
    """Return a threshold or the edge of a bucket, in ms if it is a whole number of them: 256 us, 1,024 us, 8 ms.

    >>> threshold(1024).replace(NBSP, " "), threshold(8000).replace(NBSP, " ")
    ('1,024 us', '8 ms')
    """
    if microseconds % 1000:
        return f"{microseconds:,d}{NBSP}us"
    return f"{microseconds // 1000:,d}{NBSP}ms"


@register.filter
def microseconds(value: float | None) -> str:
    """Return a time in us: whole ones plainly, a mean with two places."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


@register.filter
def truncated(printed: str | None, places: int) -> str:
    """Return a decimal of the reader truncated to `places`. The digits are never rounded."""
    whole, _, fraction = (printed or "").partition(".")
    return f"{whole}.{fraction[:places]}" if fraction and int(fraction) else whole


def with_unit(number: str, unit: str) -> str:
    """Return a number with its unit; empty for an empty number."""
    return f"{number}{NBSP}{unit}" if number else ""


@register.filter
def nx(load: Decimal | None) -> str:
    """Return an Nx load: 175x, 466.67x."""
    return "" if load is None else f"{decimal(round(load, 2))}x"


@register.filter
def moment(at: datetime | None) -> str:
    """Return a point in time, in UTC: 20 November 2026, 09:12 UTC."""
    return "" if at is None else f"{at.astimezone(UTC):%-d %B %Y, %H:%M} UTC"


def span(start_s: int, end_s: int) -> str:
    """Return the start and end of a slice, in hours if both are whole: 2-3 h, 10-20 s."""
    if start_s % 3600 or end_s % 3600:
        return f"{start_s:,d}-{end_s:,d}{NBSP}s"
    return f"{start_s // 3600}-{end_s // 3600}{NBSP}h"


def storage(device_count: int | None, device_gb: int | None) -> str:
    """Return the storage of an instance as the published page prints it: 4 x 900 GB."""
    if device_count is None or device_gb is None:
        return ""
    return f"{device_count}{NBSP}x{NBSP}{device_gb:,d}{NBSP}GB"


@register.filter
def in_fours(key: str) -> str:
    """Return a key in groups of four characters, for a person who types it.

    >>> in_fours("ABCDEFGHIJ")
    'ABCD EFGH IJ'
    """
    return " ".join(key[start : start + 4] for start in range(0, len(key), 4))
