"""Facts of single logs of an archive, which the sender states on the page of the submission."""

import pytest

from results.ingest.queue import sweep
from results.models import Event, Run
from tests.results.builders import log_bytes, make_user, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]
BUTTON = "Store facts of"


@pytest.fixture
def run(exemplar, vera):
    submission = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    submission.runs.update(member="monday/load.log", firmware="FW1")
    return submission.runs.get()


def state(client, run, **facts):
    form = {"run": run.public_id, "firmware": "FW1"} | facts
    return client.post(f"/submissions/{run.submission.public_id}/run-facts/", form, follow=True)


def test_the_sender_states_other_facts_about_one_log(as_user, vera, run):
    client = as_user(vera)
    assert BUTTON in client.get(f"/submissions/{run.submission.public_id}/").text
    page = state(client, run, firmware="FW2", over_provisioning_pct="7", notes="second slot").text
    assert "The facts about monday/load.log are stored." in page
    run.refresh_from_db()
    assert (run.firmware, run.over_provisioning_pct, run.notes) == ("FW2", 7, "second slot")
    event = Event.objects.get(kind="run-corrected")
    assert (event.actor, event.details["changes"]["firmware"]) == (vera, ["FW1", "FW2"])


@pytest.mark.parametrize("columns", [{"member": ""}, {"visibility": "public", "predates_approvals": True}])
def test_a_plain_log_and_a_reviewed_one_are_not_changed(as_user, vera, run, columns):
    Run.objects.filter(pk=run.pk).update(**columns)
    client = as_user(vera)
    assert BUTTON not in client.get(f"/submissions/{run.submission.public_id}/").text
    assert "only of a log in an archive" in state(client, run, firmware="FW2").text
    run.refresh_from_db()
    assert run.firmware == "FW1"


def test_equal_or_impossible_values_and_other_runs_are_refused(as_user, vera, run):
    client = as_user(vera)
    assert "already has these values" in state(client, run).text
    assert "Nothing was changed." in state(client, run, over_provisioning_pct="-1").text
    unknown = {"run": "r-nothere", "firmware": "FW2"}
    assert client.post(f"/submissions/{run.submission.public_id}/run-facts/", unknown).status_code == 404
    assert not Event.objects.filter(kind="run-corrected").exists()


def test_only_owners_and_submitters_of_the_organisation_state_facts(as_user, exemplar, rita, otto, run):
    viewer = make_user("vito")
    viewer.memberships.create(organisation=exemplar, role="viewer")
    for person, status in [(viewer, 403), (rita, 403), (otto, 404)]:
        assert state(as_user(person), run, firmware="FW2").status_code == status
    run.refresh_from_db()
    assert run.firmware == "FW1"
