"""The cache of a column store: what is made for a query is kept while it is used, and forgotten when others are."""

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
