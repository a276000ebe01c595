"""Objections in the news and in the feeds."""

import pytest

from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit, decide, refuse, reply
from results.lifecycle.takedowns import request_takedown
from results.models import Objection, Takedown
from tests.results.builders import make_user
from webapp.register.news.changes import changes_page
from webapp.register.news.objection_sentences import objection_sentence
from webapp.register.news.sentences import Group

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def run(publish):
    return publish()


@pytest.fixture
def objection(run):
    return file_objection(run, make_user("fiona"), "Secret until it is admitted.")


def newest():
    return changes_page().changes[0]


def about_objections():
    return [change for change in changes_page().changes if change.group is Group.OBJECTIONS]


def test_admission_reply_and_outcome_are_news(objection, run, rita):
    admit(objection, rita)
    change = newest()
    assert change.title.startswith(f"Objection: {run.product.vendor}")
    assert change.page == f"/objections/{objection.public_id}/"
    assert change.sentence == (
        f"A reviewer admitted objection {objection.public_id} to run {run.public_id}. The organisation that submitted "
        "the result can reply."
    )
    reply(objection, make_user("sender", run.submission.organisation), "It was not.")
    expected = f"The organisation that submitted run {run.public_id} replied to objection {objection.public_id}."
    assert (newest().label, newest().sentence) == ("Reply to an objection", expected)
    decide(objection, rita, Objection.Outcome.ANNOTATE, "A note is missing.")
    assert newest().sentence == (
        f"A reviewer upheld objection {objection.public_id} to run {run.public_id}: a reviewer has to annotate the "
        "result."
    )
    assert (newest().label, newest().reason) == ("Objection upheld", "Reason: A note is missing.")
    assert len(about_objections()) == 3


def test_what_was_not_admitted_is_no_news(objection, rita):
    refuse(objection, rita, Objection.Refusal.UNCLEAR)
    assert about_objections() == []


def test_objections_to_a_withheld_result_are_no_news(objection, run, rita):
    admit(objection, rita)
    assert len(about_objections()) == 1
    request_takedown(run, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    assert about_objections() == []


def test_an_objection_to_a_published_figure_waits_for_a_decision(make_published_run, rita):
    run = make_published_run()
    objection = file_objection(run, make_user("fiona"), "A misprint.")
    admit(objection, rita)
    assert newest().sentence.endswith("submitted the result. A reviewer decides next.")


def test_an_outcome_of_an_event_without_one_is_left_out():
    assert objection_sentence("objection-rejected", {"objection": "OBJ-1"}, "R-1") == (
        "A reviewer rejected objection OBJ-1 to run R-1."
    )


@pytest.mark.parametrize("feed", ["/news/feed.atom", "/feed.atom"])
def test_the_feeds_state_objections_in_words(client, objection, run, rita, feed):
    admit(objection, rita)
    reply(objection, make_user("sender", run.submission.organisation), "It was not.")
    decide(objection, rita, Objection.Outcome.NOT_SHOWN, "The log shows none.")
    text = client.get(feed).content.decode()
    for words in (
        f"A reviewer admitted objection {objection.public_id}",
        "replied to objection",
        "The log shows none.",
    ):
        assert words in text
    assert "the evidence does not support it" in text


def test_a_month_lists_its_objections(client, objection, rita):
    admit(objection, rita)
    page = client.get("/news/2026-11/").content.decode()
    assert '<h2 id="objections">' in page
    assert f"/objections/{objection.public_id}/" in page
