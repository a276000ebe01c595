"""Drives that changed between preparation and tests: the campaign finds that before it spends days on them."""

import pytest

from runners.campaigns import commands
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.requirements import missing_for_certificate
from runners.models import Dispatch, DriveState
from tests.runners.campaigns.lab import answer, newest, poll_campaign, read_as

pytestmark = pytest.mark.django_db

SAME = {"firmware": "FW1", "boot_id": "boot-1", "discards_count": 5}
CHANGES = [
    ({"firmware": "FW2"}, "the firmware changed from FW1 to FW2"),
    ({"discards_count": 6}, "trimmed or formatted"),
    ({"boot_id": "boot-2", "discards_count": 0}, "the host was rebooted"),
]


def report_states(dispatch, before=SAME, **changes):
    """Store the states of the drive before and after a dispatch, with changes between them."""
    for moment, columns in (("before", SAME | before), ("after", SAME | changes)):
        DriveState.objects.create(dispatch=dispatch, moment=moment, drive_key=dispatch.drive_key, **columns)


@pytest.fixture
def prepared(campaign):
    poll_campaign(campaign)
    report_states(newest(campaign))
    answer(newest(campaign), 30)
    return poll_campaign(campaign)


@pytest.mark.parametrize(("changes", "sentence"), CHANGES)
def test_a_changed_drive_waits_for_a_person_who_may_resume_the_campaign(prepared, staff, changes, sentence):
    report_states(newest(prepared), **changes)
    answer(newest(prepared), 30)
    poll_campaign(prepared)
    assert prepared.state == "paused"
    assert sentence in prepared.reason
    assert f"after {newest(prepared)}" in prepared.reason
    assert commands.resume(prepared, staff)
    poll_campaign(prepared)
    assert (prepared.state, prepared.dispatches.count()) == ("active", 3)
    report_states(newest(prepared), before=changes, **changes)
    answer(newest(prepared), 30)
    poll_campaign(prepared)
    assert (prepared.state, prepared.dispatches.count()) == ("active", 4)


@pytest.mark.parametrize("changes", [{}, {"firmware": None}, {"boot_id": None}, {"discards_count": None}])
def test_an_unchanged_drive_and_unreported_values_delay_nothing(prepared, changes):
    report_states(newest(prepared), **changes)
    answer(newest(prepared), 30)
    poll_campaign(prepared)
    assert (prepared.state, prepared.dispatches.count()) == ("active", 3)


@pytest.mark.parametrize(("changes", "sentence"), CHANGES)
def test_a_pair_that_a_change_voids_is_missing_at_the_end(prepared, changes, sentence):
    screening = newest(prepared)
    for purpose, nx in (("load", 30), ("stress", 60)):
        Dispatch.objects.filter(pk=screening.pk).update(purpose=purpose, nx_load=nx)
        screening.refresh_from_db()
        report_states(screening, **(changes if purpose == "load" else {}))
        read_as(screening, "0.5", "pass")
        screening = screening_after(prepared, screening)
    found = missing_for_certificate(prepared, 30, rungs_of(prepared))
    assert any(sentence in each for each in found), found


def screening_after(campaign, dispatch):
    return Dispatch.objects.create(
        **{name: getattr(dispatch, name) for name in ("organisation", "ordered_by", "device", "drive_key", "recipe",
           "slice_length_s", "duration_s")}, campaign=campaign, campaign_step=dispatch.campaign_step + 1,
        purpose="screening", nx_load=10,
    )  # fmt: skip
