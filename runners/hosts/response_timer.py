"""Response times of one lab host: when its first and last byte came, and the longest wait in between."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from django.utils import timezone


@dataclass(frozen=True)
class WaitPeriod:
    """A period in which a request was open and the host sent nothing."""

    since: datetime
    length_s: float

    @property
    def until(self) -> datetime:
        return self.since + timedelta(seconds=self.length_s)


class ResponseTimer:
    """Times the answers of a host since the last `reset`. The thread of the connections reports the bytes.

    One call may take several exchanges. `longest` is the longest wait of the current exchange. `worked_s` is how long
    the host itself worked on its answers there: that it sent nothing meanwhile is no outage. `reports_work` is False
    for a host whose program is too old to report that.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all times: the next call begins."""
        self.first_byte_at: datetime | None = None
        self.last_byte_at: datetime | None = None
        self.reports_work = True
        self._earlier: WaitPeriod | None = None
        self._accepted: tuple[float, datetime] | None = None
        self._start_exchange()

    def request_sent(self) -> None:
        """Start a new exchange: the wait for its answer begins now."""
        self._earlier = self.longest_unexplained()
        self._start_exchange()

    def _start_exchange(self) -> None:
        self.longest: WaitPeriod | None = None
        self.worked_s = 0.0
        self._since_s = monotonic()

    def bytes_received(self) -> None:
        """Record that bytes came from the host now."""
        self._received_at(monotonic(), timezone.now())

    def connection_accepted(self) -> None:
        """Record that a connection was accepted now. Only the host key shows whether by the host or by a gateway."""
        self._accepted = monotonic(), timezone.now()

    def signed_in(self) -> None:
        """Record a successful login: the host was reachable since it accepted the connection."""
        if self._accepted:
            self._received_at(*self._accepted)
        self.last_byte_at, self._since_s = timezone.now(), monotonic()

    def _received_at(self, now_s: float, now: datetime) -> None:
        length_s = now_s - self._since_s
        if self.longest is None or length_s > self.longest.length_s:
            self.longest = WaitPeriod(now - timedelta(seconds=length_s), length_s)
        self.first_byte_at, self.last_byte_at, self._since_s = self.first_byte_at or now, now, now_s

    def add_work(self, worked_ms: int | None) -> None:
        """Add the time that the host worked on an answer, or None if its program does not report it."""
        self.reports_work = self.reports_work and worked_ms is not None
        self.worked_s += (worked_ms or 0) / 1000

    def longest_unexplained(self) -> WaitPeriod | None:
        """Return the longest wait of all exchanges, each less the work in that exchange. Return None if none ended."""
        if self.longest is None:
            return self._earlier
        length_s = self.longest.length_s - self.worked_s
        current = WaitPeriod(self.longest.until - timedelta(seconds=length_s), length_s)
        return max(filter(None, [self._earlier, current]), key=lambda wait: wait.length_s)
