"""The sitemap: every public address is listed, stored as a file, or excluded by name."""

import re

import pytest

from results.models import Product, Run, Tier, Visibility, YcsbRun
from tests.register import sitemap_paths
from tests.webapp.register.syndication.answers import read_xml
from webapp.register.syndication import public_addresses
from webapp.register.syndication.public_addresses import LEFT_OUT, arguments_by_name, plain_names, public_patterns
from webapp.register.ycsb.claims.entries import entries

pytestmark = pytest.mark.django_db
LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


@pytest.fixture
def make_swept(make_product):
    """Return a function that makes a public run of a load, by the beginning of its key."""
    product = make_product(model="SWEPT")

    def make(key):
        shown = {"visibility": Visibility.PUBLIC, "tier": Tier.REVIEWED}
        run = Run.objects.create(product=product, workload="ycsb", statistic="overall", **shown)
        return YcsbRun.objects.create(run=run, validity="valid", sweep_key=key.ljust(64, "0"))

    return make


def read_locs(response):
    assert response.status_code == 200
    return [element.text for element in read_xml(response).iter(LOC)]


def test_every_public_address_is_listed_or_excluded_with_a_reason():
    assert public_patterns().keys() - {*arguments_by_name(), *LEFT_OUT, *plain_names()} == set()
    assert {*arguments_by_name(), *LEFT_OUT} & set(plain_names()) == set()


def test_every_page_of_the_sitemap_is_answered(client, catalogue, settings):
    locs = read_locs(client.get("/sitemap.xml"))
    assert len(locs) == len(set(locs)) >= 8 + Run.objects.count() + Product.objects.count()
    assert {f"{settings.PUBLIC_URL}/", f"{settings.PUBLIC_URL}/drives/historical/"} < set(locs)
    for loc in locs[:12] + locs[-3:]:
        assert client.get(loc.removeprefix(settings.PUBLIC_URL)).status_code == 200


def test_an_unreviewed_run_and_its_product_are_not_listed(client, make_published_run):
    hidden, shown = make_published_run(visibility=Visibility.UNREVIEWED), make_published_run()
    text = client.get("/sitemap.xml").text
    assert shown.public_id in text
    assert shown.product.slug in text
    assert hidden.public_id not in text
    assert hidden.product.slug not in text


def test_a_withdrawn_run_is_still_listed(client, make_published_run):
    gone = make_published_run(visibility=Visibility.WITHDRAWN)
    assert f"/runs/{gone.public_id}/" in client.get("/sitemap.xml").text


def test_a_large_sitemap_is_split(client, make_published_run, monkeypatch):
    for _ in range(3):
        make_published_run()
    whole = read_locs(client.get("/sitemap.xml"))
    monkeypatch.setattr(public_addresses, "PAGES_A_PART", len(whole) - 1)
    parts = [loc.removeprefix("http://127.0.0.1:8000") for loc in read_locs(client.get("/sitemap.xml"))]
    assert parts == ["/sitemap-1.xml", "/sitemap-2.xml"]
    assert [loc for part in parts for loc in read_locs(client.get(part))] == whole
    assert client.get("/sitemap-3.xml").status_code == 404
    assert client.get("/sitemap-0.xml").status_code == 404


def test_the_sitemap_has_every_public_address_that_is_a_page_in_the_same_order(client, catalogue, make_log_run):
    make_log_run()
    paths = [each.path for each in public_addresses.public_addresses() if each.path.endswith("/")]
    locs = [loc.removeprefix("http://127.0.0.1:8000") for loc in read_locs(client.get("/sitemap.xml"))]
    assert locs == [path for path in paths if path != "/search/"]


def test_an_index_and_each_part_read_no_more_rows_of_a_larger_register(
    client, make_published_run, make_swept, count_rows, monkeypatch
):
    monkeypatch.setattr(public_addresses, "PAGES_A_PART", 40)

    def add_runs():
        for _ in range(30):
            make_published_run()
        for load in "0123456789abcdef":
            make_swept(f"{load}{Run.objects.count()}")
            make_swept(load)

    add_runs()
    of_index = count_rows("/sitemap.xml")
    add_runs()
    assert count_rows("/sitemap.xml") == of_index
    parts = [loc.removeprefix("http://127.0.0.1:8000") for loc in read_locs(client.get("/sitemap.xml"))]
    assert len(parts) > 3
    assert max(map(count_rows, parts)) <= public_addresses.PAGES_A_PART + of_index


def test_a_load_is_listed_once_in_the_order_of_the_keys(client, make_swept):
    for key in ("b", "0", "a9", "a", "b"):
        make_swept(key)
    listed = re.findall("/ycsb/loads/([0-9a-f]{16})/", client.get("/sitemap.xml").text)
    assert listed == [key.ljust(16, "0") for key in ("0", "a", "a9", "b")]


def test_readers_of_the_sitemap_follow_an_index(client, make_published_run, monkeypatch):
    def paths():
        return sitemap_paths(lambda path: client.get(path).content)

    run, whole = make_published_run(), paths()
    assert f"/runs/{run.public_id}/" in whole
    monkeypatch.setattr(public_addresses, "PAGES_A_PART", len(whole) - 1)
    assert paths() == whole


def test_the_sitemap_needs_as_many_queries_for_one_run_as_for_fifty(make_published_run, count_queries):
    make_published_run()
    one = count_queries("/sitemap.xml")
    for _ in range(49):
        make_published_run()
    assert count_queries("/sitemap.xml") == one


def test_files_of_a_run_are_addresses_only_if_they_exist(make_published_run, make_log_run):
    make_published_run()
    with_log = make_log_run()
    paths = [address.path for address in public_addresses.public_addresses()]
    assert [path for path in paths if path.endswith("slices.csv")] == [f"/runs/{with_log.public_id}/slices.csv"]


def test_every_claim_of_a_publication_is_listed_without_its_image(client):
    locs = read_locs(client.get("/sitemap.xml"))
    listed = [loc.removeprefix("http://127.0.0.1:8000") for loc in locs if "/ycsb/claims/" in loc]
    assert listed == ["/ycsb/claims/", *(entry.address for entry in entries())]


def test_robots_are_excluded_from_parameters_and_the_sign_in(client):
    text = client.get("/robots.txt").text.splitlines()
    assert {"Disallow: /*?", "Disallow: /accounts/", "Sitemap: http://127.0.0.1:8000/sitemap.xml"} <= set(text)


def test_pages_with_noindex_are_in_no_sitemap(client):
    assert "noindex" in client.get("/search/").text + client.get("/search/").headers.get("X-Robots-Tag", "")
    assert "/search/" not in client.get("/sitemap.xml").text
