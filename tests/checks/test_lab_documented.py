import re

from django.conf import settings

from runners.models.exit_codes import PROGRAM_FAILED, REASONS
from runners.models.states import FINAL, TRANSITIONS, State
from webapp.lab.dispatches.page import STATE_MEANINGS

LAB = (settings.BASE_DIR / "docs/reference/lab.md").read_text()


def test_the_documented_states_are_those_of_the_table():
    printed = "".join(
        f"| {state} | {', '.join(sorted(following)) or 'the end'} |\n" for state, following in TRANSITIONS.items()
    )
    between = re.search(r"<!-- states:.*?-->\n(.*?)<!-- end of states -->", LAB, re.DOTALL)
    assert between is not None
    assert between[1] == f"| state | followed by |\n|---|---|\n{printed}"


def test_every_state_has_a_meaning_for_its_page():
    assert set(STATE_MEANINGS) == set(State)


def test_every_exit_status_is_documented_here_and_in_the_formats():
    formats = (settings.BASE_DIR / "docs/reference/formats.md").read_text()
    columns = re.search(r"^\| command \|(.*)$", formats, re.MULTILINE)
    storage = re.search(r"^\| `storage` \|(.*)$", formats, re.MULTILINE)
    assert columns is not None
    assert storage is not None
    meanings = dict(zip(columns[1].split("|"), storage[1].split("|"), strict=True))
    statuses = {int(status) for status, meaning in meanings.items() if meaning.strip() not in {"", "-"}}
    assert statuses == set(REASONS) - {PROGRAM_FAILED}  # only programs of sweeps end with it
    ends = LAB.partition("how `drivetest storage` ended")[2].partition("**Lost**")[0]
    assert all(re.search(rf"\b{status} \w", ends) for status in statuses)


def test_every_fault_names_an_existing_test():
    between = LAB.partition("## Faults and their tests")[2].partition("\n## ")[0]
    rows = [line for line in between.splitlines() if line.startswith("| ") and "| test |" not in line]
    named = [re.findall(r"`(test_\w+)`", row) for row in rows]
    written = "".join(path.read_text() for path in (settings.BASE_DIR / "tests").rglob("test_*.py"))
    assert all(named)
    assert [name for names in named for name in names if f"def {name}(" not in written] == []


def test_states_called_final_on_a_page_are_final():
    assert {state for state, following in TRANSITIONS.items() if not following} == FINAL
