"""Django's cache in Redis, and in the memory of the process while Redis is down."""

import pytest
from django.core.cache import cache

from tests.results.builders import wait_for
from tests.results.fixtures import no_broker
from webapp.access_limits.shared_cache import SharedCache
from webapp.access_limits.shared_limits import forget_all

__all__ = ["no_broker"]


@pytest.fixture(autouse=True)
def no_entries():
    forget_all()
    cache.clear()
    yield
    cache.clear()


def test_processes_share_what_is_stored():
    other = SharedCache("other", {})
    cache.set("a", [1.5, 2], 60)
    assert other.get("a") == [1.5, 2]
    assert not other.add("a", "x", 60)
    assert other.add("b", True, 60)
    assert cache.get_many(["a", "b", "c"]) == {"a": [1.5, 2], "b": True}
    other.delete("a")
    assert cache.get("a", "gone") == "gone"


def test_an_entry_expires():
    cache.set("a", 1, 0.001)
    wait_for(lambda: cache.get("a") is None)
    cache.set("b", 1, 60)
    cache.set("b", 1, 0)
    assert cache.get("b") is None


def test_an_entry_is_touched():
    cache.set("a", 1, 60)
    assert cache.touch("a", None)
    assert not cache.touch("missing", 60)


def test_without_redis_each_process_has_its_own(no_broker):
    cache.set("a", 1, 60)
    assert cache.get("a") == 1
    assert not cache.add("a", 2, 60)
    assert SharedCache("other", {}).get("a") is None
    assert cache.touch("a", 60)
    assert cache.delete("a")
