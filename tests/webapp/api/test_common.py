"""What all requests of the API have in common: strict parameters, ETags, other sites, and times to try again."""

import re
from base64 import b64encode
from datetime import UTC, date, datetime, time
from urllib.parse import urlencode

import pytest
from django.test import Client

from results.access.intervals import BusyError
from results.reader.process import ReaderBrokenError
from tests.results.rows import make_product, make_run
from tests.webapp.routes.table import routes
from webapp.api.agents import IsAgent
from webapp.api.permissions import NeedsScope
from webapp.api.problems import problem_details

pytestmark = pytest.mark.django_db
ELSEWHERE = {"Origin": "https://elsewhere.example"}
VALUES = {
    "device_id": "1", "slug": "ex4", "public_id": "r-none", "publication": "none", "name": "none", "key": "none",
    "delivery_id": "none", "window_id": "1", "sha256": "none",
}  # fmt: skip
PAGES = {"/api/v1/docs/", "/api/v1/schema/", "/api/v1/"}
# They need no scope, but they are for clients of an organisation.
OF_ORGANISATIONS = ("/api/v1/agents/", "/api/v1/live/", "/api/v1/trusted-publishing/")


def api_routes():
    """Return the views of the API by route, but for the description and for addresses that do not exist."""
    found = {route: getattr(pattern.callback, "cls", None) for route, pattern in routes().items()}
    return {route: view for route, view in found.items() if route.startswith("/api/v1/") and route not in PAGES}


def address_of(route):
    return re.sub(r"<(\w+)>", lambda name: VALUES[name[1]], route)


def test_an_unknown_parameter_is_refused_with_the_known_ones_at_every_address(client, script, stand_in, evidence_dir):
    make_run(make_product(slug="ex4"))
    for route, view in api_routes().items():
        if IsAgent in view.permission_classes:
            continue  # no parameter is known, and the sender is no user: tests/runners/hosts/test_agent.py
        sender = script if NeedsScope in view.permission_classes else client
        method = "get" if hasattr(view, "get") else "post"
        answer = getattr(sender, method)(f"{address_of(route)}?colour=red")
        if view.permission_classes != [NeedsScope] and answer.status_code == 403:
            continue  # for reviewers
        assert answer.status_code == 400, route
        assert answer.json()["errors"][0]["field"] == "colour", route
        assert "colour" in answer.json()["detail"], route


def test_a_similar_parameter_is_suggested(client):
    assert "Did you mean" in client.get("/api/v1/figures/?vendr=Micron").json()["detail"]


@pytest.mark.parametrize("address", ["/api/v1/products/", "/api/v1/products/ex4/", "/api/v1/figures/", "/api/v1/runs/"])
def test_a_repeated_request_with_the_etag_gets_304_until_the_rows_change(client, address):
    run = make_run(product := make_product(slug="ex4"))
    first = client.get(address)
    again = client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert "public" in first.headers["Cache-Control"]
    product.form_factor = "U.2"
    product.save()
    run.tps = 1
    run.save()
    make_run(make_product(slug="ex5"))
    assert client.get(address, headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_what_a_token_opens_is_for_no_shared_cache(script):
    answer = script.get("/api/v1/submissions/")
    assert answer.headers["Cache-Control"] == "private, no-cache"
    again = script.get("/api/v1/submissions/", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_pages_of_other_sites_read_what_is_public_and_nothing_else(client):
    for route, view in api_routes().items():
        is_open = NeedsScope not in view.permission_classes and not route.startswith(OF_ORGANISATIONS)
        answer = client.options(address_of(route), headers=ELSEWHERE | {"Access-Control-Request-Method": "GET"})
        assert (answer.headers.get("Access-Control-Allow-Origin") == "*") == is_open, route
        assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(("error", "status"), [(BusyError("a"), 429), (ReaderBrokenError("a"), 503)])
def test_a_client_is_told_when_to_try_again(error, status):
    answer = problem_details(error, {})
    assert answer.status_code == status
    assert int(answer.headers["Retry-After"]) > 0


def test_a_client_over_the_rate_is_told_when_to_try_again(client, monkeypatch):
    monkeypatch.setattr("webapp.api.authentication.ReadThrottle.rate", "2/min")
    answers = [client.get("/api/v1/products/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 0 < int(answers[-1].headers["Retry-After"]) <= 60


def test_an_anonymous_request_is_told_how_to_send_a_token():
    answer = Client().get("/api/v1/submissions/")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="drivecert"')


def test_the_end_of_a_parameter_is_announced_to_those_who_use_it(client):
    used = client.get("/api/v1/runs/?over_us=1000&at_most_pct=5")
    assert used.headers["Deprecation"] == "@1795910400"
    assert used.headers["Sunset"] == "Tue, 01 Jun 2027 00:00:00 GMT"
    unused = client.get("/api/v1/runs/")
    assert "Deprecation" not in unused.headers
    assert "Sunset" not in unused.headers


@pytest.mark.parametrize(("day", "status"), [(date(2027, 5, 31), 200), (date(2027, 6, 1), 410)])
def test_a_parameter_is_refused_from_its_end_on(client, monkeypatch, day, status):
    now = datetime.combine(day, time.min, UTC)
    monkeypatch.setattr("webapp.api.views.timezone.now", lambda: now)
    answer = client.get("/api/v1/runs/?over_us=1000&at_most_pct=5")
    assert answer.status_code == status
    assert status == 200 or answer.json()["code"] == "parameter-ended"
    assert client.get("/api/v1/runs/").status_code == 200


@pytest.mark.parametrize("position", ["abc", "9" * 40, "-1", "\0", "\u0661"])
@pytest.mark.parametrize("address", ["products", "runs", "certificates", "objections"])
def test_a_made_up_cursor_is_not_found(client, address, position):
    cursor = b64encode(urlencode({"p": position}).encode()).decode()
    assert client.get(f"/api/v1/{address}/", {"cursor": cursor}).status_code == 404


@pytest.mark.parametrize("address", ["published-figures/?publication=", "figures/?cursor="])
def test_a_nul_character_is_refused(client, address):
    assert client.get(f"/api/v1/{address}%00").status_code == 400
