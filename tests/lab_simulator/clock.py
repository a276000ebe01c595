"""Clocks of the simulated hosts, in seconds: one is faster than real time, one advances only when a test calls it."""

import time


class RunningClock:
    """A clock whose seconds pass `speed` times as fast as real ones."""

    def __init__(self, speed=1.0):
        self.speed = speed
        self.began_s = time.monotonic()

    def now_s(self):
        return (time.monotonic() - self.began_s) * self.speed


class ManualClock:
    """A clock that advances only by calls of `advance`."""

    def __init__(self):
        self.at_s = 0.0

    def now_s(self):
        return self.at_s

    def advance(self, seconds):
        self.at_s += seconds
