import os
import signal
import subprocess
import sys

import pytest

from webapp.supervisor.identity import launch_command, server_identity
from webapp.supervisor.launch import MAIN_PID

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to drop")
PRINT_DEATH_SIGNAL = "import ctypes; n = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(n)); print(n.value)"
END_WITH_MAIN = "from webapp.supervisor.launch import end_with_main_program as tie; tie(); print('runs')"


def run_as(identity, *command):
    launched = launch_command(list(command), signal.SIGINT, identity)
    return subprocess.run(launched, capture_output=True, text=True, check=False)


def test_a_program_runs_with_its_arguments():
    assert run_as("same", "echo", "a b", "c").stdout == "a b c\n"


@pytest.mark.parametrize("identity", ["same", pytest.param("namespace:1:1", marks=as_root)])
def test_the_death_signal_outlasts_the_change_of_identity(identity):
    assert run_as(identity, sys.executable, "-c", PRINT_DEATH_SIGNAL).stdout == f"{signal.SIGINT:d}\n"


@as_root
def test_the_death_signal_outlasts_the_change_to_an_account():
    assert run_as("account:1:1", "/usr/bin/env", "true").returncode == 0
    status = run_as("account:1:1", "cat", "/proc/self/status").stdout
    assert "Uid:\t1\t1\t1\t1" in status
    assert "Groups:\t \n" in status


@as_root
def test_a_server_has_no_capability():
    status = run_as(server_identity(), "cat", "/proc/self/status").stdout
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status


def test_a_program_whose_parent_has_ended_does_not_start():
    command = launch_command(["echo", "started"], signal.SIGINT, "same")
    command[command.index(str(os.getpid()))] = "1"  # as if that parent had ended and init had adopted the process
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (71, "")


def test_a_missing_program_is_named():
    done = run_as("same", "/nonexistent/program")
    assert done.returncode == 71
    assert "cannot start /nonexistent/program as same" in done.stderr


def tie_to(main_pid):
    environment = os.environ | ({MAIN_PID: str(main_pid)} if main_pid else {})
    command = [sys.executable, "-c", END_WITH_MAIN]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_process_ends_if_its_main_program_has_already_ended():
    """Granian's and Celery's processes take a second to start, and the kernel then sends no signal."""
    assert tie_to(1) == (71, "")


def test_a_process_runs_while_its_main_program_runs():
    assert tie_to(os.getpid()) == (0, "runs\n")


def test_a_process_without_a_supervisor_runs():
    assert tie_to(None) == (0, "runs\n")


def test_a_program_finds_its_own_pid_as_that_of_the_main_program():
    command = [sys.executable, "-c", f"import os; print(os.environ['{MAIN_PID}'] == str(os.getpid()))"]
    assert run_as("same", *command).stdout == "True\n"
