import os
import subprocess

import pytest

from webapp.supervisor import lock_files
from webapp.supervisor.lock_files import acquire, acquire_when_free, lock_holders


@pytest.fixture
def path(tmp_path):
    return tmp_path / "web.held"


@pytest.fixture
def sleeper(path):
    """A process that inherited the lock, as a child of a supervisor that was killed."""
    fd = acquire_when_free(path, timeout_s=0)
    process = subprocess.Popen(["sleep", "60"], pass_fds=[fd])
    os.close(fd)
    yield process
    process.kill()
    process.wait()


def test_a_free_file_is_locked_at_once(path):
    fd = acquire(path)
    assert fd is not None
    assert acquire(path) is None
    os.close(fd)
    os.close(acquire_when_free(path, timeout_s=0))


def test_a_file_stays_locked_while_a_process_that_inherited_it_runs(path, sleeper):
    assert acquire(path) is None
    assert list(lock_holders(path)) == [sleeper.pid]


def test_a_process_that_does_not_end_is_killed(path, sleeper):
    os.close(acquire_when_free(path, timeout_s=0.2))
    assert sleeper.wait() == -9


def test_a_process_that_ends_before_it_is_killed_causes_no_error(path, sleeper, monkeypatch):
    def list_and_end(path):
        for pid in list(lock_holders(path)):
            sleeper.kill()
            sleeper.wait()
            yield pid

    monkeypatch.setattr(lock_files, "lock_holders", list_and_end)
    os.close(acquire_when_free(path, timeout_s=0.2))


def test_a_process_without_the_lock_is_not_killed(path, tmp_path, sleeper):
    other = acquire_when_free(tmp_path / "other.held", timeout_s=0)
    bystander = subprocess.Popen(["sleep", "60"], pass_fds=[other])
    os.close(other)
    os.close(acquire_when_free(path, timeout_s=0.2))
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
