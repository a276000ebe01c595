"""Numbers as people type them: commas and blanks between thousands are taken out, and nowhere else."""

import re

# A blank of any kind: a page's own figures, pasted, have unbreakable and narrow ones.
GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,3}(?:\s[0-9]{3})+(?:\.[0-9]+)?")
SEPARATORS = re.compile(r"[,\s]")


def ungrouped(text: str) -> str:
    """Return a number without what stands between its thousands; a text that is grouped otherwise as it is.

    A comma before other than three digits may be somebody's decimal point: 1,5 is not 15.

    >>> ungrouped("100 000"), ungrouped("1,728,000.5"), ungrouped("1,5"), ungrouped(" 12 ")
    ('100000', '1728000.5', '1,5', '12')
    """
    stripped = text.strip()
    return SEPARATORS.sub("", stripped) if GROUPED.fullmatch(stripped) else stripped
