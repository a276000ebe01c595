"""Public pages as a browser without JavaScript receives them."""

import re
from html.parser import HTMLParser

import pytest

from results.catalogue.claims import import_claims, import_figures
from tests.browser.test_pages import VISITS


class HeadingCounter(HTMLParser):
    """Counts the first-level headings in the main part of a page."""

    def __init__(self):
        super().__init__()
        self.main_depth = self.headings_count = 0

    def handle_starttag(self, tag, attrs):
        self.main_depth += tag == "main"
        self.headings_count += tag == "h1" and self.main_depth > 0

    def handle_endtag(self, tag):
        self.main_depth -= tag == "main"


def headings_count(answer):
    counter = HeadingCounter()
    counter.feed(answer.content.decode())
    return counter.headings_count


def test_every_page_has_one_heading_without_javascript(client, catalogue):
    import_figures()
    import_claims()
    answers = {visit.path: client.get(visit.path) for visit in VISITS}
    found = {path: (answer.status_code, headings_count(answer)) for path, answer in answers.items()}
    assert {path: one for path, one in found.items() if one != (200, 1)} == {}


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/drives/", "/drives/nvme-flash/", "/drives/cloud/", "/drives/historical/"])
def test_lists_have_headings_for_filters_charts_and_results(client, catalogue, path):
    headings = re.findall(r'<h2 class="vh">([^<]*)</h2>', client.get(path, follow=True).text)
    assert headings == ["Filters", "Charts of the results", "Results"]
