"""Celery tasks of the lab: short, with ids only. Each may arrive twice, late or never. results/tasks.py reads logs.

Some names of tasks say `watch`, because messages of earlier releases use these names.
"""

from celery import shared_task

from runners.campaigns import scheduler as campaign_scheduler
from runners.dispatch.poll_scheduler import run_due, run_if_due
from runners.hosts.agent import delete_abandoned
from runners.retention.maintenance import check_pool


@shared_task(name="runners.watch_dispatches")
def poll_dispatches() -> None:
    """Poll every dispatch that is due. Several workers share them."""
    run_due()


@shared_task(name="runners.advance_dispatch")
def advance_dispatch(dispatch_id: int) -> None:
    """Poll a dispatch that was ordered or cancelled, now, and what else is due."""
    run_if_due(dispatch_id)


@shared_task(name="runners.watch_campaigns")
def advance_campaigns() -> None:
    """Make the next step of every campaign that has one due."""
    campaign_scheduler.run_due()


@shared_task(name="runners.check_hosts")
def check_hosts() -> None:
    """Start the check of each remote host that is due. Polling continues while a check waits for its host.

    Delete the exchanges that no worker waits for any more, too.
    """
    check_pool().fill()
    delete_abandoned()
