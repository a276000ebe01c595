"""The Content-Security-Policy of each route: inline styles are allowed only on pages that draw a chart by Plotly."""

import re

import pytest

from tests.webapp.routes.table import documented

pytestmark = [pytest.mark.django_db, pytest.mark.long]

CHART_PAGES = {"/", "/drives/", "/drives/historical/", "/drives/<category>/", "/compare/", "/runs/<public_id>/"}
# Of a page, and of a picture as a document of its own.
INLINE = re.compile(r"<style|<script(?![^>]* src=)(?![^>]*json)|\s(style|on\w+)=[\"']")
PLOTLY = "plotly-cartesian"


@pytest.fixture
def responses(world):
    """Return each route of the table with its answer to the first kind of client that may open it."""
    found = []
    for row in documented():
        person = next((person for person, answer in row.answers.items() if answer != "no"), "visitor")
        if row.method == "GET":
            values, _ = world.parameters(row, person)
            found.append((row.route, world.ask(row, person, world.address(row, person, values))))
    return found


def test_only_pages_that_draw_charts_allow_inline_styles_and_no_page_inline_scripts(responses):
    policies = {route: response.headers["Content-Security-Policy"] for route, response in responses}
    assert len(policies) > 150
    assert {route for route, policy in policies.items() if "style-src 'self' 'unsafe-inline'" in policy} == CHART_PAGES
    assert {route: policy.count("unsafe") for route, policy in policies.items()} == {
        route: int(route in CHART_PAGES) for route in policies
    }

    texts = {route: each.content.decode(errors="replace") for route, each in responses if not each.streaming}
    assert {route for route, text in texts.items() if INLINE.search(text)} == set()
    charts = {route for route, text in texts.items() if PLOTLY in text}
    assert charts
    assert charts <= CHART_PAGES
