import os
import subprocess

import pytest

from webapp.supervisor import held
from webapp.supervisor.held import hold, hold_when_free, holders


@pytest.fixture
def path(tmp_path):
    return tmp_path / "web.held"


@pytest.fixture
def sleeper(path):
    """A process that inherited the lock, as a child of a supervisor that was killed."""
    fd = hold_when_free(path, patience_s=0)
    process = subprocess.Popen(["sleep", "60"], pass_fds=[fd])
    os.close(fd)
    yield process
    process.kill()
    process.wait()


def test_a_free_file_is_held_at_once(path):
    fd = hold(path)
    assert fd is not None
    assert hold(path) is None
    os.close(fd)
    os.close(hold_when_free(path, patience_s=0))


def test_a_file_is_held_while_a_process_that_inherited_it_lives(path, sleeper):
    assert hold(path) is None
    assert list(holders(path)) == [sleeper.pid]


def test_a_process_that_does_not_end_is_killed(path, sleeper):
    os.close(hold_when_free(path, patience_s=0.2))
    assert sleeper.wait() == -9


def test_a_process_that_ends_by_itself_before_it_is_killed_is_no_trouble(path, sleeper, monkeypatch):
    def see_and_let_end(path):
        for pid in list(holders(path)):
            sleeper.kill()
            sleeper.wait()
            yield pid

    monkeypatch.setattr(held, "holders", see_and_let_end)
    os.close(hold_when_free(path, patience_s=0.2))


def test_a_process_that_does_not_hold_the_file_is_left_alone(path, tmp_path, sleeper):
    other = hold_when_free(tmp_path / "other.held", patience_s=0)
    bystander = subprocess.Popen(["sleep", "60"], pass_fds=[other])
    os.close(other)
    os.close(hold_when_free(path, patience_s=0.2))
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
