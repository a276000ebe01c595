"""The basis of a verdict: its profile, its slices, and the way to a reading in other slices."""

import json

import pytest

from results.models import Evidence, Profile, Run
from webapp.register.runs.verdict_basis import OTHER_SLICES, basis_sentence

NAMED = "Judged under profile operational-database, rule version 1"


@pytest.mark.parametrize(
    ("slice_length_s", "sentence"),
    [
        (3600, f"{NAMED}, in slices of 1 hour."),
        (3605, f"{NAMED}, in slices of 3,605 seconds. The profile requires slices of 1 hour. {OTHER_SLICES}"),
        (120, f"{NAMED}, in slices of 2 minutes. The profile requires slices of 1 hour. {OTHER_SLICES}"),
        (None, f"{NAMED}."),
    ],
)
def test_the_sentence_names_profile_and_slices(slice_length_s, sentence):
    document = json.dumps({"slice_length_s": 3600})
    profile = Profile(name="operational-database", rule_version=1, document=document)
    assert basis_sentence(Run(slice_length_s=slice_length_s), profile) == sentence


@pytest.mark.django_db
@pytest.mark.parametrize(("slice_length_s", "is_linked"), [(10, True), (3600, False)])
def test_a_run_in_other_slices_than_its_profile_leads_to_another_reading(
    client, make_log_run, slice_length_s, is_linked
):
    run = make_log_run(slice_length_s=slice_length_s)
    text = client.get(f"/runs/{run.public_id}/").text
    way = f'<a href="/runs/{run.public_id}/log">the log of this run</a> in other slices, send it to <a href="/try/">'
    assert (NAMED in text, way in text, OTHER_SLICES in text) == (True, is_linked, is_linked)
    Evidence.objects.filter(pk=run.reading.evidence_id).update(sequestered=True)
    assert way not in client.get(f"/runs/{run.public_id}/").text
