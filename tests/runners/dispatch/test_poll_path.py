"""The path of a poll of a running dispatch: few modules, only downward calls, and one name for the dispatch."""

import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from runners.models import Dispatch
from tests.runners.lab import poll_state

pytestmark = pytest.mark.django_db
RUNNERS = Path(settings.BASE_DIR) / "runners"
CONTRACTS = tomllib.loads((RUNNERS.parent / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS = next(contract["layers"] for contract in CONTRACTS if contract.get("containers") == ["runners"])


def layer_of(file):
    return LAYERS.index(file.split("/")[0].removesuffix(".py"))


def module_of(frame):
    path = Path(frame.f_code.co_filename) if frame else RUNNERS.parent
    return str(path.relative_to(RUNNERS)) if path.is_relative_to(RUNNERS) else None


@contextmanager
def calls_with_a_dispatch():
    """Yield a list that gets the module, the caller's module and the parameter of each call that passes a dispatch."""
    calls = []

    def note(frame, event, _):
        module = module_of(frame) if event == "call" else None
        code = frame.f_code
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if module else ()
        passed = [name for name in parameters if isinstance(frame.f_locals.get(name), Dispatch)]
        calls.extend((module, module_of(frame.f_back), name) for name in passed)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def test_a_poll_passes_the_dispatch_through_seven_modules_and_never_upwards(running, connect, fake):
    fake.write_log(running.public_id, b"another line\n")
    with calls_with_a_dispatch() as calls:
        poll_state(running, connect)
    assert {module for module, _, _ in calls} == {
        "dispatch/failures.py",
        "dispatch/poll_scheduler.py",
        "dispatch/steps.py",
        "lifecycle/stages.py",
        "models/dispatch_rows.py",
        "monitoring/connectivity.py",
        "recipes/act.py",
    }
    assert {name for _, _, name in calls} == {"dispatch"}
    upwards = [(caller, module) for module, caller, _ in calls if caller and layer_of(module) < layer_of(caller)]
    assert upwards == []
