"""An ended embargo: not mentioned in public, and fully visible to its owners and staff."""

import json
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from results.history import record_event
from results.lifecycle import visibility
from results.lifecycle.corrections import annotate, correct, retract
from results.lifecycle.embargo import change_embargo, disclose_due
from results.models import Annotation, EarlierResult, Event, Evidence, Product, Run, Submission, Verdict
from tests.results.builders import link_key, make_user
from webapp.accounts.models import Membership
from webapp.register.dumps import store as dumps_store
from webapp.register.dumps.importer import read_rows
from webapp.register.dumps.tables import TABLES
from webapp.register.dumps.writer import write_dump
from webapp.templatetags import units

pytestmark = pytest.mark.django_db
OF_A_VERDICT = ("run", "profile", "outcome", "headline", "document", "reader_version")
WORDS = ("embargo", "returned to review", "run-recalled", "the wrong product")


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def run(make_log_run, make_product, rita):
    """A run that was reviewed, recalled, reviewed again and disclosed, of a product that was entered for it."""
    run = make_log_run(visibility="unreviewed", product=make_product(slug="hush-9000", model="HUSH9000"))
    record_event(rita, "product-created", ("product", "hush-9000"), "", {"from": run.submission.public_id})
    change_embargo(run.submission, timezone.now().replace(second=0, microsecond=0) + timedelta(days=1), rita)
    visibility.publish(run, rita)
    visibility.recall(run, rita, "the wrong product")
    visibility.publish(run, rita, ["Another size."])
    Submission.objects.update(embargo_until=timezone.now())
    assert disclose_due() == 1
    return Run.objects.get()


def public_texts(client, run):
    pages = [f"/runs/{run.public_id}/", f"/api/v1/runs/{run.public_id}/", "/drive/hush-9000/", "/feed.atom"]
    texts = {path: client.get(path).text for path in [*pages, "/drive/hush-9000/feed.atom"]}
    return texts | {"dump": json.dumps(list(read_rows(dumps_store.read_dump(write_dump()), "events")))}


def test_no_public_text_mentions_it(client, run):
    for path, text in public_texts(client, run).items():
        for word in WORDS:
            assert word not in text.lower(), (path, word)


def test_it_is_listed_as_published_by_a_reviewer_with_the_accepted_warnings(client, run):
    (event,) = client.get(f"/api/v1/runs/{run.public_id}/").json()["history"]
    assert (event["kind"], event["by"]) == ("run-published", "reviewer")
    assert event["details"] == {"before": "unreviewed", "after": "public", "in_spite_of": ["Another size."]}
    assert "<b>Published</b> by a reviewer" in client.get(f"/runs/{run.public_id}/").text


def test_a_product_entered_for_another_run_has_the_date_of_that_run(client, run):
    assert "Product created" not in client.get("/drive/hush-9000/").text
    record_event(None, "product-created", ("product", "hush-9000"), "", {"from": "s-no-embargo"})
    assert "Product created" in client.get("/drive/hush-9000/").text


def test_an_embargo_that_was_ended_early_is_not_mentioned_either(client, run):
    Submission.objects.update(embargo_until=None)
    assert "Product created" not in client.get("/drive/hush-9000/").text


def test_its_owners_and_staff_read_its_full_history(client, run, rita):
    owner = make_user("vera")
    Membership.objects.create(user=owner, organisation=run.submission.organisation, role="owner")
    for user, path in ((owner, f"/submissions/{run.submission.public_id}/"), (rita, f"/review/runs/{run.public_id}/")):
        client.force_login(user)
        text = client.get(path).text
        assert "reviewed, under embargo" in text.lower()
        assert "the wrong product" in text


def test_readers_of_its_page_read_its_history_during_the_embargo(client, make_embargoed_run):
    run = make_embargoed_run()
    record_event(None, "run-embargoed", ("run", run.public_id))
    assert "Reviewed, under embargo" in client.get(f"/runs/{run.public_id}/?key={link_key(run.submission)}").text


def test_every_event_is_still_stored(run):
    kinds = ["run-embargoed", "run-recalled", "run-embargoed", "run-published"]
    assert [event.kind for event in Event.objects.filter(subject_type="run")] == kinds


