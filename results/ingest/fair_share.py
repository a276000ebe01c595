"""The share of an organisation in the reading workers: one reading at a time while another organisation waits.

Without it, an organisation with many large logs would occupy all workers, and the others would wait for its last log.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from results import locks
from results.models import DraftReading, Reading
from results.models.evidence import QueuedReading

Queue = type[Reading] | type[DraftReading]
ORGANISATIONS: dict[Queue, str] = {Reading: "evidence__organisation", DraftReading: "draft__organisation"}
LOCKS: dict[Queue, int] = {Reading: locks.READING, DraftReading: locks.DRAFT_READING}
Row = TypeVar("Row")


def is_within_share(row: Reading | DraftReading, organisation_id: int) -> bool:
    """Return whether a reading may begin now; otherwise it waits for the next sweep.

    A reading counts as running while a worker holds its lock, so one whose worker died does not.
    """
    return not _is_one_running(row, organisation_id) or not _is_another_waiting(organisation_id)


def readings_of(organisation_id: int) -> tuple[int, int]:
    """Return how many logs of an organisation are being read, and how many wait."""
    running = waiting = 0
    for queue, lock in LOCKS.items():
        rows = queue.objects.unfinished().filter(**{ORGANISATIONS[queue]: organisation_id})
        states = list(rows.values_list("pk", "state"))
        begun = [pk for pk, state in states if state == QueuedReading.State.READING]
        in_progress = locks.locked_keys(lock, begun) if begun else 0
        running, waiting = running + in_progress, waiting + len(states) - in_progress
    return running, waiting


def in_turns(due: Iterable[tuple[Row, int]]) -> list[Row]:
    """Return the items in turns of their organisations, each in its own order.

    >>> in_turns([("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("b2", 2)])
    ['a1', 'b1', 'a2', 'b2', 'a3']
    """
    before: Counter[int] = Counter()
    turns: list[tuple[int, Row]] = []
    for item, organisation_id in due:
        turns.append((before[organisation_id], item))
        before[organisation_id] += 1
    return [item for _, item in sorted(turns, key=lambda turn: turn[0])]


def _is_one_running(row: Reading | DraftReading, organisation_id: int) -> bool:
    for queue, lock in LOCKS.items():
        running = queue.objects.filter(state=QueuedReading.State.READING, **{ORGANISATIONS[queue]: organisation_id})
        others = running.exclude(pk=row.pk) if isinstance(row, queue) else running
        keys = list(others.values_list("pk", flat=True))
        if keys and locks.locked_keys(lock, keys):
            return True
    return False


def _is_another_waiting(organisation_id: int) -> bool:
    return any(
        queue.objects.due()
        .filter(state=QueuedReading.State.PENDING)
        .exclude(**{ORGANISATIONS[queue]: organisation_id})
        .exists()
        for queue in ORGANISATIONS
    )
