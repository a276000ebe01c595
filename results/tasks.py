"""Celery tasks that read logs: short, with ids only. Each task may arrive twice, late or never.

Their names begin with `runners` because messages of earlier releases use these names.
"""

import logging
from typing import Any

from celery import shared_task
from django.dispatch import receiver

from results.evidence.base import StoreUnavailableError
from results.evidence.scrub import scrub_slice
from results.ingest import queue
from results.ingest.queue import draft_reading_pending, reading_pending
from results.intake import drafts
from results.lifecycle import deadlines
from results.lifecycle.listing_changes import fold_changes
from results.lifecycle.objections import sweep_objections
from results.lifecycle.review_claims import remove_old_claims
from results.lifecycle.takedowns import sweep_takedowns

logger = logging.getLogger(__name__)

EXPIRES_S = 60  # after a minute, the sweep has found the reading


@shared_task(name="runners.sweep_readings")
def sweep_readings() -> None:
    """Read every pending reading, also those whose message was lost, and remove the drafts whose time is over."""
    queue.sweep()
    drafts.remove_expired()


@shared_task(name="runners.read_evidence")
def read_evidence(reading_id: int) -> None:
    """Read one evidence now. A second message for it finds nothing to do."""
    queue.read_one(reading_id)


@shared_task(name="runners.read_draft")
def read_draft(draft_reading_id: int) -> None:
    """Read one draft now. A second message for it finds nothing to do."""
    queue.read_draft(draft_reading_id)


@receiver(draft_reading_pending, dispatch_uid="enqueue-draft-reading")
def enqueue_draft_reading(draft_reading_id: int, **_: Any) -> None:
    """Enqueue the reading of a draft, as enqueue_reading()."""
    read_draft.apply_async(args=(draft_reading_id,), expires=EXPIRES_S, retry=False)


@shared_task(name="results.sweep_deadlines")
def sweep_deadlines() -> None:
    """Store what submissions wait for, handle the limits that passed, and remove the claims that ended."""
    deadlines.sweep_deadlines()
    remove_old_claims()
    sweep_takedowns()
    sweep_objections()


@shared_task(name="results.remove_leftovers")
def remove_leftovers() -> None:
    """Remove staged files that have no row."""
    try:
        drafts.remove_leftovers()
    except StoreUnavailableError as error:
        logger.warning("leftover files stay: %s", error)


@shared_task(name="results.fold_listing_changes")
def fold_listing_changes() -> None:
    """Fold the recorded changes of listed runs, if there are many."""
    fold_changes()


@shared_task(name="results.scrub_evidence")
def scrub_evidence() -> None:
    """Hash stored files again for some seconds, if a pass of the scrub is due."""
    try:
        scrub_slice()
    except StoreUnavailableError as error:
        logger.warning("the scrub waits: %s", error)


@receiver(reading_pending, dispatch_uid="enqueue-reading")
def enqueue_reading(reading_id: int, **_: Any) -> None:
    """Enqueue a reading. The sender of the signal logs the error that this raises without a broker."""
    read_evidence.apply_async(args=(reading_id,), expires=EXPIRES_S, retry=False)
