import re
from pathlib import Path

from results.submission_states import SubmissionState

DOCUMENT = Path(__file__).parents[2] / "docs" / "intake.md"


def test_every_state_of_a_submission_is_in_the_table_and_no_other():
    table = DOCUMENT.read_text().split("## States of a submission")[1].split("## ")[0]
    documented = re.findall(r"^\| ([a-z-]+) \|", table, re.MULTILINE)
    assert [state for state in documented if state != "state"] == SubmissionState.values
