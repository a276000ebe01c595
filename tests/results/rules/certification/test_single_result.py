"""The requirements of a load test, checked for one result alone."""

from dataclasses import replace
from decimal import Decimal

import pytest

from results.rules.certification.facts import CandidateRun, DriveInRun, DriveState, Preparation
from results.rules.certification.single_result import met_by_result, requirements_on_drives

DAY_S = 86_400
STATE = DriveState("FW1", Decimal(7), reset_at_s=1_000)
DRIVE = DriveInRun("nvme:EX4:S1", Preparation("p-1", 2_000, 9_000, "e-1"), before=STATE, after=STATE)
COMPLETE = CandidateRun("r-1", "pass", "finished", 60_000, 30_000, 1, DAY_S, False, 10_000, drives=(DRIVE,))


def missing(run):
    of_result = [name for name, is_met in met_by_result(run, DAY_S).items() if not is_met]
    return of_result + [each.id for each in requirements_on_drives(run) if not each.is_shown]


def test_a_complete_load_test_meets_every_requirement():
    assert missing(COMPLETE) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"outcome": "fail"}, ["load"]),
        ({"outcome": ""}, ["load"]),
        ({"duration_s": DAY_S - 1}, ["duration"]),
        ({"duration_s": None}, ["duration"]),
        ({"device_count": None}, ["device-count", "rates"]),
        ({"reads_per_s": None}, ["rates"]),
        ({"is_virtual": True}, ["real-drives"]),
        ({"is_virtual": None}, ["real-drives"]),
        ({"drives": None}, ["drives", "preparation", "firmware", "over-provisioning"]),
        ({"drives": (replace(DRIVE, preparation=None),)}, ["preparation"]),
        ({"drives": (replace(DRIVE, after=replace(STATE, firmware="FW2")),)}, ["firmware"]),
        ({"drives": (replace(DRIVE, after=None),)}, ["preparation", "firmware", "over-provisioning"]),
    ],
)
def test_each_fact_that_is_not_shown_is_missing(changes, expected):
    assert missing(replace(COMPLETE, **changes)) == expected
