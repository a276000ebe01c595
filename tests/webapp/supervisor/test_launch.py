import os
import signal
import subprocess
import sys

import pytest

from webapp.supervisor.identity import launch_command, server_identity
from webapp.supervisor.launch import MAIN_PID

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to drop")
TELL_DEATH_SIGNAL = "import ctypes; n = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(n)); print(n.value)"
TIE_AND_TELL = "from webapp.supervisor.launch import end_with_main_program as tie; tie(); print('lives')"


def run_as(identity, *command):
    launched = launch_command(list(command), signal.SIGINT, identity)
    return subprocess.run(launched, capture_output=True, text=True, check=False)


def test_a_program_runs_with_its_arguments():
    assert run_as("same", "echo", "a b", "c").stdout == "a b c\n"


@pytest.mark.parametrize("identity", ["same", pytest.param("namespace:1:1", marks=as_root)])
def test_the_death_signal_outlasts_the_change_of_identity(identity):
    assert run_as(identity, sys.executable, "-c", TELL_DEATH_SIGNAL).stdout == f"{signal.SIGINT:d}\n"


@as_root
def test_the_death_signal_outlasts_the_change_to_an_account():
    assert run_as("account:1:1", "/usr/bin/env", "true").returncode == 0
    status = run_as("account:1:1", "cat", "/proc/self/status").stdout
    assert "Uid:\t1\t1\t1\t1" in status
    assert "Groups:\t \n" in status


@as_root
def test_a_server_holds_no_capability():
    status = run_as(server_identity(), "cat", "/proc/self/status").stdout
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status


def test_a_program_whose_parent_is_gone_does_not_start():
    command = launch_command(["echo", "started"], signal.SIGINT, "same")
    command[command.index(str(os.getpid()))] = "1"  # as if that parent had died and another had taken us
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (71, "")


def test_a_missing_program_is_named():
    done = run_as("same", "/nonexistent/program")
    assert done.returncode == 71
    assert "cannot start /nonexistent/program as same" in done.stderr


def tie_to(main_pid):
    environment = os.environ | ({MAIN_PID: str(main_pid)} if main_pid else {})
    command = [sys.executable, "-c", TIE_AND_TELL]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_process_whose_main_program_was_gone_before_it_could_be_tied_to_it_ends():
    """Granian's and Celery's processes take a second to start; nothing else would ever end them."""
    assert tie_to(1) == (71, "")


def test_a_process_lives_beside_its_main_program():
    assert tie_to(os.getpid()) == (0, "lives\n")


def test_a_process_without_a_supervisor_is_tied_to_nothing():
    assert tie_to(None) == (0, "lives\n")


def test_a_program_is_told_its_own_number_as_that_of_the_main_program():
    command = [sys.executable, "-c", f"import os; print(os.environ['{MAIN_PID}'] == str(os.getpid()))"]
    assert run_as("same", *command).stdout == "True\n"
