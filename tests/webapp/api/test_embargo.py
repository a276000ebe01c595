"""A script states, moves and ends an embargo as the form does."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from results.models import Product, Run, Submission, Visibility

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]


# Of one moment for a whole test: asked of the clock each time, the minute may change between two of its lines.
NOW = timezone.now().replace(second=0, microsecond=0)


def minute(**ahead):
    return NOW + timedelta(**ahead)


def post(client, until, **headers):
    log = SimpleUploadedFile("load.log", b"log")
    return client.post("/api/v1/submissions/", {"log": log, "embargo_until": until}, headers=headers)


def move(client, submission, until):
    path = f"/api/v1/submissions/{submission.public_id}/embargo/"
    return client.post(path, {"embargo_until": until}, content_type="application/json")


@pytest.fixture
def submission(script):
    assert post(script, minute(days=1).isoformat()).status_code == 201
    return Submission.objects.get()


def test_a_log_is_sent_with_its_embargo(script, submission):
    assert submission.embargo_until == minute(days=1)
    (told,) = script.get("/api/v1/submissions/").json()["results"]
    assert told["embargo_until"] == f"{minute(days=1):%Y-%m-%dT%H:%M}:00Z"


@pytest.mark.parametrize("until", ["soon", "2020-01-01T00:00Z", "2027-01-01T00:00:30Z"])
def test_a_moment_that_is_none_is_a_problem_of_its_field(script, until):
    answer = post(script, until)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["embargo_until"]
    assert not Submission.objects.exists()


def test_it_is_moved_and_ended(script, submission):
    product = Product.objects.create(slug="ex4", category="nvme-flash", vendor="Exemplar", model="EX4")
    Run.objects.create(
        submission=submission, product=product, tier="reviewed", visibility="embargoed", statistic="overall"
    )
    later = move(script, submission, f"{minute(days=2):%Y-%m-%dT%H:%MZ}")
    assert (later.status_code, later.json()["runs"][0]["visibility"]) == (200, "embargoed")
    ended = move(script, submission, None)
    assert (ended.json()["embargo_until"], ended.json()["runs"][0]["visibility"]) == (None, "public")
    refused = move(script, submission, minute(days=2).isoformat())
    assert (refused.status_code, "an embargo cannot hide it again" in refused.json()["detail"]) == (409, True)
    assert Run.objects.get().visibility == Visibility.PUBLIC


def test_known_bytes_with_another_moment_move_it(script, submission):
    answer = post(script, minute(days=4).isoformat())
    assert (answer.status_code, answer.json()["embargo_until"]) == (200, f"{minute(days=4):%Y-%m-%dT%H:%M}:00Z")


def test_a_request_tried_again_under_its_key_takes_back_no_later_moment(script):
    first, later = minute(days=1), minute(days=2)
    assert post(script, first.isoformat(), idempotency_key="night-1").status_code == 201
    submission = Submission.objects.get()
    move(script, submission, later.isoformat())
    assert post(script, first.isoformat(), idempotency_key="night-1").status_code == 200
    submission.refresh_from_db()
    assert submission.embargo_until == later
    post(script, first.isoformat(), idempotency_key="night-2")  # a new request states it anew
    submission.refresh_from_db()
    assert submission.embargo_until == first


def test_known_bytes_that_were_public_take_no_moment(script, submission):
    product = Product.objects.create(slug="ex4", category="nvme-flash", vendor="Exemplar", model="EX4")
    Run.objects.create(
        submission=submission, product=product, tier="reviewed", visibility="public", statistic="overall"
    )
    refused = post(script, minute(days=4).isoformat())
    assert refused.status_code == 409
    assert f"These bytes are submission {submission.public_id} already." in refused.json()["detail"]
    submission.refresh_from_db()
    assert submission.embargo_until == minute(days=1)


def test_known_bytes_may_state_their_moment_once_more_when_it_has_passed(script, submission):
    passed = minute(minutes=-5)
    Submission.objects.update(embargo_until=passed)
    Run.objects.create(submission=submission, tier="reviewed", visibility="public", statistic="overall")
    assert post(script, passed.isoformat()).status_code == 200
    refused = post(script, (passed - timedelta(minutes=1)).isoformat())
    assert (refused.status_code, [error["field"] for error in refused.json()["errors"]]) == (400, ["embargo_until"])


def test_files_that_come_too_late_are_refused_and_the_moment_holds(script, submission):
    submission.log.readings.update(state="done")
    log, late = SimpleUploadedFile("load.log", b"log"), SimpleUploadedFile("load.err", b"late")
    told = {"log": log, "companions": [late], "embargo_until": minute(days=4).isoformat()}
    refused = script.post("/api/v1/submissions/", told)
    assert (refused.status_code, "load.err" in refused.json()["detail"]) == (409, True)
    assert "The embargo of the submission was changed as stated." in refused.json()["detail"]
    submission.refresh_from_db()
    assert submission.embargo_until == minute(days=4)


def test_a_change_without_a_moment_is_refused(script, submission):
    answer = script.post(f"/api/v1/submissions/{submission.public_id}/embargo/", {}, content_type="application/json")
    assert answer.status_code == 400
    submission.refresh_from_db()
    assert submission.embargo_until == minute(days=1)


def test_another_organisation_s_submission_is_not_there(script, submission, exemplar, otto):
    submission.organisation = otto.memberships.get().organisation
    Submission.objects.filter(pk=submission.pk).update(organisation=submission.organisation)
    assert move(script, submission, None).status_code == 404
