"""The sources of published figures, as far as they were recorded."""

from html import unescape

import pytest
from django.template.loader import render_to_string

from results.catalogue.claims import import_figures
from results.catalogue.rows import CERTIFICATION_PAGE, PublishedSource, published_sources
from results.models import PublishedFigure, Run

pytestmark = pytest.mark.django_db


def test_a_published_result_names_its_page_and_links_to_it(client, catalogue):
    text = client.get(f"/runs/{Run.objects.first().public_id}/").text
    assert "Aerospike: Certifying Flash Devices (SSDs), the certification page." in text
    assert (
        'href="https://aerospike.com/docs/server/operations/plan/ssd/ssd_certification" rel="nofollow noopener"' in text
    )
    assert "not recorded" not in text
    assert "retriev" not in text


def test_a_published_run_from_another_source_does_not_name_that_page(client, make_published_run):
    run = make_published_run()
    assert "Certifying Flash Devices" not in client.get(f"/runs/{run.public_id}/").text


def test_each_ycsb_publication_names_its_recorded_source(client):
    import_figures()
    slugs = set(PublishedFigure.objects.values_list("publication", flat=True))
    assert slugs | {CERTIFICATION_PAGE} == set(published_sources())
    for slug in slugs:
        text = client.get(f"/ycsb/{slug}/").text
        assert f"{published_sources()[slug].publisher}: {published_sources()[slug].title}." in text
        assert "The publication's address, date, page and printed title are not recorded." in unescape(text)


@pytest.mark.parametrize("day", ["", "2025-03-01"])
def test_a_retrieval_date_is_shown_if_it_was_recorded(day):
    source = PublishedSource("s", "Title", "Publisher", "", day)
    said = render_to_string("register/tables/published_source.html", {"source": source}).strip()
    assert said == f"Publisher: Title{', retrieved on ' + day if day else ''}."
