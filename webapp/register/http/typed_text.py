"""Text as people type it into fields: numbers with grouped thousands, and words to search for."""

import re

LONGEST_QUERY = 100  # characters of a search
# A blank of any kind: figures copied from a page contain no-break and narrow ones.
GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,3}(?:\s[0-9]{3})+(?:\.[0-9]+)?")
SEPARATORS = re.compile(r"[,\s]")
WORDS = re.compile(r"[^\W_]+")


def ungrouped(text: str) -> str:
    """Return a number without the separators of its thousands; return text that is grouped otherwise unchanged.

    A comma before other than three digits may be a decimal point: 1,5 is not 15.

    >>> ungrouped("100 000"), ungrouped("1,728,000.5"), ungrouped("1,5"), ungrouped(" 12 ")
    ('100000', '1728000.5', '1,5', '12')
    """
    stripped = text.strip()
    return SEPARATORS.sub("", stripped) if GROUPED.fullmatch(stripped) else stripped


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> words_of("Ultrastar DC SN-840, 3.2 TB")
    ['ultrastar', 'dc', 'sn', '840', '3', '2', 'tb']
    """
    return WORDS.findall(text.lower())
