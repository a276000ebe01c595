"""Random faults between the register and a simulated host, drawn from a seed."""

import random
import time
from dataclasses import dataclass, field
from typing import Any

from runners.errors import HostUnavailableError

CLOCK_STEPS_S = (-600, 600)
CHANGING = {"start", "stop", "put"}


@dataclass
class Faults:
    """The probability of each fault per call; 0 is never. A silence lasts `silence_s` of the hosts' time.

    Events of the host (reboot, clock, disk, log) also happen at a call, before its response.
    """

    seed: int = 0
    silence: float = 0.0
    slow: float = 0.0
    lost_reply: float = 0.0
    late_duplicate: float = 0.0
    late_only: float = 0.0
    reboot: float = 0.0
    wipe: float = 0.0
    clock_step: float = 0.0
    disk_full: float = 0.0
    truncation: float = 0.0
    silence_s: float = 30.0
    slow_s: float = 0.05
    happened: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        self.dice = random.Random(self.seed)  # noqa: S311 - no secret

    def strikes(self, kind):
        """Decide at random whether a fault happens now, and count it if it does."""
        if self.dice.random() >= getattr(self, kind):
            return False
        self.happened[kind] = self.happened.get(kind, 0) + 1
        return True


class FaultyHost:
    """A proxy of a simulated host. Calls always take effect on the host; responses may be late, lost or repeated."""

    def __init__(self, host, faults):
        self.host, self.faults = host, faults
        self.silent_until_s = -1.0
        self.late = []
        self.disk_is_full_until_s = -1.0

    def call(self, method, *arguments):
        """Call the host, with faults on the way. Raise HostUnavailableError if no response arrives."""
        self._apply_faults()
        if self.host.now_s() < self.silent_until_s:
            raise HostUnavailableError(f"{self.host.name}: no answer")
        if method == "put" and self.host.now_s() < self.disk_is_full_until_s:
            raise HostUnavailableError(f"{self.host.name}: {arguments[0]}: cannot be written: No space left on device")
        if method in CHANGING and self.faults.strikes("late_duplicate"):
            self._schedule_late_call(method, arguments)
        if method in CHANGING and self.faults.strikes("late_only"):
            self._schedule_late_call(method, arguments)
            raise HostUnavailableError(f"{self.host.name}: {method}: no answer in time")
        answer = getattr(self.host, method)(*arguments)
        if self.faults.strikes("lost_reply"):
            raise HostUnavailableError(f"{self.host.name}: {method}: the connection was lost")
        return answer

    def pause_s(self):
        """Return the delay of the next response, s."""
        return self.faults.slow_s if self.faults.strikes("slow") else 0.0

    def _apply_faults(self):
        self._deliver_late_calls()
        host, strikes = self.host, self.faults.strikes
        if strikes("silence"):
            self.silent_until_s = host.now_s() + self.faults.silence_s
        if strikes("reboot"):
            host.reboot()
        if strikes("wipe"):
            host.wipe()
        if strikes("clock_step"):
            host.clock_offset_s += self.faults.dice.choice(CLOCK_STEPS_S)
        if strikes("disk_full"):
            host.fill_disk()
            self.disk_is_full_until_s = host.now_s() + self.faults.silence_s
        running = [program.run for program in host.running()]
        if running and strikes("truncation"):
            run = self.faults.dice.choice(running)
            host.truncate(run, self.faults.dice.randint(0, len(host.files[run]["log"])))

    def _schedule_late_call(self, method, arguments):
        self.late.append((self.faults.dice.randint(1, 30), method, arguments))

    def _deliver_late_calls(self):
        """Deliver late calls in any state of the run, and drop their responses."""
        due = [call for call in self.late if call[0] <= 0]
        self.late = [(calls - 1, *rest) for calls, *rest in self.late if calls > 0]
        for _, method, arguments in due:
            try:
                getattr(self.host, method)(*arguments)
            except Exception as error:  # noqa: BLE001 - a refusal is a response too, and is dropped
                self.faults.happened["late refused"] = str(error)


def delay_response(seconds):
    """Sleep outside any lock, so that other hosts are not delayed."""
    if seconds:
        time.sleep(seconds)
