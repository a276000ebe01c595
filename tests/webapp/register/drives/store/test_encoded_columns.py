"""The caches of a column store: each result is computed once, and those of queries are forgotten if others are used."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, RLock

import pytest

from webapp.register.drives.store.encoded_columns import LAST_USED_COUNT, ColumnStore
from webapp.register.products.name_search import Names


def empty_store():
    return ColumnStore("v1", 0, (), (), {}, Names((), ()))


def made_by(store, keys):
    """Return the keys for which the store had to make the result."""
    made = []
    for key in keys:
        store.recent(key, lambda key=key: made.append(key) or f"result of {key}")
    return made


def test_a_recent_result_is_made_once():
    store = empty_store()
    assert made_by(store, ["a", "a"]) == ["a"]
    assert store.recent("a", lambda: "another") == "result of a"


def test_the_result_that_was_not_used_for_longest_is_forgotten():
    store, others = empty_store(), list(range(LAST_USED_COUNT - 1))
    made_by(store, ["a", *others, "a"])  # all fit, and "a" was used last
    assert made_by(store, ["one more", "a"]) == ["one more"]
    assert made_by(store, [others[0]]) == [others[0]]


class WatchedLock:
    """A lock that sets an event when a thread has to wait for it."""

    def __init__(self, is_waited_for):
        self.lock, self.is_waited_for = RLock(), is_waited_for

    def __enter__(self):
        if not self.lock.acquire(blocking=False):
            self.is_waited_for.set()
            self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


def test_a_thread_waits_for_the_result_that_another_computes():
    store, begun, may_end, second_came = empty_store(), Event(), Event(), Event()
    store.computing["a"] = WatchedLock(second_came)

    def compute():
        begun.set()
        may_end.wait()
        return "first"

    def compute_again():
        second_came.set()
        return "second"

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(store.cached, "a", compute)
        begun.wait()
        second = threads.submit(store.cached, "a", compute_again)
        second_came.wait()
        may_end.set()
        assert (first.result(), second.result()) == ("first", "first")


def test_a_result_of_another_key_does_not_wait():
    store, begun, may_end = empty_store(), Event(), Event()
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(store.cached, "slow", lambda: (begun.set(), may_end.wait()))
        begun.wait()
        assert store.cached("a", lambda: store.cached("b", lambda: "of b")) == "of b"
        assert not slow.done()
        may_end.set()


def test_a_computation_that_fails_is_repeated():
    store = empty_store()
    with pytest.raises(ZeroDivisionError):
        store.cached("a", lambda: 1 / 0)
    assert store.cached("a", lambda: "of a") == "of a"
