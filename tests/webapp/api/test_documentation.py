import pytest
from django.core.management import call_command
from django.urls import get_resolver

from tests.webapp.routes.table import documented, documented_scopes

pytestmark = pytest.mark.django_db


def test_the_schema_is_valid_openapi_without_warnings(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))


def test_the_schema_is_served_and_asks_for_a_bearer_token(client):
    schema = client.get("/api/v1/schema/").json()
    assert schema["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    assert {"token": []} in schema["paths"]["/api/v1/submissions/"]["post"]["security"]


def test_the_page_lists_every_address_without_javascript(client):
    page = client.get("/api/v1/docs/").content.decode()
    page = page.replace("<wbr>", "")  # long addresses have places where a line may break
    patterns = get_resolver("webapp.api.urls").url_patterns
    for pattern in patterns:
        address = str(pattern.pattern).replace("<slug:", "{").replace(">", "}")
        if address not in {"docs/", ""}:
            assert f"/api/v1/{address}" in page
    assert "<script>" not in page
    assert "Idempotency-Key" in page


def test_the_page_states_which_addresses_need_a_token(client):
    page = client.get("/api/v1/docs/").content.decode()
    _, with_token = page.split("<h2>Addresses that need a token</h2>")
    of_tokens = [row for row in documented_scopes() if row.route.startswith("/api/")]
    open_to_readers_too = [row for row in of_tokens if row.route.endswith("/intervals/")]
    # A web server only redirects waiting clients. The process that serves them asks for the token.
    waiting = [row for row in documented() if row.route.startswith("/api/v1/live/")]
    of_agents = [row for row in documented() if row.route.startswith("/api/v1/agents/exchanges/")]
    expected = len(of_tokens) - len(open_to_readers_too) + len(waiting) + len(of_agents)
    assert with_token.count('<section class="find">') == expected > 20
