import re

import pytest
from django.test import Client

from results.ingest.queue import sweep
from results.models import Event, Evidence, Product, Submission
from tests.results.builders import log_bytes, make_user, send
from webapp.submissions.forms import ProductForm
from webapp.templatetags import units

pytestmark = pytest.mark.django_db

VIRTUAL_MARK = '<span class="tag">virtual device</span>'
NEW_PRODUCT = {"category": "nvme-flash", "vendor": "Exemplar", "model": "EX4", "capacity_gb": "3200"}


@pytest.fixture
def submission(evidence_dir, stand_in, exemplar, vera):
    submission = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    run = submission.runs.get()  # the log is of memory: here it is of a drive that nothing speaks against
    submission.runs.update(facts=run.facts | {"devices": [], "is_virtual_device": None})
    return submission


def decide(client, submission, decision, **fields):
    return client.post(f"/submissions/{submission.public_id}/{decision}/", fields, follow=True)


def test_a_reviewer_enters_the_product_and_publishes(as_user, rita, submission):
    client = as_user(rita)
    assert b"awaiting identity" in client.get("/submissions/review/").content
    decide(client, submission, "new-product", **NEW_PRODUCT)
    assert b"in review" in client.get("/submissions/review/").content
    answer = decide(client, submission, "publish")

    assert b"Published." in answer.content
    run = submission.runs.get()
    assert (run.visibility, run.tier, run.product.vendor) == ("public", "reviewed", "Exemplar")
    assert submission.public_id not in client.get("/submissions/review/").content.decode()


def test_an_incomplete_product_is_not_entered(as_user, rita, submission):
    answer = decide(as_user(rita), submission, "new-product", **NEW_PRODUCT | {"vendor": ""})
    assert "Nothing was changed. Vendor: " in answer.content.decode()
    assert not Product.objects.exists()


def test_a_reviewer_names_an_existing_product_of_the_category(as_user, rita, submission):
    product = Product.objects.create(slug="ex4", category="nvme-flash", vendor="Exemplar", model="EX-4")
    foreign = Product.objects.create(slug="ec2", category="cloud", vendor="Amazon", model="i3")
    decide(as_user(rita), submission, "product", product=foreign.pk)
    assert submission.runs.get().product is None
    decide(as_user(rita), submission, "product", product=product.pk)
    assert submission.runs.get().product == product


def test_a_product_with_a_long_name_is_entered(as_user, rita, submission):
    decide(as_user(rita), submission, "new-product", **NEW_PRODUCT | {"vendor": "V" * 60, "model": "M" * 60})
    product = submission.runs.get().product
    assert len(product.slug) > 40
    assert Event.objects.get(kind="product-created").subject_id == product.slug


def test_a_reviewer_cannot_publish_their_own_submission(as_user, vera, submission):
    vera.is_reviewer = True
    vera.save()
    client = as_user(vera)
    page = decide(client, submission, "new-product", **NEW_PRODUCT).content.decode()
    assert "another reviewer has to publish it" in page
    assert "/publish/" not in page
    assert b"another reviewer" in decide(client, submission, "publish").content
    assert submission.runs.get().visibility == "unreviewed"


def test_declining_needs_a_reason_that_the_owner_sees(as_user, rita, vera, submission):
    assert b"Enter a reason" in decide(as_user(rita), submission, "decline").content
    decide(as_user(rita), submission, "decline", reason="another drive's log")
    page = as_user(vera).get(f"/submissions/{submission.public_id}/").content.decode()
    assert "another drive&#x27;s log" in page


def test_a_declined_submission_can_be_published(as_user, rita, submission):
    client = as_user(rita)
    decide(client, submission, "new-product", **NEW_PRODUCT)
    page = decide(client, submission, "decline", reason="wrong drive").content.decode()
    offered = [decision for decision in ("product", "publish", "decline") if f'/{decision}/"' in page]
    assert offered == ["product", "publish"]
    assert "can still be published" in page
    assert "No decision is needed" not in page
    assert b"Published." in decide(client, submission, "publish").content
    assert submission.runs.get().visibility == "public"


def test_a_published_run_is_withdrawn_with_a_reason(as_user, rita, submission):
    client, run = as_user(rita), submission.runs.get()
    decide(client, submission, "new-product", **NEW_PRODUCT)
    decide(client, submission, "publish")
    decide(client, submission, "withdraw", run="r-nothing", reason="wrong firmware")
    assert submission.runs.get().visibility == "public"
    decide(client, submission, "withdraw", run=run.public_id, reason="wrong firmware")
    assert submission.runs.get().visibility == "withdrawn"
    assert b"wrong firmware" in client.get(f"/submissions/{submission.public_id}/").content


def test_only_staff_reviews(as_user, client, vera, submission):
    for person, status in [(as_user(vera), 403), (client, 302)]:
        assert person.get("/submissions/review/").status_code == status
        assert person.post(f"/submissions/{submission.public_id}/publish/").status_code == status
    assert submission.runs.get().visibility == "unreviewed"


def test_unknown_decisions_and_get_requests_are_refused(as_user, rita, submission):
    client = as_user(rita)
    assert client.post(f"/submissions/{submission.public_id}/delete/").status_code == 404
    assert client.get(f"/submissions/{submission.public_id}/publish/").status_code == 405


def test_a_decision_requires_the_csrf_token(rita, submission):
    client = Client(enforce_csrf_checks=True)
    client.force_login(rita)
    assert client.post(f"/submissions/{submission.public_id}/publish/").status_code == 403


def test_a_dispatch_is_not_reviewed_by_the_person_who_ordered_it(as_user, submission, exemplar):
    orderer = make_user("lars", exemplar, is_reviewer=True)
    submission.submitted_by = orderer
    submission.save()
    assert b"another reviewer" in decide(as_user(orderer), submission, "publish").content


