"""Text as PostgreSQL takes it: a host's words may hold what a text column and a JSON column refuse."""

import re

REFUSED = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with U+FFFD for U+0000 (a log after a power cut holds zeros) and for halves of a character."""
    return REFUSED.sub("\ufffd", text)
