"""Sizes as tools print them, in GB of 10^9 bytes."""

import math
import re
from typing import Any

BINARY = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
PRINTED = re.compile(r"([0-9]{1,20}(?:[.,][0-9]{1,6})?) ?([KMGTP]?)(i?B)?", re.IGNORECASE)
NAMED = re.compile(r"(?<![0-9A-Za-z.,])([0-9]{1,5}(?:[.,][0-9]{1,3})?) ?(TB|GB|tb|gb)(?![0-9A-Za-z/])")
NAMED_FROM_GB = 32  # below it a name tells the speed of its port, or writes thousands with a comma
BYTES_FROM = 10**9  # a bare number from here on can only be of bytes


def size_gb(value: Any, *, bare_is_gb: bool = False) -> tuple[float | None, bool]:
    """Return a size in GB, and whether it was rounded before; None where it is none.

    A bare number is of bytes, in tables of gigabytes unless it is huge. 1.8T as lsblk prints it is of 2^40 bytes;
    1.92 TB as makers print it of 10^12.

    >>> size_gb(1920383410176), size_gb("1.8T")[1], size_gb("1.92 TB"), size_gb("960", bare_is_gb=True), size_gb("big")
    ((1920.383410176, False), True, (1920.0, False), (960.0, False), (None, False))
    """
    if isinstance(value, bool) or value is None:
        return None, False
    found = PRINTED.fullmatch(str(value)[:40].strip())
    if not found:
        return None, False
    number, letter, unit = float(found[1].replace(",", ".")), found[2].upper(), (found[3] or "").upper()
    if not math.isfinite(number) or number <= 0:
        return None, False
    if not letter and not unit:
        is_gb = bare_is_gb and number < BYTES_FROM
        return (number if is_gb else number / 1e9), False
    if unit == "B" and letter:
        return number * 1000 ** BINARY[letter] / 1e9, False
    return number * 1024 ** BINARY[letter] / 1e9, bool(letter)


def named_size_gb(name: str) -> float | None:
    """Return the capacity that a model's name tells, GB; None where it tells none, or several.

    >>> named_size_gb("Micron 7450 MAX 3.2TB"), named_size_gb("SSDPF21Q800GB"), named_size_gb("P1 1.6TB or 3.2TB")
    (3200.0, None, None)
    """
    sizes = {size_gb(number + unit)[0] for number, unit in NAMED.findall(name)}
    told = sizes.pop() if len(sizes) == 1 else None
    return told if told is not None and told >= NAMED_FROM_GB else None
