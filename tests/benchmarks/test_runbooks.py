"""The measurement of the runbooks, with a shell that only remembers."""

from runbooks import FALLBACKS, NAME, follow

from scripts.runbooks.clean_machine import Ended
from scripts.runbooks.commands import Command

POSTGRESQL, (INSTEAD, _) = next(iter(FALLBACKS.items()))


class RememberingShell:
    """A shell that ends commands of `failing` with 1, and prints `output`."""

    def __init__(self, failing=(), output=""):
        self.failing, self.output, self.commands = failing, output, []

    def run(self, text, limit_s):
        self.commands.append(text)
        return Ended(int(text in self.failing), self.output, 1.5)


def commands(*texts):
    return [Command(number, f"Step {number}", text) for number, text in enumerate(texts, 1)]


def test_each_step_has_its_time_and_what_must_exist_before_comes_first():
    shell, ready = RememberingShell(), []
    outcome = follow(commands("one", "two x"), shell, {"two": lambda _: ready.append(list(shell.commands))})
    assert (shell.commands, ready) == (["one", "two x"], [["one"]])
    assert [(step.number, step.seconds, step.commands) for step in outcome.steps] == [(1, 1.5, 1), (2, 1.5, 1)]
    assert (outcome.seconds, outcome.has_problems, outcome.differences) == (3.0, False, [])


def test_nothing_runs_after_a_command_that_failed():
    shell = RememberingShell(failing={"two"}, output="why")
    outcome = follow(commands("one", "two", "three"), shell, {})
    assert shell.commands == ["one", "two"]
    assert outcome.steps[-1].problems == ["`two`: expected 0, got 1 and why"]


def test_a_command_that_cannot_work_here_is_replaced_and_listed():
    shell = RememberingShell(failing={POSTGRESQL})
    outcome = follow(commands(POSTGRESQL, "two"), shell, {})
    assert shell.commands == [POSTGRESQL, INSTEAD, "two"]
    assert (outcome.steps[0].seconds, outcome.has_problems) == (3.0, False)
    assert POSTGRESQL in outcome.differences[0]
    assert INSTEAD in outcome.differences[0]


def test_the_output_must_show_what_the_runbook_says():
    command = f"curl --fail https://{NAME}/readyz"
    for status, has_problems in (('{"status": "ready"}', False), ('{"status": "degraded"}', True)):
        assert follow(commands(command), RememberingShell(output=status), {}).has_problems is has_problems
