"""Embargoes in the API: stated, moved and ended as in the form."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from results.models import Product, Run, Submission, Visibility

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]


# One moment for a whole test: with the clock, the minute could change between two of its lines.
NOW = timezone.now().replace(second=0, microsecond=0)


def minute(**ahead):
    return NOW + timedelta(**ahead)


def post(client, until, **headers):
    log = SimpleUploadedFile("load.log", b"log")
    return client.post("/api/v1/submissions/", {"log": log, "embargo_until": until}, headers=headers)


def patch(client, submission, until):
    path = f"/api/v1/submissions/{submission.public_id}/embargo/"
    return client.post(path, {"embargo_until": until}, content_type="application/json")


@pytest.fixture
def submission(script):
    assert post(script, minute(days=1).isoformat()).status_code == 201
    return Submission.objects.get()


def test_a_log_is_submitted_with_its_embargo(script, submission):
    assert submission.embargo_until == minute(days=1)
    (told,) = script.get("/api/v1/submissions/").json()["results"]
    assert told["embargo_until"] == f"{minute(days=1):%Y-%m-%dT%H:%M}:00Z"


@pytest.mark.parametrize("until", ["soon", "2020-01-01T00:00Z", "2027-01-01T00:00:30Z"])
def test_an_invalid_date_is_a_problem_of_its_field(script, until):
    answer = post(script, until)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["embargo_until"]
    assert not Submission.objects.exists()


def test_an_embargo_is_moved_and_ended(script, submission):
    product = Product.objects.create(slug="ex4", category="nvme-flash", vendor="Exemplar", model="EX4")
    Run.objects.create(
        submission=submission,
        product=product,
        tier="reviewed",
        visibility="embargoed",
        statistic="overall",
        predates_approvals=True,
    )
    later = patch(script, submission, f"{minute(days=2):%Y-%m-%dT%H:%MZ}")
    assert (later.status_code, later.json()["runs"][0]["visibility"]) == (200, "embargoed")
    ended = patch(script, submission, None)
    assert (ended.json()["embargo_until"], ended.json()["runs"][0]["visibility"]) == (None, "public")
    refused = patch(script, submission, minute(days=2).isoformat())
    assert (refused.status_code, "an embargo cannot hide it again" in refused.json()["detail"]) == (409, True)
    assert Run.objects.get().visibility == Visibility.PUBLIC


def test_a_known_log_with_another_date_moves_the_embargo(script, submission):
    answer = post(script, minute(days=4).isoformat())
    assert (answer.status_code, answer.json()["embargo_until"]) == (200, f"{minute(days=4):%Y-%m-%dT%H:%M}:00Z")


def test_a_repeated_request_under_its_key_does_not_undo_a_later_date(script):
    first, later = minute(days=1), minute(days=2)
    assert post(script, first.isoformat(), idempotency_key="night-1").status_code == 201
    submission = Submission.objects.get()
    patch(script, submission, later.isoformat())
    assert post(script, first.isoformat(), idempotency_key="night-1").status_code == 200
    submission.refresh_from_db()
    assert submission.embargo_until == later
    post(script, first.isoformat(), idempotency_key="night-2")  # a new request states the date again
    submission.refresh_from_db()
    assert submission.embargo_until == first


def test_a_log_that_was_public_accepts_no_date(script, submission):
    product = Product.objects.create(slug="ex4", category="nvme-flash", vendor="Exemplar", model="EX4")
    Run.objects.create(
        submission=submission,
        product=product,
        tier="reviewed",
        visibility="public",
        statistic="overall",
        predates_approvals=True,
    )
    refused = post(script, minute(days=4).isoformat())
    assert refused.status_code == 409
    assert f"These bytes are submission {submission.public_id} already." in refused.json()["detail"]
    submission.refresh_from_db()
    assert submission.embargo_until == minute(days=1)


def test_a_known_log_may_repeat_its_date_after_it_has_passed(script, submission):
    passed = minute(minutes=-5)
    Submission.objects.update(embargo_until=passed)
    Run.objects.create(
        submission=submission, tier="reviewed", visibility="public", statistic="overall", predates_approvals=True
    )
    assert post(script, passed.isoformat()).status_code == 200
    refused = post(script, (passed - timedelta(minutes=1)).isoformat())
    assert (refused.status_code, [error["field"] for error in refused.json()["errors"]]) == (400, ["embargo_until"])


def test_late_files_are_refused_and_the_date_is_kept(script, submission):
    submission.log.readings.update(state="done")
    log, late = SimpleUploadedFile("load.log", b"log"), SimpleUploadedFile("load.err", b"late")
    told = {"log": log, "companions": [late], "embargo_until": minute(days=4).isoformat()}
    refused = script.post("/api/v1/submissions/", told)
    assert (refused.status_code, "load.err" in refused.json()["detail"]) == (409, True)
    assert "The embargo of the submission was changed as stated." in refused.json()["detail"]
    submission.refresh_from_db()
    assert submission.embargo_until == minute(days=4)


def test_a_change_without_a_date_is_refused(script, submission):
    answer = script.post(f"/api/v1/submissions/{submission.public_id}/embargo/", {}, content_type="application/json")
    assert answer.status_code == 400
    submission.refresh_from_db()
    assert submission.embargo_until == minute(days=1)


def test_a_submission_of_another_organisation_is_not_found(script, submission, exemplar, otto):
    submission.organisation = otto.memberships.get().organisation
    Submission.objects.filter(pk=submission.pk).update(organisation=submission.organisation)
    assert patch(script, submission, None).status_code == 404
