"""The fleet check in the API: a list as the body, with any content type."""

import json

import pytest

from results.catalogue.importer import import_catalogue
from webapp.register.fleet.views import LIST_BYTES_MAX

pytestmark = pytest.mark.django_db
LIST = json.dumps({"Devices": [{"ModelNumber": "SanDisk DC SN861", "PhysicalSize": 6400000000000}]})


@pytest.mark.parametrize("content_type", ["application/json", "text/csv", "text/plain", "application/octet-stream"])
def test_a_list_is_answered_for_any_content_type(client, content_type):
    import_catalogue()
    response = client.generic("POST", "/api/v1/check/", LIST, content_type)
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert response.json()["rows"][0]["state"] == "published"
    assert response.json()["counts"]["published"] == 1


def test_the_api_returns_the_answer_of_the_page(client):
    import_catalogue()
    by_api = client.generic("POST", "/api/v1/check/", LIST, "text/plain").json()["rows"]
    assert by_api == client.post("/check/answer/", {"list": LIST, "format": "json"}).json()["rows"]


@pytest.mark.parametrize("body", ["", "prose", "[" * 100_000])
def test_input_that_is_not_a_list_is_a_problem(client, body):
    response = client.generic("POST", "/api/v1/check/", body, "text/plain")
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")
    assert response.json()["detail"].endswith(".")


def test_a_list_that_is_too_large_is_a_problem(client):
    response = client.generic("POST", "/api/v1/check/", "x" * (LIST_BYTES_MAX + 1), "text/plain")
    assert response.status_code == 413


def test_the_limit_of_a_list_does_not_depend_on_the_limit_of_forms(client, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    assert client.generic("POST", "/api/v1/check/", LIST, "text/plain").status_code == 200


def test_only_post_is_allowed(client):
    assert client.get("/api/v1/check/").status_code == 405
