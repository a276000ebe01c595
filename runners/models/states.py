"""The states of a dispatch and the one table of moves between them.

The table is data: the state machine checks every step against it, the tests walk it, docs/lab.md prints it.
"""

from django.db import models

# Who moves a dispatch, where no person does.
WORKER = "worker"


class State(models.TextChoices):
    """Where a dispatch stands; the last five are final."""

    QUEUED = "queued"
    CLAIMED = "claimed"
    PREPARING = "preparing"
    RUNNING = "running"
    COLLECTING = "collecting"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    LOST = "lost"
    CANCELLED = "cancelled"


TRANSITIONS: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.CLAIMED, State.CANCELLED}),
    State.CLAIMED: frozenset({State.PREPARING, State.REFUSED, State.FAILED, State.LOST, State.CANCELLED}),
    State.PREPARING: frozenset({State.RUNNING, State.REFUSED, State.FAILED, State.LOST, State.CANCELLED}),
    State.RUNNING: frozenset({State.COLLECTING, State.REFUSED, State.FAILED, State.LOST, State.CANCELLED}),
    State.COLLECTING: frozenset({State.DONE, State.REFUSED, State.FAILED, State.LOST, State.CANCELLED}),
    State.DONE: frozenset(),
    State.FAILED: frozenset(),
    State.REFUSED: frozenset(),
    State.LOST: frozenset(),
    State.CANCELLED: frozenset(),
}

FINAL = frozenset(state for state, following in TRANSITIONS.items() if not following)
# Something of it may be on its host, which is asked at each look.
ON_HOST = frozenset({State.PREPARING, State.RUNNING, State.COLLECTING})
LIVE = frozenset(TRANSITIONS) - FINAL - {State.QUEUED}
