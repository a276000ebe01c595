"""The tasks of the public pages; each may come twice, late or never."""

from celery import shared_task

from webapp.register.dumps.writer import write_due
from webapp.register.pagecache import updates as keeper


@shared_task(name="register.keep_snapshot")
def keep_snapshot() -> None:
    """Hold the snapshot against the register; while another worker does, there is nothing to do."""
    keeper.look()


@shared_task(name="register.keep_dump")
def keep_dump() -> None:
    """Write the dump of today where there is none yet."""
    write_due()
