from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from results.ingest.queue import sweep
from results.lifecycle.deadlines import deadline_of, sweep_deadlines
from results.lifecycle.questions import ask
from results.lifecycle.review import create_product, publish
from results.lifecycle.submission_states import with_state
from results.models import Deadline, Event, Question, Submission
from tests.results.builders import FACTS, link_key, log_bytes, make_organisation, make_user, send
from tests.results.rows import make_product, make_run
from webapp.templatetags import units

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(evidence_dir, stand_in, exemplar, vera):
    submission = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    return submission


def page_of(client, submission):
    return client.get(f"/submissions/{submission.public_id}/").text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_shows_the_next_step_the_party_and_the_deadline(submission, as_user, vera):
    page = page_of(as_user(vera), submission)
    assert "Next step: a reviewer assigns a product. Must act: a reviewer. Deadline:" in page
    assert "after it, the product is overdue" in page
    sweep_deadlines()
    Deadline.objects.update(due_at=timezone.now() - timedelta(days=1))
    assert '<span class="fail">overdue</span> since' in page_of(as_user(vera), submission)


def test_a_reviewer_asks_and_the_organisation_answers(submission, as_user, rita, vera, otto):
    address = f"/submissions/{submission.public_id}/"
    reviewer, sender = as_user(rita), as_user(vera)
    asked = reviewer.post(f"{address}ask/", {"question": "Which <slot>?"}, follow=True)
    assert "The question is on the page" in asked.text
    page = page_of(sender, submission)
    assert "Which &lt;slot&gt;?" in page
    assert "its organisation answers the question" in page
    assert as_user(otto).post(f"{address}answer/", {"answer": "Mine."}).status_code == 404
    assert reviewer.post(f"{address}answer/", {"answer": "Mine."}).status_code == 403
    assert "The answer is stored." in sender.post(f"{address}answer/", {"answer": "Slot 1."}, follow=True).text
    assert "Slot 1." in page_of(reviewer, submission)
    assert Question.objects.get().answered_by == vera


def test_a_viewer_and_a_holder_of_the_link_do_not_answer(submission, as_user, client, rita):
    ask(submission, rita, "Which slot?")
    viewer = make_user("vito")
    viewer.memberships.create(organisation=submission.organisation, role="viewer")
    address = f"/submissions/{submission.public_id}/"
    assert as_user(viewer).post(f"{address}answer/", {"answer": "Mine."}).status_code == 403
    assert "Which slot?" in page_of(as_user(viewer), submission)
    assert "Which slot?" not in client.get(f"{address}?key={link_key(submission)}").text
    assert client.post(f"{address}answer/", {"answer": "Mine."}).status_code == 302
    assert Question.objects.get().answer == ""


@pytest.mark.usefixtures("evidence_dir", "stand_in")
def test_the_queue_sorts_by_age_and_by_what_is_missing(as_user, rita, vera, exemplar, settings):
    settings.REVIEWS_NEEDED = 2
    waiting = make_organisation("late")
    logs = ["four-us", "slow-disk-ms"]
    unnamed = send(exemplar, log_bytes(logs[0]), vera, replace(FACTS, model="EX5"))
    approved = send(exemplar, log_bytes(logs[1]), vera)
    asked = send(waiting, log_bytes("four-us"))
    sweep()
    create_product(approved, rita)
    rolf = make_user("rolf", is_reviewer=True)
    publish(approved, rolf)
    ask(asked, rita, "Which slot?")
    client = as_user(rita)

    def order(query=""):
        page = client.get(f"/submissions/review/{query}").text
        return sorted((unnamed, approved, asked), key=lambda each: page.index(each.public_id)), page

    by_age, page = order()
    assert by_age == [unnamed, approved, asked]
    for words in ("second approval", "product", "answer of the submitter"):
        assert f"<td>{words}" in page
    assert order("?sort=missing")[0] == [approved, unnamed, asked]


def test_the_page_links_the_next_submission_of_the_queue(submission, exemplar, as_user, rita, vera):
    other = send(exemplar, log_bytes("slow-disk-ms"), vera)
    sweep()
    client = as_user(rita)
    assert f"Next in the queue: {other.public_id}" in page_of(client, submission)
    assert f"Next in the queue: {submission.public_id}" in page_of(client, other)
    Submission.objects.filter(pk=other.pk).update(demo_run_id="demo-loop")
    assert "Next in the queue" not in page_of(client, submission)


def test_reviewers_see_earlier_and_similar_results_and_a_hint(submission, as_user, rita, vera):
    product = create_product(submission, rita)
    run = submission.runs.get()
    group = {name: getattr(run, name) for name in ("tool", "tool_version", "device_count", "statistic", "compress_pct")}
    hidden = make_run(product, visibility="unreviewed", **group)
    speeds = [Decimal(run.tps) * factor / 100 for factor in (300, 310, 320, 330, 340, 350, 360, 370)]
    others = [make_run(make_product(), tps=speed, **group) for speed in speeds]
    page = page_of(as_user(rita), submission)
    assert "Hint: unusual figures." in page
    assert "The speed of one device is 0.3 times the median of 8 comparable results" in page
    assert hidden.public_id in page
    assert all(other.public_id in page for other in others)
    page = page_of(as_user(vera), submission)
    assert hidden.public_id not in page
    assert "Hint:" not in page
    others[0].delete()
    assert "Hint:" not in page_of(as_user(rita), submission)


def test_the_queue_shows_the_deadline_of_the_page_also_before_the_sweep_stores_it(submission, as_user, rita, vera):
    client = as_user(rita)

    def deadlines():
        due_at = units.moment(deadline_of(with_state(Submission.objects.all()).get()).due_at)
        pages = [client.get("/submissions/review/").text, client.get(f"/submissions/{submission.public_id}/").text]
        assert all(due_at in page for page in pages)
        return due_at

    received = deadlines()
    sweep_deadlines()
    assert deadlines() == received
    ask(submission, rita, "Which slot?")
    before_the_sweep = deadline_of(with_state(Submission.objects.all()).get())
    asked_at = Event.objects.get(kind="submission-question-asked").at
    assert (before_the_sweep.step, before_the_sweep.since) == ("answer", asked_at)
    deadlines()
