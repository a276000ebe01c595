"""Published claims by API: the same as those of the pages."""

import json

import pytest

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("query", ["", "outcome=contradicted", "brief=kioxia-fl6-brief"])
def test_a_query_gives_the_claims_of_the_page(client, catalogue, query):
    of_page = json.loads(client.get(f"/ycsb/claims/?{query}&format=json".replace("?&", "?")).content)["rows"]
    found = client.get(f"/api/v1/claims/?{query}").json()
    assert found == {"count": len(of_page), "results": of_page}
    assert of_page


def test_a_claim_has_the_figures_that_it_was_recomputed_from(client, catalogue):
    row = client.get("/api/v1/claims/?outcome=contradicted").json()["results"][0]
    address = row["url"].replace("/ycsb/claims/", "/api/v1/claims/")
    found = client.get(address).json()
    of_page = json.loads(client.get(f"{row['url']}?format=json").content)["rows"]
    assert found == row | {"figures": of_page}
    assert of_page


def test_an_unknown_claim_and_an_unknown_outcome_are_refused(client, catalogue):
    assert client.get("/api/v1/claims/none/none/").status_code == 404
    assert client.get("/api/v1/claims/?outcome=wrong").json()["errors"][0]["field"] == "outcome"
