"""Boxes to select runs: shown if there are several, with their form."""

import re

import pytest

from webapp.register.compare.query import MOST

pytestmark = pytest.mark.django_db


def boxes_of(text):
    """The boxes for runs of the table of a page."""
    boxes = re.findall(r'<input type="checkbox" name="run"[^>]*>', text)
    assert all('form="compare-runs"' in box for box in boxes)
    return len(boxes)


def test_a_drive_with_one_run_has_no_selection(client, make_product, make_log_run):
    product = make_product()
    make_log_run(product=product)
    text = client.get(f"/drive/{product.slug}/").text
    assert boxes_of(text) == 0
    assert "Compare selected" not in text
    assert f'<a href="/compare/?drive={product.slug}" data-carries>with other drives</a>' in text
    make_log_run(product=product)
    text = client.get(f"/drive/{product.slug}/").text
    assert boxes_of(text) == 2
    assert (text.count("Compare selected"), text.count('id="compare-runs"')) == (1, 1)


def test_runs_of_different_statistics_can_be_selected(client, make_product, make_log_run, make_published_run):
    product = make_product()
    make_log_run(product=product)
    make_published_run(product=product)
    assert boxes_of(client.get(f"/drive/{product.slug}/").text) == 2


@pytest.mark.parametrize("path", ["/drives/", "/drives/nvme-flash/", "/drives/cloud/", "/drives/historical/"])
def test_a_page_with_boxes_has_exactly_one_form_for_them(client, catalogue, path):
    text = client.get(path).text
    assert boxes_of(text) > 0
    assert text.count('<form class="chosen" id="compare-runs" action="/compare/"') == 1


def test_the_bar_states_the_limit_of_a_comparison(client, catalogue, monkeypatch):
    assert f"Select 2 to {MOST} runs in the table." in client.get("/drives/nvme-flash/").text
    monkeypatch.setattr("webapp.templatetags.pages.MOST", 4)
    text = client.get("/drives/nvme-flash/?sort=drive").text  # another address: the last pages are kept
    assert 'data-chosen="4"' in text
    assert "Select 2 to 4 runs in the table." in text
