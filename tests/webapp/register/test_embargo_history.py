"""Once an embargo has ended nothing public tells that there was one, nor when; its owners and staff read it all."""

import json
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from results import life
from results.annotations import annotate, retract
from results.corrections import correct
from results.embargo import change_embargo, disclose_due
from results.history import tell
from results.models import Annotation, Event, Run, Submission
from tests.results.builders import make_user
from webapp.accounts.models import Membership
from webapp.register.dumps import shelf
from webapp.register.dumps.reading import read_rows
from webapp.register.dumps.writing import write_dump
from webapp.templatetags import units

pytestmark = pytest.mark.django_db
WORDS = ("embargo", "taken back into review", "run-recalled", "the wrong product")


@pytest.fixture
def rita(db):
    return make_user("rita", is_staff=True)


@pytest.fixture
def run(make_log_run, make_product, rita):
    """A run that was reviewed, recalled, reviewed again and disclosed, of a product that was entered for it."""
    run = make_log_run(visibility="unreviewed", product=make_product(slug="hush-9000", model="HUSH9000"))
    tell(rita, "product-created", ("product", "hush-9000"), "", {"from": run.submission.public_id})
    change_embargo(run.submission, timezone.now().replace(second=0, microsecond=0) + timedelta(days=1), rita)
    life.publish(run, rita)
    life.recall(run, rita, "the wrong product")
    life.publish(run, rita, ["Another size."])
    Submission.objects.update(embargo_until=timezone.now())
    assert disclose_due() == 1
    return Run.objects.get()


def public_texts(client, run):
    pages = [f"/runs/{run.public_id}/", f"/api/v1/runs/{run.public_id}/", "/drive/hush-9000/", "/feed.atom"]
    texts = {path: client.get(path).text for path in [*pages, "/drive/hush-9000/feed.atom"]}
    return texts | {"dump": json.dumps(list(read_rows(shelf.read_dump(write_dump()), "events")))}


def test_no_public_text_tells_of_it(client, run):
    for path, text in public_texts(client, run).items():
        for word in WORDS:
            assert word not in text.lower(), (path, word)


def test_it_is_told_as_published_by_a_reviewer_with_what_they_accepted(client, run):
    (event,) = client.get(f"/api/v1/runs/{run.public_id}/").json()["history"]
    assert (event["kind"], event["by"]) == ("run-published", "reviewer")
    assert event["details"] == {"before": "unreviewed", "after": "public", "in_spite_of": ["Another size."]}
    assert "<b>Published</b> by a reviewer" in client.get(f"/runs/{run.public_id}/").text


def test_a_product_that_was_entered_for_another_run_tells_since_when(client, run):
    assert "Product created" not in client.get("/drive/hush-9000/").text
    tell(None, "product-created", ("product", "hush-9000"), "", {"from": "s-no-embargo"})
    assert "Product created" in client.get("/drive/hush-9000/").text


def test_an_embargo_that_was_ended_is_told_as_little_as_one_that_came_to_its_end(client, run):
    Submission.objects.update(embargo_until=None)
    assert "Product created" not in client.get("/drive/hush-9000/").text


def test_its_owners_and_staff_read_all_of_it(client, run, rita):
    owner = make_user("vera")
    Membership.objects.create(user=owner, organisation=run.submission.organisation)
    for user, path in ((owner, f"/submissions/{run.submission.public_id}/"), (rita, f"/review/runs/{run.public_id}/")):
        client.force_login(user)
        text = client.get(path).text
        assert "reviewed, under embargo" in text.lower()
        assert "the wrong product" in text


def test_while_it_waits_those_who_see_its_page_read_its_history(client, make_embargoed_run):
    run = make_embargoed_run()
    tell(None, "run-embargoed", ("run", run.public_id))
    assert "Reviewed, under embargo" in client.get(f"/runs/{run.public_id}/?key={run.submission.link_key}").text


def test_every_event_is_still_kept(run):
    kinds = ["run-embargoed", "run-recalled", "run-embargoed", "run-published"]
    assert [event.kind for event in Event.objects.filter(subject_type="run")] == kinds


@pytest.fixture
def mended(make_log_run, rita):
    """A run that was corrected and annotated while it waited, and published a day later, with what came after."""
    run = make_log_run(visibility="unreviewed")
    correct(run, {"firmware": "EARLY1"}, rita, "early-slip")
    withdrawn_note = annotate(run, "early-note-gone", rita)
    annotate(run, "early-note-stays", rita)
    retract(withdrawn_note, rita, "early-retraction")
    long_ago = timezone.now() - timedelta(days=9)
    Annotation.objects.update(created_at=long_ago)
    life.publish(run, rita)
    correct(run, {"firmware": "LATER2"}, rita, "later-slip")
    return Run.objects.get(pk=run.pk)


def exits(client, run):
    dump = shelf.read_dump(write_dump())
    paths = [f"/runs/{run.public_id}/", f"/api/v1/runs/{run.public_id}/", f"/drive/{run.product.slug}/", "/feed.atom"]
    told = {path: client.get(path).text for path in paths}
    rows = {name: json.dumps(list(read_rows(dump, name)), default=str) for name in ("events", "annotations")}
    return told | rows


def test_what_was_mended_before_a_run_was_public_is_not_in_its_history(client, mended):
    texts = exits(client, mended)
    for name, text in texts.items():
        for word in ("early-slip", "early-retraction", "early-note-gone"):
            assert word not in text, (name, word)
        assert name == "annotations" or "later-slip" in text, name


def test_an_annotation_from_before_stands_since_its_run_is_public(client, mended):
    texts, day = exits(client, mended), f"{timezone.now() - timedelta(days=9):%Y-%m-%d}"
    for name in (f"/runs/{mended.public_id}/", f"/api/v1/runs/{mended.public_id}/", "annotations"):
        assert "early-note-stays" in texts[name], name
    (note,) = client.get(f"/api/v1/runs/{mended.public_id}/").json()["annotations"]
    assert datetime.fromisoformat(note["created_at"]) == mended.published_at
    assert day not in texts["annotations"]
    assert f"Annotation, {units.moment(mended.published_at)}" in texts[f"/runs/{mended.public_id}/"]


def test_a_reviewer_reads_all_that_was_mended_before(client, mended, rita):
    client.force_login(rita)
    text = client.get(f"/review/runs/{mended.public_id}/").text
    assert all(word in text for word in ("early-slip", "early-retraction", "later-slip"))
