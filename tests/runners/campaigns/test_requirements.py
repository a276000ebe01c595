"""What a certificate asks for is told condition by condition, with what is there or missing."""

import pytest

from results.models import Run
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.requirements import conditions_of
from runners.models import Device, Dispatch
from tests.results.rows import make_product
from tests.runners.campaigns.lab import SHORT, answer, drive_to_end, look_at, newest, prepare, read_as
from tests.runners.campaigns.test_requirements_drive_changes import tell

pytestmark = pytest.mark.django_db
ALIKE = {"over_provisioning_pct": 7}
ALL = {"a real drive", "one preparation", "load test at 30x", "stress test at 60x", "firmware", "over-prov", "product",
       "review"}  # fmt: skip


def unmet(campaign):
    """Return what is missing, by a word of each condition's name."""
    conditions = [each for each in conditions_of(campaign, rungs_of(campaign)) if not each.is_met]
    return {next((word for word in ALL if word in each.name), each.name): each.detail for each in conditions}


@pytest.fixture
def to_full_length(new_campaign, device):
    """A campaign of full-length tests on a real drive, whose states its host told."""

    def run(terms=SHORT, **stress_ends_with):
        Device.objects.update(identity_kind="nvme")
        campaign = new_campaign(terms.changed(load_s=86_400, stress_s=86_400))
        while look_at(campaign).state == "active":
            dispatch = newest(campaign)
            tell(dispatch, ALIKE, **ALIKE | (stress_ends_with if dispatch.purpose == "stress" else {}))
            if dispatch.purpose in {"load", "stress"}:
                read_as(dispatch, "0.5", "pass")
            else:
                answer(dispatch, 30)
        return campaign

    return run


@pytest.fixture
def full(to_full_length):
    return to_full_length()


def test_shortened_runs_on_a_virtual_device_lack_all(campaign):
    found = unmet(drive_to_end(campaign, limit_nx=30))
    assert set(found) == ALL
    assert found["stress test at 60x"].endswith("was of 120 seconds")
    assert found["firmware"] == "reported 0 times of 4: it cannot be shown"


# Of a host without such a counter, and of one that told nothing: the certificate itself is refused for that.
@pytest.mark.parametrize("untold", [{"discards_count": None}, {"boot_id": None}])
def test_that_a_drive_was_not_trimmed_is_met_only_where_it_is_shown(to_full_length, untold):
    told = unmet(to_full_length(**untold))["one preparation"]
    assert told.startswith("it cannot be shown when loop:1:2 was last formatted or trimmed (r-")


@pytest.mark.parametrize(("change", "sentence"), [
    ({"discards_count": 6}, "the drive was trimmed or formatted before the state after d-"),
    ({"boot_id": "boot-2"}, "the host was rebooted before the state after d-"),
])  # fmt: skip
def test_what_spoilt_the_preparation_is_told_with_the_state_that_it_was_seen_in(to_full_length, change, sentence):
    assert unmet(to_full_length(**change))["one preparation"].startswith(sentence)


def test_a_preparation_of_its_own_before_the_campaign_counts(to_full_length, new_dispatch):
    prep = new_dispatch()
    Dispatch.objects.filter(pk=prep.pk).update(recipe="prep")
    tell(prep, ALIKE, **ALIKE)
    prepare(prep)
    campaign = to_full_length(SHORT.changed(with_prep=False))
    assert set(unmet(campaign)) == {"product", "review"}
    assert campaign.missing == []


def test_without_any_preparation_that_is_what_lacks(to_full_length):
    campaign = to_full_length(SHORT.changed(with_prep=False))
    assert unmet(campaign)["one preparation"] == "no whole preparation before the tests"
    assert campaign.missing == ["prep of the drive"]


def test_what_review_adds_is_named_until_it_is_there(full):
    found = unmet(full)
    assert set(found) == {"product", "review"}
    assert found["product"].startswith("not stated for r-")
    Run.objects.update(product=make_product(), visibility="public")
    assert unmet(full) == {}


def test_a_changed_firmware_is_told_with_both(to_full_length):
    assert unmet(to_full_length(firmware="FW2"))["firmware"] == "it was FW1, FW2"
