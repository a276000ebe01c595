"""Limits that all processes of the register share: at most so many uses of something at the same time.

A use expires by itself after the period of its limit, or ends earlier when its client gives it back. This covers both
kinds of limits:

- 10 requests an hour: a use of one hour that is never given back.
- 2 readings at a time: a use that is given back at the end. Its period is the longest time that a reading may take, so
  that the use of a killed process expires.

Redis counts by its own clock, in one script, so that two processes never take the last use both. The counts are
lost when Redis restarts, and may be.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from secrets import token_hex
from typing import Any

from kombu.exceptions import KombuError
from redis import RedisError

from webapp.celery import app, redis_client

KEY = "drivecert:limit:{name}:{client}"
ANYONE = "anyone"  # the client of a limit that all clients share
TIMEOUT_S = 1.0
DOWN_S = 5.0  # for so long after a failure, Redis counts as down: requests must not all wait for it
# KEYS[1]: a sorted set of uses by the time of their end. ARGV: most uses, period in s, this use.
# Returns 0 if the use was taken, or the seconds until the next one can be, as text: Redis truncates numbers.
TAKE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local excess = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[1])
if excess >= 0 then
  local ending = redis.call('ZRANGE', KEYS[1], excess, excess, 'WITHSCORES')
  return tostring((ending[2] or now + ARGV[2]) - now)
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[3])
redis.call('PEXPIRE', KEYS[1], math.ceil(tonumber(ARGV[2]) * 1000))
return '0'
"""


class LimitReachedError(Exception):
    """All uses are taken. `wait_s` is the number of whole seconds until the next one can be taken, at least 1."""

    def __init__(self, wait_s: int) -> None:
        self.wait_s = wait_s
        super().__init__(f"all uses are taken; the next one can be taken in {wait_s} s")


class LimitsDownError(Exception):
    """Redis does not answer, so nothing can be counted. The caller decides whether to go on."""


@dataclass(frozen=True)
class SharedLimit:
    """At most `most` uses at the same time for each client. A use lasts `period_s`, or until it is given back."""

    name: str
    most: int
    period_s: float

    def take(self, client: str = ANYONE) -> str:
        """Take one use and return its id. Raises LimitReachedError and LimitsDownError."""
        use = token_hex(8)
        with failures_reported():
            wait_s = float(redis().eval(TAKE, 1, self._key(client), self.most, self.period_s, use))
        if wait_s > 0:
            raise LimitReachedError(max(1, math.ceil(wait_s)))
        return use

    def give_back(self, use: str, client: str = ANYONE) -> None:
        """End a use before its period. If Redis is down, the use expires by itself."""
        with suppress(LimitsDownError), failures_reported():
            redis().zrem(self._key(client), use)

    def _key(self, client: str) -> str:
        return KEY.format(name=self.name, client=client)


def forget_all() -> None:
    """Remove the counts of all limits, and forget a failure of Redis, for the tests. Raises LimitsDownError."""
    _Outage.until = float("-inf")
    with failures_reported():
        keys = list(redis().scan_iter(KEY.format(name="*", client="*")))
        if keys:
            redis().delete(*keys)


class _Outage:
    """The end of the time in which Redis counts as down, in this process."""

    until = float("-inf")


@contextmanager
def failures_reported() -> Iterator[None]:
    """Raise LimitsDownError for every failure of Redis, and without a try for DOWN_S after a failure."""
    if time.monotonic() < _Outage.until:
        raise LimitsDownError(f"Redis did not answer less than {DOWN_S:g} s ago")
    try:
        yield
    except (RedisError, KombuError, OSError) as error:
        _Outage.until = time.monotonic() + DOWN_S
        raise LimitsDownError(f"Redis does not answer: {error}") from error


def redis() -> Any:
    """Return the client of this process for the broker."""
    return _redis_of(app.conf.broker_write_url)


@cache
def _redis_of(_broker_url: str) -> Any:
    """Return the client of this process for a broker; Any, because redis types each answer as maybe awaitable."""
    return redis_client(TIMEOUT_S)
