"""Lock files: they exclude a second process, and only their own user can open them."""

import os
import stat

import pytest

from results.locks import file_lock


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
def test_a_lock_file_is_for_its_own_user_whatever_the_umask_is(tmp_path):
    path = tmp_path / "lock"
    with file_lock(path, waits=False) as is_ours:
        assert is_ours
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_second_holder_that_does_not_wait_does_not_get_the_lock(tmp_path):
    path = tmp_path / "lock"
    with file_lock(path, waits=False), file_lock(path, waits=False) as is_ours:
        assert not is_ours
    with file_lock(path, waits=False) as is_ours:
        assert is_ours
