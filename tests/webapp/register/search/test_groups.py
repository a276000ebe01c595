"""Groups of found entries: which entries match the words of a search, and in which order."""

import pytest

from results.catalogue.claims import import_figures
from webapp.register.search.groups import SHOWN_AT_MOST, found_groups, named_groups

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(db):
    import_figures()


def found(query):
    return {group.section.anchor: [entry.title for entry in group.entries] for group in found_groups(query)}


def test_a_brief_is_found_by_maker_and_model_with_its_claims(published):
    groups = found("micron 7400 pro")
    assert groups["publications"] == ["Micron 7400 PRO against 7300 PRO on RocksDB"]
    assert len(groups["claims"]) == 14
    assert list(groups) == ["publications", "claims"]


@pytest.mark.parametrize("query", ["DWPD", "what is DWPD", "dwpd?"])
def test_the_term_itself_comes_before_entries_that_contain_it(query):
    assert found(query)["terms"][:2] == ["DWPD", "endurance rating"]


@pytest.mark.parametrize(
    ("query", "term"),
    [("slow reads", "slow read"), ("nines", "nines"), ("worst slice", "worst slice, worst hour"), ("claims", "claim")],
)
def test_the_definition_of_a_term_comes_first_also_by_its_plural(published, query, term):
    groups = found_groups(query)
    entries = next(group for group in groups if group.section.anchor == "terms").entries
    assert entries[0].title == term
    assert groups[0].is_named


def test_a_search_that_names_a_term_shows_terms_before_claims(published):
    assert next(iter(found("latency"))) == "claims"
    assert next(iter(found("slow reads"))) == "terms"


def test_a_title_that_is_the_search_comes_before_longer_titles():
    titles = found("time")["terms"]
    assert titles[0] == "Time"
    assert "service time" in titles[1:]


def test_a_term_is_found_in_the_glossary_and_where_it_is_explained():
    groups = found("worst slice")
    assert groups["terms"][0] == "worst slice, worst hour"
    assert groups["pages"] == ["How to read these numbers: Worst hour, whole run, as published"]


@pytest.mark.parametrize(("query", "page"), [("sizing", "Sizing"), ("claims", "Claims"), ("licence", "About")])
def test_a_page_is_found_by_its_name_or_content(query, page):
    assert found(query)["pages"][0] == page


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        *((query, ["About"]) for query in ("funding", "who pays", "owner", "contact", "sponsor")),
        *((query, ["Submit", "Try your log"]) for query in ("log", "upload")),
    ],
)
def test_a_page_is_found_first_by_what_readers_call_it(query, pages):
    groups = found_groups(query)
    (group,) = [group for group in groups if group.section.anchor == "pages"]
    assert [entry.title for entry in group.entries][: len(pages)] == pages
    assert group.is_named


def test_words_must_begin_a_word():
    titles = found("act")["pages"]
    assert titles[0] == "ACT and YCSB"
    assert "About" not in titles  # it names the contact


def test_a_typing_error_is_corrected():
    assert found("endurence gap")["terms"][0].lower() == "endurance gap"


@pytest.mark.parametrize("query", ["p7400x", "7401 micron", "samsung 990 pro", "zzzzz", "", "?", "what is the"])
def test_other_models_and_unknown_words_find_nothing(published, query):
    assert found(query) == {}


def test_only_the_first_entries_are_shown_with_the_list_of_all(published):
    publications, claims = found_groups("micron 7400 pro")
    assert (len(publications.shown), publications.list_address) == (1, "")
    assert (len(claims.shown), claims.counted) == (SHOWN_AT_MOST, "14 claims")
    assert claims.list_address == "/ycsb/claims/?brief=micron-7400-brief"


def test_the_contradicted_claim_of_a_publication_comes_first(published):
    _, claims = found_groups("micron 7400 pro")
    assert claims.entries[0].title == "Micron on the 7400 PRO: 24 % mean improvement over thread counts, workload D"


def test_publications_and_claims_are_named_by_all_words_of_a_title(published):
    named = [group.section.anchor for group in named_groups(found_groups("Micron 7400"))]
    assert named == ["publications", "claims"]
    assert named_groups(found_groups("aerospike 5.7")) == []


def test_claims_of_several_publications_lead_to_the_list_of_all_claims(published):
    (claims,) = [group for group in found_groups("micron") if group.section.anchor == "claims"]
    assert claims.list_address == "/ycsb/claims/"
