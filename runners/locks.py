"""Which locks of PostgreSQL the lab takes; all are freed by the server when their holder dies."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from results.locks import try_lock

# The first keys, so that these locks meet no others.
DISPATCH, DRIVE, HOST, CAMPAIGN = 0x44535043, 0x44525645, 0x484F5354, 0x434D5047


def hold_drive(drive_key: str) -> None:
    """Wait for a drive and hold it to the end of the transaction, so that claims of one drive come one by one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [DRIVE, drive_key])


def hold_host(host_id: int) -> None:
    """Wait for a host and hold it to the end of the transaction, so that claims of one host come one by one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [HOST, host_id])


@contextmanager
def climbing(campaign_id: int) -> Iterator[bool]:
    """Hold a campaign while its next step is looked for; False where another worker is at it."""
    with try_lock(CAMPAIGN, campaign_id) as is_held:
        yield is_held
