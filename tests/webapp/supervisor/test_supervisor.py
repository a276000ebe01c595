"""The supervisor after its terminal has closed. Tests in tests/faults kill whole registers."""

import signal

import pytest

from webapp.supervisor import supervisor as module
from webapp.supervisor.address import Address
from webapp.supervisor.supervisor import STOP_SIGNALS, Supervisor


class StoppableChild:
    """A child that records its stop."""

    is_stopped = False

    def stop(self):
        self.is_stopped = True


@pytest.fixture
def _restored_signals():
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_restored_signals")
def test_children_are_stopped_after_the_terminal_closed(tmp_path, monkeypatch):
    def write_to_closed_terminal(*_):
        raise BrokenPipeError

    monkeypatch.setattr(module, "running_message", write_to_closed_terminal)
    supervisor = Supervisor(tmp_path, Address("127.0.0.1", 8000), print)
    supervisor.database_url = "postgresql:///register"
    supervisor.directory.create()
    child = StoppableChild()
    supervisor.children = [child]
    supervisor._stop()
    assert child.is_stopped


def test_a_command_in_another_terminal_gets_the_port_of_the_register(tmp_path):
    supervisor = Supervisor(tmp_path, Address("127.0.0.1", 8123), print)
    supervisor.directory.create()
    assert supervisor._default_settings()["PORT"] == "8123"
