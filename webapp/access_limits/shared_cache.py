"""Django's cache in Redis, for the limits of django-allauth and for codes that may be used once.

Without Redis, each process has a cache of its own in memory. Values are JSON.
"""

import json
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache

from webapp.access_limits.shared_limits import KEY, LimitsDownError, failures_reported, redis


class SharedCache(BaseCache):
    """A cache that all processes share while Redis answers."""

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self.own = LocMemCache(name, params)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        text = self._shared(lambda: redis().get(self._key(key, version)), lambda: None)
        return self.own.get(key, default, version) if text is None else json.loads(text)

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        milliseconds = self._milliseconds(timeout)
        if milliseconds == 0:
            self.delete(key, version)
            return
        self._shared(
            lambda: redis().set(self._key(key, version), json.dumps(value), px=milliseconds),
            lambda: self.own.set(key, value, timeout, version),
        )

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        milliseconds = self._milliseconds(timeout)
        return bool(
            self._shared(
                lambda: redis().set(self._key(key, version), json.dumps(value), px=milliseconds or 1, nx=True),
                lambda: self.own.add(key, value, timeout, version),
            )
        )

    def delete(self, key: Any, version: int | None = None) -> bool:
        here = self.own.delete(key, version)
        return bool(self._shared(lambda: redis().delete(self._key(key, version)), lambda: False)) or here

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        milliseconds = self._milliseconds(timeout)
        change = "persist" if milliseconds is None else "pexpire"
        arguments = [] if milliseconds is None else [milliseconds]
        return bool(
            self._shared(
                lambda: getattr(redis(), change)(self._key(key, version), *arguments),
                lambda: self.own.touch(key, timeout, version),
            )
        )

    def clear(self) -> None:
        self.own.clear()
        keys = self._shared(lambda: list(redis().scan_iter(self._key("*", None))), list)
        if keys:
            self._shared(lambda: redis().delete(*keys), lambda: None)

    def _key(self, key: Any, version: int | None) -> str:
        return KEY.format(name="cache", client=self.make_and_validate_key(key, version=version))

    def _milliseconds(self, timeout: Any) -> int | None:
        seconds = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return None if seconds is None else max(0, int(seconds * 1000))

    @staticmethod
    def _shared(command: Callable[[], Any], instead: Callable[[], Any]) -> Any:
        """Return what Redis answers, or the result of `instead` while it is down."""
        try:
            with failures_reported():
                return command()
        except LimitsDownError:
            return instead()
