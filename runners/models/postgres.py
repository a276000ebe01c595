"""PostgreSQL details: text that its columns can store, violated constraints, and locks.

The server releases all locks of a process when that process ends.
"""

import re

from django.db import IntegrityError, connection
from psycopg.errors import UniqueViolation

REFUSED = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with U+FFFD in place of U+0000 (logs have zeros after a power cut) and of lone surrogates."""
    return REFUSED.sub("\ufffd", text)


def violates(error: IntegrityError, constraint: str) -> bool:
    """Return whether an error is the violation of this unique constraint: a row with the same values exists."""
    cause = error.__cause__
    return isinstance(cause, UniqueViolation) and cause.diag.constraint_name == constraint


# The first keys separate these locks from all others.
DISPATCH_LOCK, DRIVE_LOCK, HOST_LOCK, CAMPAIGN_LOCK = 0x44535043, 0x44525645, 0x484F5354, 0x434D5047


def lock_drive(drive_key: str) -> None:
    """Wait for the lock of a drive and keep it until the transaction ends, so that claims of a drive are serial."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [DRIVE_LOCK, drive_key])


def lock_host(host_id: int) -> None:
    """Wait for the lock of a host and keep it until the transaction ends, so that claims of a host are serial."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [HOST_LOCK, host_id])
