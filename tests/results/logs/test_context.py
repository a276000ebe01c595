import threading

import pytest

from results.logs.context import bind_until_the_end, bound, log_ids


def test_ids_are_bound_for_a_block_and_in_one_order():
    with bound(dispatch="d1", request=7):
        with bound(host="h", dispatch="d2"):
            assert list(log_ids().items()) == [("request", "7"), ("dispatch", "d2"), ("host", "h")]
        assert log_ids() == {"request": "7", "dispatch": "d1"}
    assert log_ids() == {}


def test_ids_end_with_an_error():
    with pytest.raises(KeyError), bound(dispatch="d1"):
        raise KeyError
    assert log_ids() == {}


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"expected request, task, .* got run"), bound(run="r1"):
        pass


def test_what_a_request_learns_ends_with_it():
    with bound(request="7"):
        bind_until_the_end(submission="s1")
        assert log_ids() == {"request": "7", "submission": "s1"}
    assert log_ids() == {}
    bind_until_the_end(submission="s1")
    assert log_ids() == {}


def test_a_thread_starts_without_ids():
    found = []
    with bound(request="7"):
        thread = threading.Thread(target=lambda: found.append(dict(log_ids())))
        thread.start()
        thread.join()
    assert found == [{}]
