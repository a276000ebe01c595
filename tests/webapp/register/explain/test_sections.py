"""The sections of the explanations as text: all that the pages show, without markup."""

import re

import pytest
from django.urls import reverse

from webapp.register.explain.sections import PAGES, explanation_sections
from webapp.register.explain.site_pages import SITE_PAGES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", [name for name, _ in PAGES.values()])
def test_every_heading_of_a_page_is_a_section_of_it(client, name):
    address = reverse(name)
    shown = re.findall(r'<h2 id="([\w-]+)"', client.get(address).text)
    sections = [section.address for section in explanation_sections() if section.address.startswith(f"{address}#")]
    assert shown
    assert sections == [f"{address}#{anchor}" for anchor in shown]


def test_a_section_has_its_text_without_markup():
    (found,) = [section for section in explanation_sections() if section.address == "/explain/#statistics"]
    assert (found.page, found.title) == ("How to read these numbers", "Worst hour, whole run, as published")
    assert found.text.startswith("The verdict depends on the worst slice: the run is cut into slices of one hour")


@pytest.mark.parametrize(
    ("address", "text"),
    [("/explain/submit/#submit", "Submit the unmodified log"), ("/explain/rules/#certificate", "The log of one run")],
)
def test_a_section_with_an_included_paragraph_keeps_its_other_text(address, text):
    (found,) = [section for section in explanation_sections() if section.address == address]
    assert text in found.text


def test_no_section_has_markup_or_tags_of_templates():
    marks = [mark for section in explanation_sections() for mark in re.findall(r"[<{}]|&\w+;", section.title)]
    assert marks == []
    assert [section.title for section in explanation_sections() if re.search(r"{[%{]|</", section.text)] == []


@pytest.mark.parametrize("page", SITE_PAGES, ids=lambda page: page.address)
def test_every_page_of_the_list_is_there(client, page):
    assert client.get(page.address).status_code in {200, 302}
