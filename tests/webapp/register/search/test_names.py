"""Names that a search field offers while a reader types."""

import pytest

from webapp.register.search.groups import entries_named
from webapp.register.search.names import DRIVES_AT_MOST, OTHERS_AT_MOST

pytestmark = pytest.mark.django_db


@pytest.fixture
def offered(client):
    def ask(typed):
        names = client.get("/search/names.json", {"q": typed}).json()["names"]
        return {each["name"]: each["address"] for each in names}

    return ask


def test_drives_come_before_terms_and_each_name_leads_to_its_page(offered, make_product, make_published_run):
    make_published_run(product=make_product(vendor="Fast", model="Worst 9", slug="worst-9", capacity_gb=1600))
    found = offered("worst")
    assert next(iter(found)) == "Fast Worst 9 1.6 TB"
    assert found["Fast Worst 9 1.6 TB"] == "/drive/worst-9/"
    assert found["worst slice, worst hour"].startswith("/explain/glossary/#")


def test_a_historical_drive_comes_after_the_current_ones(offered, make_product, make_published_run):
    for model, historical in (("EX1", True), ("EX2", False)):
        product = make_product(vendor="Old", model=model, slug=model.lower(), historical=historical)
        make_published_run(product=product)
    assert [name.split()[1] for name in list(offered("ex"))[:2]] == ["EX2", "EX1"]


@pytest.mark.parametrize(("typed", "is_offered"), [("e", False), ("ex", True), ("", False), ("zz", False)])
def test_names_are_offered_from_two_characters_on(offered, make_product, make_published_run, typed, is_offered):
    make_published_run(product=make_product(vendor="Ex", model="Ex9"))
    assert bool(offered(typed)) == is_offered


def test_the_numbers_of_drives_and_of_other_names_are_bounded(offered, make_product, make_published_run):
    for number in range(DRIVES_AT_MOST + 1):
        make_published_run(product=make_product(vendor="Read", model=f"Read {number}", slug=f"read-{number}"))
    assert len(entries_named("read")) > OTHERS_AT_MOST
    addresses = offered("read").values()
    assert sum(address.startswith("/drive/") for address in addresses) == DRIVES_AT_MOST
    assert len(addresses) <= DRIVES_AT_MOST + OTHERS_AT_MOST


def test_a_drive_without_a_public_result_is_not_offered(offered, make_product, make_log_run):
    make_log_run(product=make_product(model="SECRET9"), visibility="unreviewed")
    assert offered("secret9") == {}


def test_a_search_that_is_too_long_is_refused(client):
    assert client.get("/search/names.json", {"q": "x" * 101}).status_code == 400
