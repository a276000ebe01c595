"""The rows of the tables of drives by API: the same as those of the pages, in pages with a cursor."""

import json
from decimal import Decimal

import pytest

from results.models import Product, Run
from webapp.register.tables.exports import FIELDS

pytestmark = pytest.mark.django_db
FIGURES = "/api/v1/figures/"


def add_run(number, vendor="Exemplar", category="nvme-flash", share="0.560", **columns):
    product = Product.objects.create(
        slug=f"ex{number}", category=category, vendor=vendor, model=f"EX{number}", capacity_gb=1000 * number
    )
    values = {"tps": Decimal(100_000 * number), "tool": "ACT", "tool_version": "6.2", "visibility": "public"} | columns
    run = Run.objects.create(product=product, tier="published", statistic="steady-as-published", **values)
    run.shares.create(statistic="steady-as-published", threshold_us=1000, share_pct=Decimal(share), printed=share)
    return run


@pytest.mark.parametrize("query", [
    "", "vendor=exemplar", "q=ex2", "min_device_tps=200k", "sort=tps", "limit_1ms=0.7&within=only", "columns=tier",
])  # fmt: skip
def test_a_query_gives_the_rows_of_the_page(client, query):
    for number in range(1, 4):
        add_run(number, vendor="Exemplar" if number % 2 else "Other Maker", share=f"0.{number}50")
    of_page = json.loads(client.get(f"/drives/?{query}&format=json".replace("?&", "?")).content)["rows"]
    found = client.get(f"{FIGURES}?{query}").json()
    rows = [{name: value for name, value in row.items() if name != "is_within_limits"} for row in found["results"]]
    assert rows == of_page
    assert (found["count"], found["next"]) == (len(of_page), None)
    assert of_page


def test_a_row_says_whether_it_is_within_the_limits(client):
    add_run(1, share="0.500")
    add_run(2, share="0.501")
    found = client.get(f"{FIGURES}?limit_1ms=0.5").json()["results"]
    assert {row["product"]: row["is_within_limits"] for row in found} == {"ex1": True, "ex2": False}


def test_all_rows_are_reached_by_the_cursor_once(client, monkeypatch):
    monkeypatch.setattr("webapp.api.figures.ROWS_A_PAGE", 2)
    for number in range(1, 6):
        add_run(number)
    address, seen = f"{FIGURES}?vendor=exemplar", []
    while address:
        page = client.get(address).json()
        seen.append([row["product"] for row in page["results"]])
        assert page["count"] == 5
        address = page["next"]
    assert seen == [["ex5", "ex4"], ["ex3", "ex2"], ["ex1"]]


@pytest.mark.parametrize(("query", "field"), [
    ("cursor=r-none", "cursor"), ("vendor=nobody", "vendor"), ("format=csv", "format"), ("page=2", "page"),
    ("sort=colour", "sort"), ("min_device_tps=fast", "min_device_tps"),
])  # fmt: skip
def test_a_wrong_value_is_refused_with_its_name(client, query, field):
    add_run(1)
    answer = client.get(f"{FIGURES}?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field


def test_the_schema_has_each_field_of_a_row(client):
    schema = client.get("/api/v1/schema/").json()["components"]["schemas"]
    assert schema["Figure"]["properties"].keys() == {*FIELDS, "is_within_limits"}


def test_the_landscape_has_the_points_of_the_chart(client):
    add_run(1, share="0.100")
    add_run(2, share="0.600")
    add_run(3, share="0.200", visibility="withdrawn")
    found = client.get("/api/v1/landscape/?limit_1ms=0.5&threshold=1ms").json()
    points = [(each["product"], each["tps"], each["share_pct"], each["is_within_limits"]) for each in found["results"]]
    assert points == [("ex2", 200_000, 0.6, False), ("ex1", 100_000, 0.1, True)]
    assert [each["is_on_frontier"] for each in found["results"]] == [False, True]
    assert (found["threshold_us"], found["limit_pct"], found["statistic"]) == (1000, 0.5, "steady-as-published")


def test_the_size_of_a_cluster_is_that_of_the_page(client):
    add_run(3)
    query = "reads=1M&writes=200k"
    of_page = json.loads(client.get(f"/sizing/?{query}&format=json").content)["rows"]
    found = client.get(f"/api/v1/sizing/?{query}").json()
    assert found == {"count": len(of_page), "results": of_page}
    assert of_page[0]["product"] == "ex3"
    refused = client.get("/api/v1/sizing/?reads=many")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "reads")
    assert client.get("/api/v1/sizing/?format=csv").status_code == 400
