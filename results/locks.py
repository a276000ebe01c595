"""Locks that PostgreSQL or the kernel frees by itself when the process that holds them dies."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

READING = 0x52454144  # "READ": the first key, so that other locks of the register never meet these
DRAFT_READING = 0x44524146  # "DRAF": the reading of a draft
VALIDATION = 0x56414C49  # "VALI": one reading without a submission for each organisation at a time
SECONDS = 0x53454353  # "SECS": a log read again to show its seconds; the key is a slot
SIDE_FILE = 0x53494445  # "SIDE": a side file that is parsed for charts; the key is the start of its hash
RECOMPUTE = 0x5245434F  # "RECO": a submission that is re-evaluated
UNPACKING = 0x554E5041  # "UNPA": one archive for each organisation at a time is submitted log by log
NOTICES = 0x4E4F5449  # "NOTI": waiting notices become mails in one process at a time
WEBHOOKS = 0x484F4F4B  # "HOOK": one process at a time delivers messages to webhooks
SCRUB = 0x53435255  # "SCRU": one process at a time hashes stored files again
KEY_MASK = 0x7FFFFFFF  # the second key has 31 bits; two ids that share one only wait for each other


@contextmanager
def try_lock(kind: int, key: int) -> Iterator[bool]:
    """Take the session's advisory lock on a row; yield False if another session has it.

    The connection owns it, not a transaction: after kill -9 the server sees the connection end and frees it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", keys_of(kind, key))
        (is_locked,) = cursor.fetchone()
    try:
        yield is_locked
    finally:
        if is_locked:
            unlock(kind, key)


def locked_keys(kind: int, keys: Iterable[int]) -> int:
    """Return how many locks of a kind some session of this database holds."""
    masked = [key & KEY_MASK for key in keys]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE datname = current_database() AND locktype = 'advisory' AND granted"
            " AND classid = %s AND objid = ANY(%s::oid[])",
            [kind, masked],
        )
        (held,) = cursor.fetchone()
    return int(held)


def unlock(kind: int, key: int) -> None:
    """Release a lock that this session holds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s, %s)", keys_of(kind, key))


def keys_of(kind: int, key: int) -> list[int]:
    """Return the two keys of a lock as PostgreSQL takes them."""
    return [kind, key & KEY_MASK]


@contextmanager
def file_lock(path: Path, *, waits: bool) -> Iterator[bool]:
    """Take the lock of the process that writes; yield False if another process has it and this one does not wait.

    The lock ends with the process. The file is for the register's own user, whatever the umask is.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
