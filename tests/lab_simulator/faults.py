"""What goes wrong between the register and a simulated host, drawn from a seed."""

import random
import time
from dataclasses import dataclass, field
from typing import Any

from runners.errors import HostUnavailableError

CLOCK_STEPS_S = (-600, 600)
CHANGING = {"start", "stop", "put"}


@dataclass
class Faults:
    """Shares of calls at which something happens; 0 is never. Silence lasts `silence_s` of the hosts' time.

    Events of the host (reboot, clock, disk, log) happen at a call too, before it is answered.
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
        """Draw whether a fault happens now, and count it."""
        if self.dice.random() >= getattr(self, kind):
            return False
        self.happened[kind] = self.happened.get(kind, 0) + 1
        return True


class FaultyHost:
    """Stands before a simulated host: the effect is the host's, the answer may be late, lost, or come twice."""

    def __init__(self, host, faults):
        self.host, self.faults = host, faults
        self.silent_until_s = -1.0
        self.late = []
        self.disk_is_full_until_s = -1.0

    def call(self, method, *arguments):
        """Ask the host, through whatever happens on the way. Raises HostUnavailableError where no answer comes back."""
        self._befall()
        if self.host.now_s() < self.silent_until_s:
            raise HostUnavailableError(f"{self.host.name}: no answer")
        if method == "put" and self.host.now_s() < self.disk_is_full_until_s:
            raise HostUnavailableError(f"{self.host.name}: {arguments[0]}: cannot be written: No space left on device")
        if method in CHANGING and self.faults.strikes("late_duplicate"):
            self._come_late(method, arguments)
        if method in CHANGING and self.faults.strikes("late_only"):
            self._come_late(method, arguments)
            raise HostUnavailableError(f"{self.host.name}: {method}: no answer in time")
        answer = getattr(self.host, method)(*arguments)
        if self.faults.strikes("lost_reply"):
            raise HostUnavailableError(f"{self.host.name}: {method}: the connection was lost")
        return answer

    def pause_s(self):
        """How long the answer to the next call takes."""
        return self.faults.slow_s if self.faults.strikes("slow") else 0.0

    def _befall(self):
        self._deliver_late()
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

    def _come_late(self, method, arguments):
        self.late.append((self.faults.dice.randint(1, 30), method, arguments))

    def _deliver_late(self):
        """What was sent once comes a second time, whatever has become of the run meanwhile; nobody hears the answer."""
        due = [call for call in self.late if call[0] <= 0]
        self.late = [(calls - 1, *rest) for calls, *rest in self.late if calls > 0]
        for _, method, arguments in due:
            try:
                getattr(self.host, method)(*arguments)
            except Exception as error:  # noqa: BLE001 - a refusal is an answer that nobody hears
                self.faults.happened["late refused"] = str(error)


def answer_slowly(seconds):
    """Outside any lock: other hosts are not held up."""
    if seconds:
        time.sleep(seconds)
