"""The explanations: a meaning for every column, the numbers of the profile, and the text of the glossary."""

import re
import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.urls import reverse

from results.lifecycle import deadlines
from results.models import WaitingStep
from webapp.register import urls
from webapp.register.explain.glossary_text import glossary_sections, marked, term_address
from webapp.register.tables import categories, columns
from webapp.register.tables.meanings import ALL, PAGE, meaning_address

PAGES = ["", "rules/", "tools/", "generator/", "submit/", "glossary/"]


def codes_of_tables():
    return {column.code for spec in categories.SPECS.values() for column in spec.columns} | {columns.RUN.code}


@pytest.mark.parametrize("code", sorted(codes_of_tables()))
def test_every_column_of_the_tables_leads_to_its_meaning(client, db, code):
    address, _, anchor = meaning_address(code).partition("#")
    assert anchor == code
    assert f'<dt id="{code}">' in client.get(address).text


def test_the_meanings_have_their_own_address(client, db):
    assert 'id="columns"' in client.get("/explain/").text


def test_no_meaning_is_listed_twice():
    codes = [meaning.code for meaning in ALL]
    assert len(codes) == len(set(codes))


def test_every_row_of_the_document_is_a_meaning_in_short_sentences():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [meaning.code for meaning in ALL] == [row.split("`")[1] for row in rows]
    sentences = [sentence for meaning in ALL for sentence in re.split(r"(?<=\.) (?=[A-Z])", meaning.text)]
    assert [sentence for sentence in sentences if len(sentence.split()) > 25 or not sentence.endswith(".")] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_explanation_is_a_public_page_that_is_the_same_for_everyone(client, db, page):
    response = client.get(f"/explain/{page}")
    assert (response.status_code, response["Cache-Control"]) == (200, "public, max-age=60")
    assert response.has_header("ETag")
    assert not response.cookies


@pytest.mark.parametrize("page", PAGES)
def test_an_unknown_parameter_of_the_explanation_is_named(client, db, page):
    response = client.get(f"/explain/{page}?colour=red")
    assert response.status_code == 400
    assert "Unknown parameter “colour”. This page has no parameters." in response.text


def test_the_rules_are_those_of_the_profile(client, db):
    text = client.get("/explain/rules/").text
    assert "67 % reads and 33 % writes of 1,536-byte objects" in text
    assert re.findall(r'<td class="n">([0-9.]+)</td>', text) == ["5", "1", "0.1"]


def test_the_glossary_has_every_term_of_its_source(client, db):
    source = (settings.BASE_DIR / "docs/glossary.md").read_text()
    terms = re.findall(r"^\| (\*\*.+?\*\*) \|", source, re.MULTILINE)
    shown = [str(term.term) for section in glossary_sections() for term in section.terms]
    assert len(terms) > 40
    assert [marked(term) for term in terms] == shown


@pytest.mark.parametrize("name", ["worst slice", "worst hour", "DWPD", "load test", "stress test"])
def test_a_term_has_an_address_on_the_page_of_the_glossary(client, db, name):
    page, _, anchor = term_address(name).partition("#")
    (term,) = re.findall(rf'<dt id="{anchor}">(.+?)</dt>', client.get(page).text)
    assert f"<b>{name}</b>" in term


def test_an_unknown_term_has_no_address():
    with pytest.raises(ValueError, match=r"worst: expected a term of docs/glossary\.md"):
        term_address("worst")


def test_the_glossary_keeps_its_paragraphs_without_their_markup():
    (lab,) = [section for section in glossary_sections() if section.title == "The lab"]
    assert "<b>queued</b>" in lab.paragraphs[0]
    assert "**" not in "".join(lab.paragraphs)


def test_a_line_of_the_glossary_is_escaped():
    assert marked("`a<b` **c** & [d](e.md)") == "<code>a&lt;b</code> <b>c</b> &amp; d"


def test_every_section_of_the_site_is_explained(client, db):
    names = {each.name for each in urls.urlpatterns if "<" not in str(each.pattern)}
    left_out = {"drives-data", "check-answer", "explain", "favicon", "robots", "sitemap", "search-names"}  # for scripts
    left_out.add("claims")  # a redirect to the list of claims
    pages = {reverse(name) for name in names - left_out}
    assert len(pages) > 12
    text = client.get("/explain/").text.split('<h2 id="rooms">')[1].split("<h2")[0]
    assert [page for page in sorted(pages) if f'href="{page}"' not in text] == []


def test_the_page_on_submitting_states_who_acts_and_the_limit_of_each_step(client, db, monkeypatch):
    rule = deadlines.RULES[WaitingStep.REVIEW]
    monkeypatch.setitem(deadlines.RULES, WaitingStep.REVIEW, replace(rule, limit=timedelta(days=31)))
    text = client.get("/explain/submit/").text.replace("\N{NBSP}", " ")
    assert "<b>Approve, ask or decline</b>: a reviewer of another organisation, at most 31 days<" in text
    assert "<b>Answer a question</b>: you, at most 14 days<" in text


@pytest.mark.parametrize("question", ["how long does review take", "publish a result"])
def test_the_search_finds_how_long_review_takes(client, db, question):
    assert 'href="/explain/submit/"' in client.get("/search/", {"q": question}).text.split('id="main"')[1]


def test_the_page_on_submitting_offers_drivetest_and_a_configuration_that_it_accepts(client, db, tmp_path):
    text = client.get("/explain/submit/").text
    assert 'href="/api/v1/agents/program/"' in text
    configuration = tmp_path / "load.conf"
    configuration.write_text(re.search(r'<pre class="sample" tabindex="0">(.*?)</pre>', text, re.DOTALL)[1])
    command = [settings.DRIVETEST, "storage", configuration, "--dry-run"]
    printed = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "reads 60000.000, large-block-reads 705.882, large-block-writes 705.882" in printed.stdout + printed.stderr


def test_without_a_program_the_page_on_submitting_offers_none(client, db, settings, tmp_path):
    settings.DRIVETEST = tmp_path / "none"
    assert "/api/v1/agents/program/" not in client.get("/explain/submit/").text