@pytest.fixture
def corrected(make_log_run, rita):
    """A run that was corrected and annotated during its embargo, published a day later, and changed again."""
    run = make_log_run(visibility="unreviewed")
    correct(run, {"firmware": "EARLY1"}, rita, "early-slip")
    withdrawn_note = annotate(run, "early-note-gone", rita)
    annotate(run, "early-note-stays", rita)
    retract(withdrawn_note, rita, "early-retraction")
    verdict = run.verdicts.get()
    EarlierResult.objects.create(run=run, number=1, reading=run.reading, verdict=verdict, document={})
    Verdict.objects.create(**{name: getattr(verdict, name) for name in OF_A_VERDICT})
    long_ago = timezone.now() - timedelta(days=9)
    for table in (Annotation, Run, Product, Verdict):
        table.objects.update(created_at=long_ago)
    Evidence.objects.update(received_at=long_ago)
    visibility.publish(run, rita)
    correct(run, {"firmware": "LATER2"}, rita, "later-slip")
    return Run.objects.get(pk=run.pk)


def exits(client, run):
    dump = dumps_store.read_dump(write_dump())
    paths = [f"/runs/{run.public_id}/", f"/api/v1/runs/{run.public_id}/", f"/drive/{run.product.slug}/", "/feed.atom"]
    paths.append(f"/runs/{run.public_id}/earlier/1.json")
    told = {path: client.get(path).text for path in paths}
    rows = {table.name: json.dumps(list(read_rows(dump, table.name)), default=str) for table in TABLES}
    return told | rows


def test_corrections_before_the_publication_are_not_in_the_public_history(client, corrected):
    texts = exits(client, corrected)
    for name, text in texts.items():
        for word in ("early-slip", "early-retraction", "early-note-gone"):
            assert word not in text, (name, word)
    page = f"/runs/{corrected.public_id}/"
    for name in (page, f"/api/v1{page}", f"/drive/{corrected.product.slug}/", "/feed.atom", "events"):
        assert "later-slip" in texts[name], name


def test_an_earlier_annotation_has_the_date_of_the_publication(client, corrected):
    texts = exits(client, corrected)
    for name in (f"/runs/{corrected.public_id}/", f"/api/v1/runs/{corrected.public_id}/", "annotations"):
        assert "early-note-stays" in texts[name], name
    (note,) = client.get(f"/api/v1/runs/{corrected.public_id}/").json()["annotations"]
    assert datetime.fromisoformat(note["created_at"]) == corrected.published_at
    assert f"Annotation, {units.moment(corrected.published_at)}" in texts[f"/runs/{corrected.public_id}/"]


def test_every_public_entry_begins_at_or_after_the_publication(client, corrected):
    long_ago = timezone.now() - timedelta(days=9)
    days = {f"{long_ago:%Y-%m-%d}", units.moment(long_ago)[:10], f"{long_ago:%-d %B %Y}"}
    for name, text in exits(client, corrected).items():
        assert [day for day in days if day in text] == [], name
    (verdict,) = client.get(f"/api/v1/runs/{corrected.public_id}/").json()["earlier_verdicts"]
    assert datetime.fromisoformat(verdict["created_at"]) == corrected.published_at
    kept = client.get(f"/runs/{corrected.public_id}/earlier/1.json").json()
    assert corrected.published_at - datetime.fromisoformat(kept["replaced_at"]) < timedelta(milliseconds=1)


def test_a_product_that_was_already_known_keeps_its_date(make_product, make_published_run, make_log_run, rita):
    long_ago, product = timezone.now() - timedelta(days=9), make_product()
    Product.objects.update(created_at=long_ago)
    make_published_run(product=product)
    visibility.publish(make_log_run(visibility="unreviewed", product=product), rita)
    (told,) = read_rows(dumps_store.read_dump(write_dump()), "products")
    assert datetime.fromisoformat(told["created_at"]) == long_ago


def test_a_reviewer_reads_all_earlier_corrections(client, corrected, rita):
    client.force_login(rita)
    text = client.get(f"/review/runs/{corrected.public_id}/").text
    assert all(word in text for word in ("early-slip", "early-retraction", "later-slip"))
