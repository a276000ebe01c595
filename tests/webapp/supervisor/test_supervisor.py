"""The supervisor after its terminal has closed, and its example runs. Tests in tests/faults kill whole registers."""

import contextlib
import signal
from types import SimpleNamespace

import pytest
from django.db import OperationalError

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


@pytest.fixture
def supervisor(tmp_path, monkeypatch):
    """A supervisor that records its messages and the programs that it would start."""
    monkeypatch.setattr(module, "database_connected", lambda _url: contextlib.nullcontext())
    reported = []
    supervisor = Supervisor(tmp_path, Address("127.0.0.1", 8000), reported.append)
    supervisor.reported, supervisor.started = reported, []
    monkeypatch.setattr(supervisor, "_start_program", supervisor.started.append)
    return supervisor


@pytest.mark.parametrize(
    ("is_wanted", "was_created", "programs"), [(True, False, ["examples"]), (True, True, []), (False, False, [])]
)
def test_the_examples_are_created_once_and_only_if_the_settings_want_them(
    supervisor, settings, monkeypatch, is_wanted, was_created, programs
):
    settings.EXAMPLE_RUNS = is_wanted
    monkeypatch.setattr(module.examples, "was_created", lambda: was_created)
    supervisor._create_examples({})
    assert [program.name for program in supervisor.started] == programs
    assert all(program.runs_once and program.command[-2:] == ["demo", "--once"] for program in supervisor.started)


def test_a_database_that_does_not_answer_stops_the_examples_and_nothing_else(supervisor, settings, monkeypatch):
    def refuse():
        raise OperationalError("gone")

    settings.EXAMPLE_RUNS = True
    monkeypatch.setattr(module.examples, "was_created", refuse)
    supervisor._create_examples({})
    assert (supervisor.started, supervisor.reported) == ([], ["the example runs were not created: gone"])


def ended_child(status, *, has_ended=True):
    return SimpleNamespace(
        program=SimpleNamespace(name="examples", runs_once=True),
        process=SimpleNamespace(returncode=status),
        has_ended=lambda: has_ended,
        log_excerpt=lambda: "the reason",
    )


@pytest.mark.parametrize(("status", "messages"), [(0, []), (1, ["examples failed. the reason"])])
def test_a_program_that_runs_once_is_forgotten_and_only_a_failure_is_reported(supervisor, status, messages):
    child = ended_child(status)
    supervisor.children = [child]
    supervisor._let_end(child)
    assert (supervisor.children, supervisor.reported) == ([], messages)


def test_a_program_that_still_runs_is_kept(supervisor):
    child = ended_child(None, has_ended=False)
    supervisor.children = [child]
    supervisor._let_end(child)
    assert (supervisor.children, supervisor.reported) == ([child], [])
