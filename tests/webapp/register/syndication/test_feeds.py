"""Feeds of changes of results, with entries that keep their ids."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.catalogue.claims import import_claims
from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.models import Certificate, Event, Product, Visibility
from tests.results.rows import make_product
from tests.webapp.register.certificates.test_page import certify
from tests.webapp.register.syndication.answers import read_xml

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"


def read_entries(client, path):
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/atom+xml; charset=utf-8")
    entries = read_xml(answer).iter(f"{ATOM}entry")
    return [{each.tag.removeprefix(ATOM): each.text for each in entry} for entry in entries]


def test_a_withdrawal_is_the_first_entry_of_every_affected_feed(client, make_published_run, staff):
    run, other = make_published_run(), make_published_run()
    record_event(None, "run-published", run_subject(other))
    visibility.withdraw(run, staff, "A mistake in the set-up.")
    for path in ("/feed.atom", "/drives/nvme-flash/feed.atom", "/vendors/exemplar/feed.atom"):
        first, second = read_entries(client, path)
        assert first["title"].endswith(f"run {run.public_id}: withdrawn")
        assert first["summary"] == "A mistake in the set-up."
        assert second["title"].endswith(f"run {other.public_id}: published")
    assert len(read_entries(client, f"/drive/{run.product.slug}/feed.atom")) == 1


def enclosures(client, path):
    """Return the attributes of the links to pictures of each entry."""
    entries = read_xml(client.get(path)).iter(f"{ATOM}entry")
    return [[link.attrib for link in entry.iter(f"{ATOM}link") if link.get("rel") == "enclosure"] for entry in entries]


def picture_of(category):
    address = f"http://127.0.0.1:8000/drives/{category}/landscape.png"
    return [{"rel": "enclosure", "type": "image/png", "href": address}]


FEEDS = ("/feed.atom", "/drives/nvme-flash/feed.atom", "/vendors/exemplar/feed.atom", "/news/feed.atom")


@pytest.mark.parametrize("path", FEEDS)
def test_an_entry_about_a_result_links_the_chart_of_its_category(client, make_published_run, staff, path):
    visibility.withdraw(make_published_run(), staff, "A mistake in the set-up.")
    assert enclosures(client, path) == [picture_of("nvme-flash")]
    answer = client.get("/drives/nvme-flash/landscape.png")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")


@pytest.mark.parametrize("path", ["/feed.atom", "/news/feed.atom"])
def test_an_entry_about_a_certificate_links_the_chart_of_its_category(client, path):
    certify(make_product(category="cloud"))
    assert enclosures(client, path) == [picture_of("cloud")]


def test_an_entry_about_claims_links_no_chart(client, db):
    import_claims()
    assert enclosures(client, "/news/feed.atom") == [[], [], [], []]


def test_an_entry_keeps_its_id_after_later_entries(client, make_published_run):
    run = make_published_run()
    record_event(None, "run-published", run_subject(run))
    before = read_entries(client, "/feed.atom")[0]["id"]
    record_event(None, "run-annotated", run_subject(run), "Look at the firmware.")
    assert read_entries(client, "/feed.atom")[1]["id"] == before


def test_an_entry_of_a_certificate_links_to_its_page_and_keeps_the_id_of_before_it_had_one(client):
    product = make_product()
    certify(product)
    certificate = Certificate.objects.get()
    answer = client.get(f"/drive/{product.slug}/feed.atom")
    (entry,) = read_xml(answer).iter(f"{ATOM}entry")
    (event,) = Event.objects.filter(subject_id=certificate.public_id)
    assert entry.find(f"{ATOM}link").get("href") == f"http://127.0.0.1:8000/certificates/{certificate.public_id}/"
    first_page = f"http://127.0.0.1:8000/drive/{product.slug}/#{certificate.public_id}"
    assert entry.find(f"{ATOM}id").text == f"{first_page}#event-{event.pk}"


def test_runs_that_are_not_public_are_in_no_feed(client, make_published_run):
    hidden = make_published_run(visibility=Visibility.UNREVIEWED)
    record_event(None, "run-judged-anew", run_subject(hidden), "secret")
    assert read_entries(client, "/feed.atom") == []
    assert client.get("/vendors/exemplar/feed.atom").status_code == 404


def test_a_feed_leaves_out_characters_that_xml_does_not_allow(client, make_published_run, make_product):
    run = make_published_run(product=make_product(model="EX\x00<b>\x1b[0m".replace("\x00", "\x01")))
    record_event(None, "run-annotated", run_subject(run), "\x08<script>alert(1)</script>")
    (entry,) = read_entries(client, "/feed.atom")
    assert entry["summary"] == "<script>alert(1)</script>"


def test_a_feed_needs_as_many_queries_for_one_entry_as_for_fifty(make_published_run, count_queries):
    run = make_published_run()
    record_event(None, "run-published", run_subject(run))
    one = count_queries("/feed.atom")
    for _ in range(49):
        record_event(None, "run-annotated", run_subject(make_published_run()), "x")
    assert count_queries("/feed.atom") == one


def test_the_feed_of_a_vendor_does_not_read_all_products(client, make_product, make_published_run):
    make_published_run(product=make_product(vendor="Exemplar"))
    client.get("/vendors/exemplar/feed.atom")
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/vendors/exemplar/feed.atom").status_code == 200
    assert [each["sql"] for each in queries if "DISTINCT" in each["sql"]] == []
    Product.objects.filter(vendor="Exemplar").update(vendor="Example")
    assert client.get("/vendors/exemplar/feed.atom").status_code == 404
    assert client.get("/vendors/example/feed.atom").status_code == 200


@pytest.mark.parametrize("path", ["/drives/none/feed.atom", "/vendors/none/feed.atom", "/drive/none/feed.atom"])
def test_a_feed_of_an_unknown_product_is_not_found(client, db, path):
    assert client.get(path).status_code == 404
