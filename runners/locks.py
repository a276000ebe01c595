"""PostgreSQL locks of the lab. The server releases all of them when the process that has them dies."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from results.locks import try_lock

# The first keys separate these locks from all others.
DISPATCH, DRIVE, HOST, CAMPAIGN = 0x44535043, 0x44525645, 0x484F5354, 0x434D5047


def lock_drive(drive_key: str) -> None:
    """Wait for the lock of a drive and keep it until the transaction ends, so that claims of a drive are serial."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [DRIVE, drive_key])


def lock_host(host_id: int) -> None:
    """Wait for the lock of a host and keep it until the transaction ends, so that claims of a host are serial."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [HOST, host_id])


@contextmanager
def lock_campaign(campaign_id: int) -> Iterator[bool]:
    """Lock a campaign while its next step is decided. Yield False if another worker has the lock."""
    with try_lock(CAMPAIGN, campaign_id) as is_locked:
        yield is_locked
