"""Every published figure leads to its publication, and what was not recorded is said to be that."""

import pytest

from results.models import PublishedFigure, Run
from results.published_figures import import_figures
from results.published_sources import CERTIFICATION_PAGE, published_sources

pytestmark = pytest.mark.django_db


def test_a_published_result_names_its_page_and_links_to_it(client, catalogue):
    text = client.get(f"/runs/{Run.objects.first().public_id}/").text
    assert "Aerospike: Certifying Flash Devices (SSDs), the certification page." in text
    assert (
        'href="https://aerospike.com/docs/server/operations/plan/ssd/ssd_certification" rel="nofollow noopener"' in text
    )
    assert "day of retrieval: not recorded" in text


def test_a_published_run_that_is_not_of_that_page_is_not_said_to_be(client, make_published_run):
    run = make_published_run()
    assert "Certifying Flash Devices" not in client.get(f"/runs/{run.public_id}/").text


def test_each_ycsb_publication_says_where_it_is_from_or_that_nobody_recorded_it(client):
    import_figures()
    slugs = set(PublishedFigure.objects.values_list("publication", flat=True))
    assert slugs | {CERTIFICATION_PAGE} == set(published_sources())
    for slug in slugs:
        text = client.get(f"/ycsb/{slug}/").text
        assert f"{published_sources()[slug].publisher}: {published_sources()[slug].title}." in text
        assert "Address: not recorded; day of retrieval: not recorded." in text
