"""The requirements of a certificate, met and missing."""

import pytest

from results.models import Run
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.requirements import conditions_of
from runners.models import Device, Dispatch
from tests.results.rows import make_product
from tests.runners.campaigns.lab import SHORT, answer, drive_to_end, newest, poll_campaign, prepare, read_as
from tests.runners.campaigns.test_requirements_drive_changes import report_states

pytestmark = pytest.mark.django_db
SAME_STATE = {"over_provisioning_pct": 7}
ALL = {"a real drive", "one preparation", "load test at 30x", "stress test at 60x", "firmware", "over-prov", "product",
       "review"}  # fmt: skip


def unmet(campaign):
    """Return the unmet requirements, by a part of each name."""
    conditions = [each for each in conditions_of(campaign, rungs_of(campaign)) if not each.is_met]
    return {next((word for word in ALL if word in each.name), each.name): each.detail for each in conditions}


@pytest.fixture
def to_full_length(new_campaign, device):
    """Return a campaign of full-length tests on a real drive, whose states its host reported."""

    def run(terms=SHORT, **stress_ends_with):
        Device.objects.update(identity_kind="nvme")
        campaign = new_campaign(terms.changed(load_s=86_400, stress_s=86_400))
        while poll_campaign(campaign).state == "active":
            dispatch = newest(campaign)
            report_states(
                dispatch, SAME_STATE, **SAME_STATE | (stress_ends_with if dispatch.purpose == "stress" else {})
            )
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
    assert found["stress test at 60x"].endswith("was ordered for 120 seconds")
    assert found["firmware"] == "reported 0 times of 4: it cannot be shown"


# A host without such a counter, and one that reports no boot: the certificate itself is refused for that.
@pytest.mark.parametrize("missing", [{"discards_count": None}, {"boot_id": None}])
def test_the_requirement_of_no_trim_is_met_only_if_it_is_proved(to_full_length, missing):
    message = unmet(to_full_length(**missing))["one preparation"]
    assert message.startswith("it cannot be shown when loop:1:2 was last formatted or trimmed (r-")


@pytest.mark.parametrize(("change", "sentence"), [
    ({"discards_count": 6}, "the drive was trimmed or formatted before the state after d-"),
    ({"boot_id": "boot-2"}, "the host was rebooted before the state after d-"),
])  # fmt: skip
def test_a_voided_preparation_is_shown_with_the_drive_state_that_voids_it(to_full_length, change, sentence):
    assert unmet(to_full_length(**change))["one preparation"].startswith(sentence)


def test_a_preparation_of_its_own_before_the_campaign_counts(to_full_length, new_dispatch):
    prep = new_dispatch()
    Dispatch.objects.filter(pk=prep.pk).update(recipe="prep")
    report_states(prep, SAME_STATE, **SAME_STATE)
    prepare(prep)
    campaign = to_full_length(SHORT.changed(with_prep=False))
    assert set(unmet(campaign)) == {"product", "review"}
    assert campaign.missing == []


def test_without_any_preparation_the_preparation_is_missing(to_full_length):
    campaign = to_full_length(SHORT.changed(with_prep=False))
    assert unmet(campaign)["one preparation"] == "no whole preparation before the tests"
    assert campaign.missing == ["prep of the drive"]


def test_requirements_of_the_review_are_named_until_they_are_met(full):
    found = unmet(full)
    assert set(found) == {"product", "review"}
    assert found["product"].startswith("not stated for r-")
    Run.objects.update(product=make_product(), visibility="public", predates_approvals=True)
    assert unmet(full) == {}


def test_a_changed_firmware_is_shown_with_both_versions(to_full_length):
    assert unmet(to_full_length(firmware="FW2"))["firmware"] == "it was FW1, FW2"
