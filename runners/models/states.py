"""The states of a dispatch and the table of transitions between them.

The table is data: the state machine checks every transition against it, the tests walk it, and docs/reference/lab.md
prints it.
"""

from django.db import models

# The actor of a transition that no person made.
WORKER = "worker"


class State(models.TextChoices):
    """The state of a dispatch. The last five are final."""

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
# The host may have run directories or processes of it, so each poll queries the host.
ON_HOST = frozenset({State.PREPARING, State.RUNNING, State.COLLECTING})
LIVE = frozenset(TRANSITIONS) - FINAL - {State.QUEUED}
