"""The entries that a search finds: each leads to a page that has it."""

import re

import pytest

from results.catalogue.claims import import_figures
from results.rules.ycsb.statements import Outcome
from webapp.register.search.entries import search_sections
from webapp.register.ycsb.claims.entries import entries

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(db):
    import_figures()


def test_every_entry_leads_to_a_page_with_its_anchor(client, published):
    addresses = {
        entry.address
        for section in search_sections()
        for entry in section.entries
        if not entry.address.startswith("/lab/")
    }
    pages = {address.partition("#")[0] for address in addresses}
    found = {page: client.get(page) for page in pages}
    assert {page: answer.status_code for page, answer in found.items() if answer.status_code not in {200, 302}} == {}
    anchors = {page: set(re.findall(r' id="([\w-]+)"', found[page].text)) for page in pages if found[page].charset}
    split = [address.partition("#") for address in addresses if "#" in address]
    assert [(page, anchor) for page, _, anchor in split if anchor not in anchors[page]] == []


def test_every_section_has_entries(published):
    assert {section.anchor: len(section.entries) > 3 for section in search_sections()} == dict.fromkeys(
        ("publications", "claims", "terms", "pages"), True
    )


def test_publications_without_figures_have_no_page_and_are_not_found():
    assert search_sections()[0].entries == []


def test_a_publication_is_described_by_what_its_claims_are_worth(published):
    (entry,) = [entry for entry in search_sections()[0].entries if entry.publication == "micron-7400-brief"]
    assert (entry.title, entry.address) == ("Micron 7400 PRO against 7300 PRO on RocksDB", "/ycsb/micron-7400-brief/")
    assert entry.detail == "Micron: 1 of 14 claims is contradicted by its own table."


def test_a_claim_is_described_by_its_publication_and_outcome(published):
    address = "/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/"
    (entry,) = [entry for entry in search_sections()[1].entries if entry.address == address]
    assert entry.title == "Micron on the 7400 PRO: 24 % mean improvement over thread counts, workload D"
    assert entry.detail.startswith("Contradicted. Its own table gives 25.8 %. Stated 1.8 percentage points too low: ")
    assert entry.detail.endswith("Micron 7400 PRO against 7300 PRO on RocksDB.")


def test_a_confirmed_claim_does_not_repeat_its_outcome(published):
    confirmed = {each.address for each in entries() if each.outcome is Outcome.CONFIRMED}
    claims = [each for each in search_sections()[1].entries if each.address in confirmed]
    assert claims
    for claim in claims:
        assert claim.detail.lower().count("confirmed") == 1, claim.detail
