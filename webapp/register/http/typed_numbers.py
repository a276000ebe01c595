"""Numbers as people type them: 1M, 5 million, 5e6, 500k, 1,000,000, 2 GiB.

static/js/typed-numbers.js reads them in the same way, and tests/data/typed_numbers.jsonl has the cases of both.
"""

import re
from fractions import Fraction
from math import floor

# A blank of any kind: figures copied from a page contain no-break and narrow ones.
GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,3}(?:\s[0-9]{3})+(?:\.[0-9]+)?")
SEPARATORS = re.compile(r"[,\s]")
# A small exponent alone: 1e-999999999 is short, and as a fraction it is a number of a thousand million digits.
TYPED = re.compile(r"(?P<number>[0-9,.\s]*[0-9])(?:[eE]\+?(?P<exponent>[0-9]|1[0-8]))?\s*(?P<word>[^0-9]{0,12})")
PLAIN = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
PLACES = 6
MULTIPLES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12} | {
    **{"thousand": 10**3, "million": 10**6, "mio": 10**6, "mio.": 10**6, "billion": 10**9}
}
SIZES = {"b": 1, "byte": 1, "bytes": 1} | {
    f"{letter}{ending}": base**power
    for power, letter in enumerate("kmgtp", start=1)
    for ending, base in (("", 1000), ("b", 1000), ("ib", 1024))
}


def ungrouped(text: str) -> str:
    """Return a number without the separators of its thousands; return text that is grouped otherwise unchanged.

    A comma before other than three digits may be a decimal point: 1,5 is not 15.

    >>> ungrouped("100 000"), ungrouped("1,728,000.5"), ungrouped("1,5"), ungrouped(" 12 ")
    ('100000', '1728000.5', '1,5', '12')
    """
    stripped = text.strip()
    return SEPARATORS.sub("", stripped) if GROUPED.fullmatch(stripped) else stripped


def grouped_digits(text: str) -> str:
    """Return digits with separators between their thousands; return any other text unchanged.

    >>> grouped_digits("5000000"), grouped_digits("1536.5"), grouped_digits("500"), grouped_digits("5M")
    ('5,000,000', '1,536.5', '500', '5M')
    """
    whole, point, decimals = text.partition(".")
    return f"{int(whole):,d}{point}{decimals}" if PLAIN.fullmatch(text) and not whole.startswith("0") else text


def plain_number(text: str, unit: str = "", places: int = PLACES) -> str | None:
    """Return a typed number in digits, in the field's unit, without zeros that say nothing; None for other text.

    k, M, G and T multiply, as do the words thousand, million, mio and billion, and an exponent (5e6). A field with a
    unit of size (TB, bytes) also takes other units of size: 2 TB are 10^12 bytes each, 2 TiB are 2^40 bytes each. Only
    a converted size is rounded, to `places` decimals; any other number with more decimals is not accepted.

    >>> plain_number("1.5M"), plain_number("800 GB", "TB"), plain_number("2 KiB", "bytes"), plain_number("1e-9")
    ('1500000', '0.8', '2048', None)
    """
    typed = TYPED.fullmatch(text.strip())
    if not typed or not PLAIN.fullmatch(digits := ungrouped(typed["number"])):
        return None
    is_size, word = unit.lower() in SIZES, typed["word"].strip().lower()
    factor = _size_factor(word, unit.lower()) if is_size else _multiple(word, unit.lower())
    if factor is None:
        return None
    scaled = Fraction(digits) * factor * 10 ** (places + int(typed["exponent"] or 0))
    if scaled.denominator != 1 and not (is_size and word):
        return None
    plain = _decimal(floor(scaled + Fraction(1, 2)), places)
    return plain if PLAIN.fullmatch(plain) else None


def _size_factor(word: str, unit: str) -> Fraction | None:
    if not word:
        return Fraction(1)
    return Fraction(SIZES[word], SIZES[unit]) if word in SIZES else None


def _multiple(word: str, unit: str) -> Fraction | None:
    """Return the factor of a word: k, M, G or T, with or without the unit of the field after it."""
    multiple = MULTIPLES.get(word.removesuffix(unit).strip() if unit else word)
    return None if multiple is None else Fraction(multiple)


def _decimal(whole: int, places: int) -> str:
    """Return a whole number of the last decimal as a decimal."""
    digits = str(whole).zfill(places + 1)
    before, after = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    return f"{before}.{after}" if after else before
