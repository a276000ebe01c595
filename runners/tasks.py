"""The tasks that Celery runs: short, with ids only; each may come twice, late or never."""

from celery import shared_task

from results import readings
from runners.campaigns.looks import look_at_campaigns
from runners.checks import check_due
from runners.looks import look
from runners.watch import look_at_due


@shared_task(name="runners.sweep_readings")
def sweep_readings() -> None:
    """Take up every reading that waits, also those whose alarm was lost."""
    readings.sweep()


@shared_task(name="runners.read_evidence")
def read_evidence(reading_id: int) -> None:
    """Read one evidence now; a second alarm for it finds nothing left to do."""
    readings.read_one(reading_id)


@shared_task(name="runners.watch_dispatches")
def watch_dispatches() -> None:
    """Look at every dispatch that is due; several workers share them."""
    look_at_due()


@shared_task(name="runners.advance_dispatch")
def advance_dispatch(dispatch_id: int) -> None:
    """Look at one dispatch now: it was ordered or cancelled."""
    look(dispatch_id)


@shared_task(name="runners.watch_campaigns")
def watch_campaigns() -> None:
    """Make the next step of every campaign that has one due."""
    look_at_campaigns()


@shared_task(name="runners.check_hosts")
def check_hosts() -> None:
    """Have each host over SSH checked whose check is due; the looks go on while a silent one is waited for."""
    check_due()
