"""A drive that was changed between its preparation and its tests: the campaign sees it before days are spent on it."""

import pytest

from runners.campaigns import commands
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.requirements import missing_for_certificate
from runners.models import Dispatch, DriveState
from tests.runners.campaigns.lab import answer, look_at, newest, read_as

pytestmark = pytest.mark.django_db

SAME = {"firmware": "FW1", "boot_id": "boot-1", "discards_count": 5}
CHANGES = [
    ({"firmware": "FW2"}, "the firmware changed from FW1 to FW2"),
    ({"discards_count": 6}, "trimmed or formatted"),
    ({"boot_id": "boot-2", "discards_count": 0}, "the host was rebooted"),
]


def tell(dispatch, before=SAME, **changes):
    """Keep how the drive stood before and after a dispatch, changed in between."""
    for moment, told in (("before", SAME | before), ("after", SAME | changes)):
        DriveState.objects.create(dispatch=dispatch, moment=moment, drive_key=dispatch.drive_key, **told)


@pytest.fixture
def prepared(campaign):
    look_at(campaign)
    tell(newest(campaign))
    answer(newest(campaign), 30)
    return look_at(campaign)


@pytest.mark.parametrize(("changes", "sentence"), CHANGES)
def test_a_changed_drive_waits_for_a_person_who_may_let_it_go_on(prepared, staff, changes, sentence):
    tell(newest(prepared), **changes)
    answer(newest(prepared), 30)
    look_at(prepared)
    assert prepared.state == "paused"
    assert sentence in prepared.reason
    assert f"after {newest(prepared)}" in prepared.reason
    assert commands.resume(prepared, staff)
    look_at(prepared)
    assert (prepared.state, prepared.dispatches.count()) == ("active", 3)
    tell(newest(prepared), before=changes, **changes)
    answer(newest(prepared), 30)
    look_at(prepared)
    assert (prepared.state, prepared.dispatches.count()) == ("active", 4)


@pytest.mark.parametrize("changes", [{}, {"firmware": None}, {"boot_id": None}, {"discards_count": None}])
def test_an_unchanged_drive_and_what_nobody_told_hold_nothing_up(prepared, changes):
    tell(newest(prepared), **changes)
    answer(newest(prepared), 30)
    look_at(prepared)
    assert (prepared.state, prepared.dispatches.count()) == ("active", 3)


@pytest.mark.parametrize(("changes", "sentence"), CHANGES)
def test_a_pair_that_a_change_voids_lacks_that_at_the_end(prepared, changes, sentence):
    screening = newest(prepared)
    for purpose, nx in (("load", 30), ("stress", 60)):
        Dispatch.objects.filter(pk=screening.pk).update(purpose=purpose, nx_load=nx)
        screening.refresh_from_db()
        tell(screening, **(changes if purpose == "load" else {}))
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
