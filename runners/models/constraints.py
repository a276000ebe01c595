"""Which constraint of the database an insert has met."""

from django.db import IntegrityError
from psycopg.errors import UniqueViolation


def is_second(error: IntegrityError, constraint: str) -> bool:
    """Tell whether an error says that there is one already, by a unique constraint of that name."""
    cause = error.__cause__
    return isinstance(cause, UniqueViolation) and cause.diag.constraint_name == constraint
