"""Refusals do the same queries whether or not the object exists: otherwise the time of a response would tell."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.webapp.routes.table import documented

pytestmark = pytest.mark.django_db

ROUTES = {
    "/runs/<public_id>/": "other", "/runs/<public_id>/log": "other", "/submissions/<public_id>/": "other",
    "/api/v1/runs/<public_id>/intervals/": "other token",
}  # fmt: skip


def tables(world, row, person, public_id):
    """Return which tables the queries of a request read, in order."""
    values, _ = world.parameters(row, person)
    address = world.address(row, person, values | {"public_id": public_id})
    with CaptureQueriesContext(connection) as queries:
        assert world.ask(row, person, address).status_code == 404
    return [query["sql"].partition(" FROM ")[2].partition(" WHERE ")[0] for query in queries.captured_queries]


def test_a_run_or_submission_of_others_takes_the_queries_of_none(world):
    rows = {row.route: row for row in documented() if row.method == "GET" and row.route in ROUTES}
    assert rows.keys() == ROUTES.keys()
    for route, person in ROUTES.items():
        known = world.parameters(rows[route], person)[0]["public_id"]
        found = [tables(world, rows[route], person, public_id) for public_id in (known, f"{known[:2]}missing2")]
        assert found[0] == found[1], route
