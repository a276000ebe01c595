"""Certificate requests: several submissions together, and what their certificate still needs."""

from dataclasses import replace

import pytest

from results.ingest.queue import sweep
from results.lifecycle.submission_states import with_state
from results.models import CertificateRequest, Event, Evidence, Reading, Run, Submission
from tests.results.builders import FACTS, log_bytes, send
from webapp.submissions import certificate_requests

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]
PAGE = "/submissions/certificate-requests/"


@pytest.fixture
def submissions(exemplar, vera):
    sent = [send(exemplar, log_bytes(case), vera) for case in ("four-us", "slow-disk-ms")]
    sweep()
    return sent


def choose(client, *submissions):
    chosen = {"submissions": [each.public_id for each in submissions], "note": "one drive"}
    return client.post(PAGE, chosen, follow=True)


def test_submissions_are_requested_together_and_the_page_shows_what_is_missing(as_user, vera, rita, submissions):
    client = as_user(vera)
    page = choose(client, *submissions).text
    request = CertificateRequest.objects.get()
    assert set(request.submissions.all()) == set(submissions)
    assert all(each.public_id in page for each in submissions)
    assert "Missing:" in page
    assert Event.objects.filter(kind="certificate-requested").count() == 2
    assert request.public_id in client.get(f"/submissions/{submissions[0].public_id}/").text
    assert "one drive" in as_user(rita).get(f"{PAGE}{request.public_id}/").text


def test_one_submission_or_none_is_refused(as_user, vera, submissions):
    client = as_user(vera)
    assert "Choose at least 2 submissions" in choose(client, submissions[0]).text
    assert "No submission was chosen." in choose(client).text
    assert not CertificateRequest.objects.exists()


def test_submissions_of_several_drives_are_refused(as_user, vera, exemplar, submissions):
    other = send(exemplar, log_bytes("single-us"), vera, replace(FACTS, model="EX5"))
    sweep()
    Run.objects.filter(submission=other).update(visibility="unreviewed")
    answer = choose(as_user(vera), submissions[0], other)
    assert answer.status_code == 400
    assert not CertificateRequest.objects.exists()


def test_another_organisation_neither_requests_nor_sees_one(as_user, vera, otto, submissions):
    assert choose(as_user(otto), *submissions).status_code == 400
    choose(as_user(vera), *submissions)
    request = CertificateRequest.objects.get()
    assert as_user(otto).get(f"{PAGE}{request.public_id}/").status_code == 404
    assert request.public_id not in as_user(otto).get(PAGE).text


def add_read(organisation, states):
    """Store submissions with a reading in each of the states."""
    logs = Evidence.objects.bulk_create(
        Evidence(organisation=organisation, sha256=f"{number:064x}", size_bytes=1) for number in range(len(states))
    )
    Reading.objects.bulk_create(
        Reading(evidence=log, reader_version="1", state=state) for log, state in zip(logs, states, strict=True)
    )
    return Submission.objects.bulk_create(Submission(organisation=organisation, origin="form", log=log) for log in logs)


@pytest.mark.parametrize("shown", [1, 2, 3, 5, 50])
def test_the_newest_submissions_that_can_be_chosen_are_offered(as_user, vera, exemplar, monkeypatch, shown):
    monkeypatch.setattr(certificate_requests, "SHOWN", shown)
    add_read(exemplar, ["done", "failed", "pending", "done", "failed", "failed", "done", "reading", "done"])
    stated = with_state(Submission.objects.all()).filter(state__in=certificate_requests.REQUESTABLE)
    choices = as_user(vera).get(PAGE).context["choices"]
    assert choices == list(stated.order_by("-pk")[:shown])
    assert len(choices) == min(shown, 4)


@pytest.mark.parametrize("shown", [1, 2, 3])
def test_a_page_reads_a_bounded_number_of_submissions_and_links_to_older_ones(
    as_user, vera, exemplar, monkeypatch, shown
):
    monkeypatch.setattr(certificate_requests, "SHOWN", shown)
    monkeypatch.setattr(certificate_requests, "PARTS_MAX", 2)
    add_read(exemplar, ["done", "done", *["failed"] * 7, "done", "failed", "done"])
    stated = with_state(Submission.objects.all()).filter(state__in=certificate_requests.REQUESTABLE)
    found, address, pages = [], PAGE, 0
    while address:
        page = as_user(vera).get(address)
        found += page.context["choices"]
        older = page.context["older_before"]
        assert (f'href="?before={older}"' in page.text) == bool(older)
        address, pages = older and f"{PAGE}?before={older}", pages + 1
    assert found == list(stated.order_by("-pk"))
    assert 12 / (2 * shown) <= pages <= 12


def test_a_key_that_is_no_number_is_refused(as_user, vera):
    assert as_user(vera).get(f"{PAGE}?before=abc").status_code == 400
