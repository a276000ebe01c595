"""PostgreSQL details: text that its columns can store, and violated constraints."""

import re

from django.db import IntegrityError
from psycopg.errors import UniqueViolation

REFUSED = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with U+FFFD in place of U+0000 (logs have zeros after a power cut) and of lone surrogates."""
    return REFUSED.sub("\ufffd", text)


def violates(error: IntegrityError, constraint: str) -> bool:
    """Return whether an error is the violation of this unique constraint: a row with the same values exists."""
    cause = error.__cause__
    return isinstance(cause, UniqueViolation) and cause.diag.constraint_name == constraint
