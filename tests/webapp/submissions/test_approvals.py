from datetime import timedelta

import pytest
from django.utils import timezone

from results.ingest.queue import sweep
from results.lifecycle.questions import answer, ask
from results.lifecycle.review import create_product
from results.models import Approval, Run, Submission
from tests.results.builders import log_bytes, make_user, send
from webapp.notices.models import Notice
from webapp.submissions.review_warnings import review_warnings
from webapp.templatetags import units

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_needed(settings):
    settings.REVIEWS_NEEDED = 2


@pytest.fixture
def rolf(db):
    return make_user("rolf", is_reviewer=True)


@pytest.fixture
def submission(evidence_dir, stand_in, exemplar, vera):
    submission = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    return submission


@pytest.fixture
def named(submission, rita):
    create_product(submission, rita)
    return submission


def page_of(client, submission):
    return client.get(f"/submissions/{submission.public_id}/").text


def decide(client, submission, decision):
    accepted = {"accepted_warnings": review_warnings(submission, submission.runs.all())}
    return client.post(f"/submissions/{submission.public_id}/{decision}/", accepted, follow=True).text


def test_the_second_of_two_reviewers_publishes(named, as_user, rita, rolf):
    first, second = as_user(rita), as_user(rolf)
    assert "Approvals: 0 of 2" in page_of(first, named)
    assert '<button class="do" data-key="a">Approve</button>' in page_of(first, named)
    assert "Another reviewer has to approve this step" in decide(first, named, "publish")
    assert Run.objects.get().visibility == "unreviewed"
    page = page_of(second, named)
    assert "Approvals: 1 of 2, by rita" in page
    assert '<button class="do" data-key="a">Publish</button>' in page
    assert "Published." in decide(second, named, "publish")
    assert Run.objects.get().visibility == "public"


def test_a_reviewer_takes_an_approval_back(named, as_user, rita):
    client = as_user(rita)
    decide(client, named, "publish")
    page = page_of(client, named)
    assert "You have approved this submission." in page
    assert ">Publish</button>" not in page
    assert "Your approval is taken back." in decide(client, named, "retract-approval")
    assert Approval.objects.get().void_reason == "retracted"
    assert "You have no open approval" in decide(client, named, "retract-approval")


def test_a_reviewer_of_the_organisation_cannot_approve(named, as_user, rita):
    rita.memberships.create(organisation=named.organisation, role="viewer")
    client = as_user(rita)
    page = page_of(client, named)
    assert "A reviewer of another organisation has to approve it." in page
    assert ">Approve</button>" not in page
    assert "You belong to Exemplar" in decide(client, named, "publish")
    assert not Approval.objects.exists()


def test_approvals_are_not_shown_to_the_sender(named, as_user, rita, vera):
    decide(as_user(rita), named, "publish")
    page = page_of(as_user(vera), named)
    assert "Approvals:" not in page
    assert "rita" not in page


def test_the_review_page_of_a_run_lists_open_approvals(named, as_user, rita, rolf):
    decide(as_user(rita), named, "publish")
    decide(as_user(rolf), named, "publish")
    run = Run.objects.get()
    client = as_user(rita)
    client.post(f"/review/runs/{run.public_id}/withdraw/", {"reason": "Wrong drive."})
    answer = client.post(f"/review/runs/{run.public_id}/reinstate/", {"reason": "Right drive."}, follow=True).text
    assert "Your approval is stored." in answer
    assert "rita approved on" in answer
    assert "2 approvals required" in answer


def test_nobody_approves_while_a_question_waits_for_its_answer(named, as_user, rita, rolf, vera):
    ask(named, rolf, "Which slot?")
    client = as_user(rita)
    page = page_of(client, named)
    assert "A question waits for the answer of Exemplar." in page
    assert 'data-key="a"' not in page
    assert "Approve the submission after the answer." in decide(client, named, "publish")
    answer(named, vera, "Slot 1.")
    assert "Another reviewer has to approve this step" in decide(client, named, "publish")


def test_a_reviewer_who_approved_gets_no_mail_about_later_answers(named, as_user, rita, rolf, vera):
    decide(as_user(rita), named, "publish")
    ask(named, rolf, "Which slot?")
    Notice.objects.all().delete()
    answer(named, vera, "Slot 1.")
    assert [each.recipient for each in Notice.objects.filter(audience="reviewers")] == [rolf]


def test_the_last_button_says_when_a_result_under_embargo_becomes_public(named, as_user, rita, rolf):
    decide(as_user(rita), named, "publish")
    until = (timezone.now() + timedelta(days=2)).replace(second=0, microsecond=0)
    Submission.objects.update(embargo_until=until)
    client = as_user(rolf)
    assert f"Approve; public at {units.moment(until)}</button>" in page_of(client, named)
    assert "Approved. No run of this submission is public before" in decide(client, named, "publish")


def test_the_page_links_the_product_only_if_it_has_a_public_page(named, as_user, rita, rolf):
    client, link = as_user(rita), f'<a href="/drive/{named.runs.get().product.slug}/">'
    assert link not in page_of(client, named)
    decide(client, named, "publish")
    decide(as_user(rolf), named, "publish")
    assert link in page_of(client, named)


def test_a_reviewer_finds_the_review_before_the_embargo(named, as_user, rita, vera):
    page = page_of(as_user(rita), named)
    assert page.index('id="review"') < page.index("<h2>Progress</h2>") < page.index('id="embargo"')
    assert 'id="review"' not in page_of(as_user(vera), named)
