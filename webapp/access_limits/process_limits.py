"""Limits for the time in which Redis is down: each process counts alone, in its memory."""

import math
import time
from secrets import token_hex
from threading import Lock

from webapp.access_limits.shared_limits import LimitReachedError, LimitsDownError, SharedLimit

KEYS_MAX = 10_000  # of clients and accounts, which a client can invent: more of them forget the oldest
_uses: dict[tuple[str, str], dict[str, float]] = {}
_lock = Lock()


def take(limit: SharedLimit, client: str) -> str:
    """Take a use of a shared limit, or of the same limit for this process alone. Raises LimitReachedError."""
    try:
        return limit.take(client)
    except LimitsDownError:
        return _take_here(limit, client)


def give_back(limit: SharedLimit, client: str, use: str) -> None:
    """End a use before its period, wherever it was counted."""
    limit.give_back(use, client)
    with _lock:
        _uses.get((limit.name, client), {}).pop(use, None)


def _take_here(limit: SharedLimit, client: str) -> str:
    now, key = time.monotonic(), (limit.name, client)
    with _lock:
        current = {use: end for use, end in _uses.pop(key, {}).items() if end > now}
        _uses[key] = current  # as the last key
        while len(_uses) > KEYS_MAX:
            del _uses[next(iter(_uses))]
        if len(current) >= limit.most:
            raise LimitReachedError(max(1, math.ceil(min(current.values()) - now)))
        use = token_hex(8)
        current[use] = now + limit.period_s
        return use


def forget_all() -> None:
    """Remove all counts of this process, for the tests."""
    with _lock:
        _uses.clear()
