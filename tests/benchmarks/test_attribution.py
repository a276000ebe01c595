"""What is expected of a run if the drive, the host, both or neither is overloaded."""

import pytest
from attribution import CASES, FULL_VOTE, NO_FAILURE, ONE_VOTE, differences, reported, row

DRIVE, HOST, BOTH, NEITHER = CASES
CLAUSE = "; the host may be the cause: "


def document(findings, host_causes, outcome="fail"):
    clause = CLAUSE + " and ".join(host_causes) if host_causes and outcome == "fail" else ""
    run = {
        "findings": [{"id": each} for each in findings],
        "side_file": {"host_causes": host_causes},
        "verdict": {"outcome": outcome, "headline": f"{outcome}s: slice 1{clause}"},
    }
    return {"runs": [run]}


RUNS = {
    DRIVE: document(["rate-below-asked"], []),
    HOST: document(["generator-late", "host-busy"], ["generator-late", "host-busy"]),
    BOTH: document(["rate-below-asked", "generator-late"], ["generator-late"]),
    NEITHER: document(["device-virtual"], [], "undecided"),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_run_is_as_expected_in_its_own_case_only(case):
    # An overloaded host ends a run so late that its rate may not count as sustained.
    is_alike = case is HOST
    for other, printed in RUNS.items():
        expected = case is other or (is_alike and other is BOTH)
        assert (differences(case, reported(printed, 0.0)) == []) == expected, other.name


@pytest.mark.parametrize(
    ("case", "vote"), [(DRIVE, FULL_VOTE), (HOST, ONE_VOTE), (BOTH, ONE_VOTE), (NEITHER, NO_FAILURE)]
)
def test_the_campaign_votes_by_what_is_overloaded(case, vote):
    assert reported(RUNS[case], 0.0).vote == case.vote == vote


def test_a_busy_host_of_a_full_drive_is_no_difference():
    printed = document(["rate-below-asked", "host-busy"], [])
    assert differences(DRIVE, reported(printed, 0.0)) == []


def test_a_run_counts_only_if_the_drive_was_on_time():
    assert differences(HOST, reported(RUNS[HOST], 1.0)) == []
    assert differences(HOST, reported(RUNS[HOST], 1.25)) == ["the drive sent 1.2 % of its replies late"]


def test_each_difference_is_named():
    late = document(["rate-below-asked", "generator-late"], ["generator-late"])
    assert differences(DRIVE, reported(late, 0.0)) == [
        "unexpected generator-late",
        "host_causes: generator-late",
        f"headline: fails: slice 1{CLAUSE}generator-late",
        "one vote instead of full vote",
    ]


def test_a_row_counts_findings_and_votes():
    runs = [reported(RUNS[BOTH], 0.0), reported(RUNS[BOTH], 0.3), reported(RUNS[DRIVE], 0.1)]
    assert row("file | threads", BOTH, runs) == (
        "| file | threads | both overloaded | one vote | 2 of 3 | 3 | 2 | 0 | 2 | 1 | 2 | 0.3 |"
    )
