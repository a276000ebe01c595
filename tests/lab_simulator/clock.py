"""The time of the simulated hosts, in seconds: it runs faster than ours, or stands until it is moved."""

import time


class RunningClock:
    """Virtual seconds pass `speed` times as fast as real ones."""

    def __init__(self, speed=1.0):
        self.speed = speed
        self.began_s = time.monotonic()

    def now_s(self):
        return (time.monotonic() - self.began_s) * self.speed


class ManualClock:
    """Moves only when told."""

    def __init__(self):
        self.at_s = 0.0

    def now_s(self):
        return self.at_s

    def advance(self, seconds):
        self.at_s += seconds
