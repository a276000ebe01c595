"""Random kills of workers and random faults of hosts from one seed; the hosts record what really happened."""

import os
import random
import signal
import time
from dataclasses import dataclass
from typing import Any

from runners.dispatch.orders import declare_ended
from runners.models import Dispatch
from runners.models.campaign import Campaign
from runners.models.states import FINAL, State

FAULTS = {
    "silence": 0.01,
    "slow": 0.02,
    "lost_reply": 0.03,
    "late_duplicate": 0.1,
    "late_only": 0.03,
    "reboot": 0.003,
    "wipe": 0.001,
    "clock_step": 0.01,
    "disk_full": 0.002,
    "truncation": 0.003,
    "silence_s": 60.0,
    "slow_s": 0.05,
}
NO_FAULTS = dict.fromkeys((kind for kind in FAULTS if not kind.endswith("_s")), 0.0)
KILL_AFTER_S = (0.02, 0.4)


@dataclass
class Chaos:
    """A lab with workers and orders: `play` kills workers, `settle` waits until every dispatch has ended."""

    lab: Any
    parents: list[Any]
    order_one: Any
    seed: int
    queued_at_most: int = 12

    def __post_init__(self):
        self.dice = random.Random(self.seed)  # noqa: S311 - no secret
        self.pids = {}

    def play(self, kills_count: int) -> None:
        """Kill workers at random moments, and order new runs when old ones end."""
        for parent in self.parents:
            self._start(parent)
        for _ in range(kills_count):
            self._order()
            time.sleep(self.dice.uniform(*KILL_AFTER_S))
            self._kill(self.dice.choice(self.parents))

    def settle(self, within_s: float) -> bool:
        """Stop the faults and wait until every dispatch has ended; return whether that was in time."""
        self.lab.client("", "set_faults", **NO_FAULTS)
        deadline = time.monotonic() + within_s
        while is_work_left() and time.monotonic() < deadline:
            self._declare_ended()
            time.sleep(0.05)
        for parent in self.parents:
            self._end(parent)
        return not is_work_left()

    def _declare_ended(self):
        """Act as the operator: confirm the end of lost dispatches whose program does not run."""
        lost = Dispatch.objects.filter(state=State.LOST, ended_at__isnull=True, pid__isnull=False)
        running = set(self.lab.truth()["running"]) if lost.exists() else set()
        for dispatch in lost.exclude(public_id__in=running).select_related("ordered_by"):
            declare_ended(dispatch, dispatch.ordered_by, "checked the machine: it does not run")

    def _start(self, parent):
        self.pids[id(parent)] = parent.start(until_idle=False)

    def _end(self, parent):
        os.kill(self.pids[id(parent)], signal.SIGKILL)
        parent.wait()

    def _kill(self, parent):
        self._end(parent)
        self._start(parent)

    def _order(self):
        while Dispatch.objects.exclude(state__in=FINAL).count() < self.queued_at_most:
            self.order_one(self.lab, self.dice.choice(self.lab.names))


def is_work_left() -> bool:
    """Return whether a dispatch or a campaign has not ended yet."""
    moving = Campaign.objects.filter(state__in=(Campaign.State.ACTIVE, Campaign.State.CANCELLING))
    return moving.exists() or Dispatch.objects.exclude(state__in=FINAL).exists()


def ends() -> dict[str, int]:
    """Return the number of dispatches in each state."""
    states = list(Dispatch.objects.values_list("state", flat=True))
    return {state.value: states.count(state) for state in State if state in states}
