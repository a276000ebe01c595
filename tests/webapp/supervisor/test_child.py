import os
import signal
import time

import pytest

from webapp.supervisor.child import MAX_RESTART_DELAY_S, Child, Program, describe_exit_status
from webapp.supervisor.errors import CannotStartError


@pytest.fixture
def start(tmp_path):
    for name in ("run", "log"):
        (tmp_path / name).mkdir()
    started = []

    def start_child(script):
        program = Program("trial", ["sh", "-c", script], signal.SIGTERM, signal.SIGKILL, 1)
        child = Child(program, tmp_path)
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


def test_the_output_of_a_child_is_in_its_log(start):
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


def test_processes_left_in_the_group_of_a_dead_child_are_killed(start, tmp_path):
    child = start(f"sleep 60 & echo $! > {tmp_path}/pid")
    wait_for(child.has_ended)
    left = int((tmp_path / "pid").read_text())
    wait_for(lambda: not lives(left))


def test_a_dead_child_is_restarted_after_a_delay(start):
    child = start("true")
    wait_for(child.has_ended)
    assert child.restart_if_ended() == "trial ended (exit status 0); restarting in 0.5 s"
    child.restart_at += 60  # on a busy machine half a second may pass between two lines
    assert child.restart_if_ended() == ""
    child.restart_at = time.monotonic()
    assert child.restart_if_ended() == "trial restarted"


def test_restart_delays_grow_to_a_maximum(start):
    child = start("true")
    for _ in range(10):
        wait_for(child.has_ended)
        child.restart_if_ended()
        child.restart_at = 0
        child.restart_if_ended()
    assert child.restart_delay_s == MAX_RESTART_DELAY_S


def test_a_child_that_ran_long_is_restarted_after_the_shortest_delay(start):
    child = start("true")
    child.restart_delay_s, child.started_at = 16, time.monotonic() - 61
    wait_for(child.has_ended)
    assert child.restart_if_ended().endswith("in 0.5 s")


def test_the_log_of_a_child_that_dies_at_start_is_shown(start):
    child = start("echo no space left; exit 3")
    with pytest.raises(CannotStartError, match=r"(?s)trial ended during its start.*no space left"):
        child.wait_until(lambda: False, timeout_s=90)


def test_a_child_that_does_not_respond_is_reported(start):
    child = start("exec sleep 60")
    with pytest.raises(CannotStartError, match=r"trial did not respond within 0\.2 s"):
        child.wait_until(lambda: False, timeout_s=0.2)


@pytest.mark.parametrize(
    ("status", "description"), [(0, "exit status 0"), (3, "exit status 3"), (-9, "killed by SIGKILL")]
)
def test_an_exit_status_is_described(status, description):
    assert describe_exit_status(status) == description
