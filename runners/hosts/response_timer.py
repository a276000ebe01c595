"""Listening to one machine while it is asked: when it gave its first and its last byte, and how long it gave none."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from django.utils import timezone


@dataclass(frozen=True)
class Silence:
    """A time in which a machine was asked and gave nothing, between two moments at which it did."""

    since: datetime
    length_s: float

    @property
    def until(self) -> datetime:
        return self.since + timedelta(seconds=self.length_s)


class Ear:
    """What was heard of a machine since the last `begin`. Bytes are heard on the thread of the connections.

    A question may take many exchanges. `longest` is the longest silence of the one under way, `worked_s` how long the
    machine worked at its answers there, as it tells itself: that it said nothing meanwhile is no silence. `tells_work`
    is False of a machine whose program is too old to tell.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what was heard before: the next question is about to be put."""
        self.first_at: datetime | None = None
        self.last_at: datetime | None = None
        self.tells_work = True
        self._earlier: Silence | None = None
        self._reached: tuple[float, datetime] | None = None
        self._begin_exchange()

    def asked(self) -> None:
        """A question goes out now: until it is answered the machine is waited for."""
        self._earlier = self.unexplained()
        self._begin_exchange()

    def _begin_exchange(self) -> None:
        self.longest: Silence | None = None
        self.worked_s = 0.0
        self._since_s = monotonic()

    def heard(self) -> None:
        """Something came from the machine now."""
        self._heard_at(monotonic(), timezone.now())

    def reached(self) -> None:
        """A connection was taken now, by the machine or, while it is cut off, by a gateway: its key tells."""
        self._reached = monotonic(), timezone.now()

    def signed_in(self) -> None:
        """The machine has let us in: it was there since it took the connection, however long that took."""
        if self._reached:
            self._heard_at(*self._reached)
        self.last_at, self._since_s = timezone.now(), monotonic()

    def _heard_at(self, now_s: float, now: datetime) -> None:
        length_s = now_s - self._since_s
        if self.longest is None or length_s > self.longest.length_s:
            self.longest = Silence(now - timedelta(seconds=length_s), length_s)
        self.first_at, self.last_at, self._since_s = self.first_at or now, now, now_s

    def has_worked(self, worked_ms: int | None) -> None:
        """The machine says how long it worked at an answer; None where its program does not tell."""
        self.tells_work = self.tells_work and worked_ms is not None
        self.worked_s += (worked_ms or 0) / 1000

    def unexplained(self) -> Silence | None:
        """Return the longest silence of all exchanges, each less what was worked in that one; None where none ended."""
        here = None
        if self.longest is not None:
            length_s = self.longest.length_s - self.worked_s
            here = Silence(self.longest.until - timedelta(seconds=length_s), length_s)
        return max(filter(None, [self._earlier, here]), key=lambda each: each.length_s, default=None)
