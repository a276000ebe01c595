import os
import signal
import time

import pytest

from webapp.supervisor.child import LONGEST_PAUSE_S, Child, Places, Program, tell_status
from webapp.supervisor.errors import CannotStartError


@pytest.fixture
def places(tmp_path):
    places = Places(tmp_path / "run", tmp_path / "log")
    places.make()
    return places


@pytest.fixture
def start(places):
    started = []

    def start_child(script):
        program = Program("trial", ["sh", "-c", script], signal.SIGTERM, signal.SIGKILL, 1)
        child = Child(program, places)
        started.append(child)
        child.start()
        return child

    yield start_child
    for child in started:
        child.stop()


def wait_for(is_true):
    deadline = time.monotonic() + 90
    while not is_true():
        assert time.monotonic() < deadline, "did not happen in 90 s"
        time.sleep(0.02)


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_child_writes_to_its_log(start):
    child = start("echo hello")
    wait_for(child.has_ended)
    assert child.log.read_text() == "hello\n"


def test_stopping_ends_the_child(start):
    child = start("exec sleep 60")
    pid = child.process.pid
    child.stop()
    assert not lives(pid)


def test_a_child_that_ignores_the_signal_is_killed(start):
    child = start("trap '' TERM; echo ready; while true; do sleep 0.1; done")
    wait_for(lambda: "ready" in child.log.read_text())
    pid = child.process.pid
    child.stop()
    assert not lives(pid)


def test_what_a_dead_child_left_in_its_group_is_ended(start, tmp_path):
    child = start(f"sleep 60 & echo $! > {tmp_path}/pid")
    wait_for(child.has_ended)
    left = int((tmp_path / "pid").read_text())
    wait_for(lambda: not lives(left))


def test_a_dead_child_is_started_again_after_a_pause(start):
    child = start("true")
    wait_for(child.has_ended)
    assert child.tend() == "trial ended (exit status 0); starting it again in 0.5 s"
    child.start_again_at += 60  # on a busy machine half a second may pass between two lines
    assert child.tend() == ""
    child.start_again_at = time.monotonic()
    assert child.tend() == "trial started again"


def test_pauses_grow_to_a_longest_one(start):
    child = start("true")
    for _ in range(10):
        wait_for(child.has_ended)
        child.tend()
        child.start_again_at = 0
        child.tend()
    assert child.pause_s == LONGEST_PAUSE_S


def test_a_child_that_lived_long_begins_again_with_the_shortest_pause(start):
    child = start("true")
    child.pause_s, child.started_at = 16, time.monotonic() - 61
    wait_for(child.has_ended)
    assert child.tend().endswith("in 0.5 s")


def test_a_child_that_dies_while_it_starts_shows_its_log(start):
    child = start("echo no space left; exit 3")
    with pytest.raises(CannotStartError, match=r"(?s)trial ended while it started.*no space left"):
        child.wait_until(lambda: False, patience_s=90)


def test_a_silent_child_is_reported(start):
    child = start("exec sleep 60")
    with pytest.raises(CannotStartError, match=r"trial did not answer in 0\.2 s"):
        child.wait_until(lambda: False, patience_s=0.2)


@pytest.mark.parametrize(("status", "words"), [(0, "exit status 0"), (3, "exit status 3"), (-9, "killed by SIGKILL")])
def test_an_exit_status_is_told_in_words(status, words):
    assert tell_status(status) == words
