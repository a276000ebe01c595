"""Published YCSB figures, news and objections by API: the same as those of the pages."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from results.catalogue.claims import import_claims, import_figures
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit
from results.models import Objection, PublishedFigure
from tests.results.builders import make_user
from tests.results.rows import make_product, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(db):
    """Import the figures and claims that a first start imports."""
    import_figures()
    import_claims()


def page_rows(client, address):
    return json.loads(client.get(address).content)["rows"]


def test_published_figures_are_those_of_the_pages(client, published):
    found = client.get("/api/v1/published-figures/").json()
    assert found["results"] == page_rows(client, "/ycsb/?format=json")
    assert found["count"] == PublishedFigure.objects.count() > 0
    one = client.get("/api/v1/published-figures/?publication=kioxia-fl6-brief").json()["results"]
    assert one == page_rows(client, "/ycsb/kioxia-fl6-brief/?format=json")


def test_an_unknown_publication_and_an_unknown_load_are_not_found(client, published):
    refused = client.get("/api/v1/published-figures/?publication=none")
    assert refused.status_code == 404
    assert "kioxia-fl6-brief" in refused.json()["detail"]
    assert client.get("/api/v1/ycsb/loads/none/").status_code == 404


def test_news_are_those_of_the_page_and_lead_to_older_ones(client, published, monkeypatch):
    monkeypatch.setattr("webapp.register.news.changes.CHANGES_PER_PAGE", 1)
    address, found = "/api/v1/news/", []
    while address:
        answer = client.get(address).json()
        assert answer["results"] == page_rows(client, address.replace("/api/v1", "") + ("&" if "?" in address else "?")
                                              + "format=json")  # fmt: skip
        found += answer["results"]
        address = answer["next"]
    assert len({change["event"] for change in found}) == len(found) > 1
    assert client.get("/api/v1/news/?before=0").status_code == 400


def test_only_admitted_objections_are_listed(client, rita):
    run = make_run(make_product())
    objections = [file_objection(run, make_user(name), "Wrong drive.", None, []) for name in ("olga", "oleg")]
    assert client.get("/api/v1/objections/").json()["results"] == []
    admit(objections[0], rita)
    (found,) = client.get("/api/v1/objections/").json()["results"]
    assert (found["id"], found["run"], found["text"]) == (objections[0].public_id, run.public_id, "Wrong drive.")
    admit(objections[1], rita)
    Objection.objects.filter(pk=objections[0].pk).update(admitted_at=timezone.now() + timedelta(days=1))
    listed = client.get("/api/v1/objections/").json()["results"]
    assert [each["id"] for each in listed] == [objections[0].public_id, objections[1].public_id]
    assert found["run_url"] == f"/runs/{run.public_id}/"
    assert "olga" not in str(found)
