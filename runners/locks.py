"""PostgreSQL locks of the lab. The server releases all of them when the process that has them dies."""

from django.db import connection

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
