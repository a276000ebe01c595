import pytest

from tests.lab_hosts.enrolled import new_enrolled, undisturbed_host, warm_connections_closed
from tests.lab_hosts.fixtures import loop_drives, new_lab_host
from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from tests.runners.lab import (
    a_lab,
    connect,
    device,
    dispatch,
    drivetest,
    evidence_of_its_own,
    fake,
    frozen_clock,
    in_state,
    new_dispatch,
    other_drive,
    running,
)
from tests.runners.sweeps import connect_both, loading, sender, sweep_of_two
from webapp.celery import app

__all__ = [
    "a_lab",
    "connect",
    "connect_both",
    "device",
    "dispatch",
    "drivetest",
    "evidence_dir",
    "evidence_of_its_own",
    "fake",
    "frozen_clock",
    "in_state",
    "loading",
    "loop_drives",
    "new_dispatch",
    "new_enrolled",
    "new_lab_host",
    "other_drive",
    "program",
    "real_reader",
    "running",
    "sender",
    "stand_in",
    "sweep_of_two",
    "undisturbed_host",
    "warm_connections_closed",
]


@pytest.fixture
def no_broker():
    before = app.conf.broker_url
    use_broker("redis+socket:///nowhere/redis.sock")
    yield
    use_broker(before)


def use_broker(url):
    app.conf.update(broker_url=url)
    vars(app.amqp)["_producer_pool"] = None  # it keeps a connection to the one before
