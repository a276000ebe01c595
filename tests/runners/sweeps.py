"""Sweeps of several stages for tests, on one host and on two."""

import pytest

from runners.dispatch.orders import Order, order
from runners.lifecycle.stages import current_stage
from runners.models import Host
from runners.models.states import State
from tests.runners.fake_host import FakeHost
from tests.runners.lab import poll_state

OPTIONS = {"preset": "micron-7450-rocksdb", "record_count": 10, "operation_count": 20, "threads": [1, 2]}
OPTIONS_OF_TWO = OPTIONS | {"preset": "mongodb", "database_host": "10.0.0.1"}
BEFORE_LOAD_OF_TWO = ["format", "mount", "database"]
ALL = ["format", "mount", "load", "settle", "run-a-t001", "run-a-t002", "unmount"]


def finish(dispatch, fake, exit_status=0, output=b"[OVERALL], RunTime(ms), 10\n"):
    """End the running program, and return the name of its stage."""
    (run,) = [name for name, program in fake.programs.items() if program.is_running]
    fake.files[run] |= {"log": output, "stderr": b"Command line: -t\n", "side.jsonl": b'{"record": "start"}\n'}
    fake.end(run, exit_status)
    return run.removeprefix(f"{dispatch.public_id}.")


def go_through(dispatch, connect, fake, failing="", exit_status=1):
    ended = []
    while poll_state(dispatch, connect) == State.RUNNING:
        name = next(run for run, program in fake.programs.items() if program.is_running).partition(".")[2]
        ended.append(finish(dispatch, fake, exit_status if name == failing else 0))
    return ended


@pytest.fixture
def sender():
    return FakeHost(boot_id="sender's start")


@pytest.fixture
def connect_both(device, fake, sender):
    hosts = {device.host.name: fake, "sender": sender}
    return lambda host: hosts[host.name]


@pytest.fixture
def sweep_of_two(device, a_lab, staff):
    """Return a sweep whose requests come from a second host, before its start."""
    second = Host.objects.create(name="sender", kind="local")
    return order(device, a_lab, Order(recipe="ycsb", options=OPTIONS_OF_TWO, load_host=second), staff)


@pytest.fixture
def loading(sweep_of_two, connect_both, fake):
    """Return the same sweep while its load runs on the second host and telemetry on the drive's host."""
    while poll_state(sweep_of_two, connect_both) == State.RUNNING and current_stage(sweep_of_two).name != "load":
        finish(sweep_of_two, fake)
    return sweep_of_two
