import re
from pathlib import Path

from results.lifecycle.submission_states import SubmissionState
from results.lifecycle.visibility import TRANSITIONS

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "intake.md"


def test_the_table_has_exactly_the_states_of_a_submission():
    table = DOCUMENT.read_text().split("## States of a submission")[1].split("## ")[0]
    documented = re.findall(r"^\| ([a-z-]+) \|", table, re.MULTILINE)
    assert [state for state in documented if state != "state"] == SubmissionState.values


def test_the_table_has_exactly_the_transitions_of_a_run():
    table = DOCUMENT.read_text().split("## Life of a result")[1].split("\n* ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    documented = {name: (set(before.split(", ")), set(after.split(", ")), own, means)
                  for name, before, after, own, means in rows[2:]}  # fmt: skip
    assert documented == {
        move.name: (set(move.before), set(move.after), "no" if move.is_approval else "yes", move.meaning)
        for move in TRANSITIONS.values()
    }


def test_only_one_module_changes_the_visibility_of_a_run():
    writes = re.compile(r"\.visibility = |update\([^)]*visibility=")
    sources = [path for folder in ("results", "runners", "webapp") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in sources if writes.search(path.read_text())}
    assert found == {"results/lifecycle/visibility.py"}
