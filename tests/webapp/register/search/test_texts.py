"""The texts that a search finds: each leads to a page that has it."""

import re

import pytest

from results.catalogue.claims import import_figures
from webapp.register.search.texts import sources

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(db):
    import_figures()


def test_every_text_leads_to_a_page_with_its_anchor(client, published):
    addresses = {text.address for source in sources() for text in source.texts if not text.address.startswith("/lab/")}
    pages = {address.partition("#")[0] for address in addresses}
    found = {page: client.get(page) for page in pages}
    assert {page: answer.status_code for page, answer in found.items() if answer.status_code not in {200, 302}} == {}
    anchors = {page: set(re.findall(r' id="([\w-]+)"', found[page].text)) for page in pages if found[page].charset}
    split = [address.partition("#") for address in addresses if "#" in address]
    assert [(page, anchor) for page, _, anchor in split if anchor not in anchors[page]] == []


def test_every_source_has_texts(published):
    assert {source.anchor: len(source.texts) > 3 for source in sources()} == dict.fromkeys(
        ("publications", "claims", "terms", "pages"), True
    )


def test_publications_without_figures_have_no_page_and_are_not_found():
    assert sources()[0].texts == []


def test_a_publication_is_described_by_what_its_claims_are_worth(published):
    (text,) = [text for text in sources()[0].texts if text.publication == "micron-7400-brief"]
    assert (text.title, text.address) == ("Micron 7400 PRO against 7300 PRO on RocksDB", "/ycsb/micron-7400-brief/")
    assert text.detail == "1 of 14 claims contradicts its own table."


def test_a_claim_is_described_by_its_publication_and_outcome(published):
    address = "/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/"
    (text,) = [text for text in sources()[1].texts if text.address == address]
    assert text.title == "Micron: mean improvement over thread counts, workload D"
    assert text.detail.endswith("Stated 24 %; its own figures give 25.8 %: contradicted.")
