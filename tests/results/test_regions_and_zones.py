"""Region and zone of a cloud instance: stated with a log or for a lab host, stored and corrected."""

from dataclasses import replace

import pytest

from results.ingest.queue import sweep
from results.ingest.rows import record_runs
from results.lifecycle.corrections import correct, take_back
from results.models import Profile, Run
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user, recorded_reading, send

pytestmark = pytest.mark.django_db
LOCATED = replace(FACTS, region="us-east-1", zone="us-east-1a")


@pytest.mark.parametrize(("facts", "location"), [(LOCATED, ("us-east-1", "us-east-1a")), (FACTS, ("", ""))])
def test_a_run_has_the_location_that_its_sender_states(evidence_dir, stand_in, facts, location):
    submission = send(make_organisation(), log_bytes("slow-disk-ms"), facts=facts)
    sweep()
    run = submission.runs.get()
    assert (run.region, run.zone) == location


def test_a_repeated_reading_does_not_change_the_location_of_a_run(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("slow-disk-ms"), facts=LOCATED)
    sweep()
    submission.runs.update(zone="us-east-1b")
    record_runs(submission.log.readings.get(), recorded_reading("slow-disk-ms"), Profile.objects.get())
    assert submission.runs.get().zone == "us-east-1b"


def test_a_location_can_be_corrected_and_the_correction_reversed(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("slow-disk-ms"), facts=LOCATED)
    sweep()
    rita = make_user("rita", is_reviewer=True)
    event = correct(submission.runs.get(), {"zone": "us-east-1f"}, rita, "The sender mistook it.")
    assert (Run.objects.get().zone, event.details["changes"]) == ("us-east-1f", {"zone": ["us-east-1a", "us-east-1f"]})
    take_back(event, rita, "It was right.")
    assert Run.objects.get().zone == "us-east-1a"
