"""What the supervisor does when its terminal is gone; whole registers are killed in tests/faults."""

import signal

import pytest

from webapp.supervisor import supervisor as module
from webapp.supervisor.address import Address
from webapp.supervisor.supervisor import STOP_SIGNALS, Supervisor


class StoppableChild:
    """Remembers that it was asked to stop."""

    is_stopped = False

    def stop(self):
        self.is_stopped = True


@pytest.fixture
def _signals_as_before():
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_signals_as_before")
def test_a_closed_terminal_does_not_keep_children_from_being_stopped(tmp_path, monkeypatch):
    def say_into_nothing(*_):
        raise BrokenPipeError

    monkeypatch.setattr(module, "tell_running", say_into_nothing)
    supervisor = Supervisor(tmp_path, Address("127.0.0.1", 8000), print)
    supervisor.database_url = "postgresql:///register"
    supervisor.embedded.make_places()
    child = StoppableChild()
    supervisor.children = [child]
    supervisor._stop()
    assert child.is_stopped