def test_a_submission_of_a_virtual_device_states_so_and_cannot_be_published(as_user, rita, submission):
    client = as_user(rita)
    decide(client, submission, "new-product", **NEW_PRODUCT)
    page = client.get(f"/submissions/{submission.public_id}/").text
    assert all(text in page for text in ("/publish/", "Published at a permanent address", 'id="embargo"'))
    Submission.objects.update(is_virtual=True)
    page = client.get(f"/submissions/{submission.public_id}/").text
    assert "Virtual device: never certifies" in page
    assert "/publish/" not in page
    assert "Published at a permanent address" not in page
    assert 'id="embargo"' not in page
    assert "never certifies, so the run cannot be published" in decide(client, submission, "publish").text


def test_the_queue_and_the_page_mark_runs_on_virtual_devices(as_user, rita, submission):
    client, pages = as_user(rita), ["/submissions/review/", f"/submissions/{submission.public_id}/"]

    def are_marked():
        return [VIRTUAL_MARK in client.get(page).text for page in pages]

    assert are_marked() == [False, False]
    facts = submission.runs.get().facts
    submission.runs.update(facts=facts | {"is_virtual_device": True})
    assert "Virtual device, by its name." in client.get(pages[1]).text
    assert are_marked() == [True, True]
    Evidence.objects.filter(pk=submission.log_id).update(sequestered=True)
    assert are_marked() == [True, True]
    submission.runs.update(facts=facts, is_virtual=True)
    assert are_marked() == [True, True]


def test_each_warning_must_be_ticked_before_publication(as_user, rita, submission):
    client = as_user(rita)
    decide(client, submission, "new-product", **NEW_PRODUCT)
    run = submission.runs.get()
    devices = [{"name": "/dev/loop4", "size_bytes": 536_870_912, "minimum_io_bytes": 4096}]
    submission.runs.update(facts=run.facts | {"is_virtual_device": True, "devices": devices})
    page = client.get(f"/submissions/{submission.public_id}/").text
    ticks = re.findall(r'name="accepted_warnings" value="([^"]+)" required', page)
    assert [tick.split()[0] for tick in ticks] == ["/dev/loop4", "/dev/loop4"]
    assert "says nothing about a drive" in ticks[0]
    assert "536.9" in ticks[1] or "537" in ticks[1]
    for given in ([], ticks[:1], [*ticks[:1], "something else"]):
        answer = decide(client, submission, "publish", accepted_warnings=given)
        assert answer.status_code == 409
        error = answer.text.partition('<fieldset class="grave"')[2].partition("</fieldset>")[0]
        assert 'role="alert"' in error, "the error is next to the boxes"
        unticked = 2 - len([tick for tick in given if tick in ticks])
        assert f"{units.counted(unticked, 'warning')} not ticked" in error
        assert (error.count('aria-invalid="true"'), error.count(" checked")) == (unticked, 2 - unticked)
        assert submission.runs.get().visibility == "unreviewed"
    assert "Published." in decide(client, submission, "publish", accepted_warnings=ticks).text
    published = Event.objects.get(kind="run-published")
    assert published.details["in_spite_of"] == ticks
    run_page = client.get(f"/runs/{run.public_id}/").text
    assert "Published despite warnings." in run_page
    assert all(f"<bdi>{tick}</bdi>" in run_page for tick in ticks)


def test_a_run_without_warnings_has_no_tick_boxes(as_user, rita, submission):
    client = as_user(rita)
    decide(client, submission, "new-product", **NEW_PRODUCT)
    assert "accepted_warnings" not in client.get(f"/submissions/{submission.public_id}/").text


def test_a_reviewer_retries_a_failed_reading(as_user, rita, submission):
    client = as_user(rita)
    assert "there is nothing to retry" in decide(client, submission, "read-again").text
    submission.log.readings.update(state="failed", error={"id": "reader-gave-up", "sentence": "stopped"})
    assert "Retry reading" in client.get(f"/submissions/{submission.public_id}/").text
    assert "The reading is retried." in decide(client, submission, "read-again").text
    assert submission.log.readings.get().state == "pending"


def test_products_of_the_stated_maker_come_first(db):
    Product.objects.create(slug="a", category="nvme-flash", vendor="Aardvark", model="A1")
    own = Product.objects.create(slug="e", category="nvme-flash", vendor="EXEMPLAR", model="E1")
    form = ProductForm(Submission(vendor="Exemplar", category="nvme-flash"))
    assert form.fields["product"].queryset.first() == own


def test_after_a_decline_the_organisation_reads_what_it_can_do(as_user, rita, vera, submission):
    page = f"/submissions/{submission.public_id}/"
    assert "a reviewer assigns one" in as_user(vera).get(page).text
    decide(as_user(rita), submission, "decline", reason="wrong drive")
    text = as_user(vera).get(page).text
    assert '<a href="/submit/">submit a new log</a>' in text
    assert "a reviewer assigns one" not in text
    assert "no product was assigned" in text
    assert "submit a new log" not in as_user(rita).get(page).text


def test_a_declined_submission_shows_no_step_that_it_will_not_take(as_user, rita, vera, submission):
    client = as_user(rita)
    decide(client, submission, "new-product", **NEW_PRODUCT)
    later = ("Published at a permanent address", 'id="embargo"')
    before = as_user(vera).get(f"/submissions/{submission.public_id}/").text
    assert all(text in before for text in later)
    decide(client, submission, "decline", reason="wrong drive")
    page = as_user(vera).get(f"/submissions/{submission.public_id}/").text
    assert not any(text in page for text in later)
