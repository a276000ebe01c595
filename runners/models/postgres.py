"""Text as PostgreSQL takes it: a host's words may hold what a text column and a JSON column refuse."""

import re

from django.db import IntegrityError
from psycopg.errors import UniqueViolation

REFUSED = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with U+FFFD for U+0000 (a log after a power cut holds zeros) and for halves of a character."""
    return REFUSED.sub("\ufffd", text)


def is_second(error: IntegrityError, constraint: str) -> bool:
    """Tell whether an error says that there is one already, by a unique constraint of that name."""
    cause = error.__cause__
    return isinstance(cause, UniqueViolation) and cause.diag.constraint_name == constraint
