import pytest
from django.test import Client

from results.models import Event, Product
from results.products.moves import merge
from tests.results.builders import make_organisation, make_user
from tests.results.rows import make_product, make_run
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db
PRICE = {"amount": "499.00", "currency": "USD", "stated_on": "2026-05-01", "source_url": "https://example.org/p"}


@pytest.fixture
def product(db):
    product = make_product(slug="ex4", endurance_dwpd="1.00")
    make_run(product)
    return product


@pytest.fixture
def reviewer_script(db):
    organisation = make_organisation("lab")
    rita = make_user("rita", organisation, is_reviewer=True)
    _, secret = issue_token(rita, organisation, "facts", ["review"])
    return Client(headers={"Authorization": f"Bearer {secret}"})


def patch(script, facts, version='"0"', slug="ex4"):
    headers = {} if version is None else {"If-Match": version}
    return script.patch(f"/api/v1/products/{slug}/facts/", facts, "application/json", headers=headers)


def test_a_reviewer_changes_facts_that_everyone_reads(client, product, reviewer_script):
    facts = {"endurance_dwpd": "3", "form_factor": "U.2", "part_numbers": ["EX4-A", "EX4-B"], "reason": "data sheet"}
    answer = patch(reviewer_script, facts)
    assert answer.status_code == 200
    assert (answer.json()["version"], answer.json()["form_factor"]) == (1, "U.2")
    shown = client.get("/api/v1/products/ex4/").json()
    assert (shown["endurance_dwpd"], shown["part_numbers"]) == ("3.00", ["EX4-A", "EX4-B"])
    page = client.get("/drive/ex4/").text
    assert "EX4-A, EX4-B" in page
    assert "endurance from 1 DWPD to 3 DWPD" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "data sheet" in client.get("/news/").text


def test_of_two_editors_of_a_version_the_second_changes_nothing(product, reviewer_script):
    assert patch(reviewer_script, {"pcie_gen": "4", "reason": "data sheet"}).status_code == 200
    refused = patch(reviewer_script, {"pcie_gen": "5", "reason": "data sheet"})
    assert refused.status_code == 412
    assert "expected version 0, found 1" in refused.json()["detail"]
    assert Product.objects.get(slug="ex4").pcie_gen == "4"


@pytest.mark.parametrize(("facts", "version", "status", "words"), [
    ({"pcie_gen": "4", "reason": "x"}, None, 428, "If-Match"),
    ({"pcie_gen": "4", "reason": "x"}, "abc", 412, "Expected a version"),
    ({"pcie_gen": "4"}, '"0"', 400, "required"),
    ({"reason": "x"}, '"0"', 400, "at least one of endurance_dwpd"),
    ({"pciegen": "4", "reason": "x"}, '"0"', 400, "Expected one of endurance_dwpd"),
    ({"endurance_dwpd": -1, "reason": "x"}, '"0"', 400, "greater than or equal to 0"),
    ({"endurance_dwpd": "1.00", "reason": "x"}, '"0"', 409, "already has these facts"),
])  # fmt: skip
def test_refusals_say_what_was_expected(product, reviewer_script, facts, version, status, words):
    answer = patch(reviewer_script, facts, version)
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert not Event.objects.exists()


def test_only_the_token_of_a_reviewer_changes_products(client, script, product):
    assert patch(client, {"pcie_gen": "4", "reason": "x"}).status_code == 401
    refused = patch(script, {"pcie_gen": "4", "reason": "x"})
    assert refused.status_code == 403
    assert refused.json()["code"] == "scope-missing"
    assert patch(script, {"pcie_gen": "4", "reason": "x"}, slug="unknown").status_code == 403
    assert script.post("/api/v1/products/ex4/list-prices/", PRICE, "application/json").status_code == 403


def test_a_list_price_has_a_date_and_a_source(client, product, reviewer_script):
    address = "/api/v1/products/ex4/list-prices/"
    assert reviewer_script.post(address, PRICE, "application/json").status_code == 201
    assert client.get("/api/v1/products/ex4/").json()["list_prices"] == [PRICE]
    assert reviewer_script.post(address, PRICE, "application/json").status_code == 409
    future = reviewer_script.post(address, PRICE | {"stated_on": "2999-01-01"}, "application/json")
    assert "not after" in future.json()["detail"]
    assert reviewer_script.post(address, PRICE | {"currency": "usd"}, "application/json").status_code == 400
    assert "499" in client.get("/drive/ex4/").text


def test_a_former_slug_redirects_in_the_api(client, product, reviewer_script):
    target = make_product(slug="ex5")
    merge(product, target, make_user("ron", is_reviewer=True), "the same drive")
    read = client.get("/api/v1/products/ex4/")
    assert (read.status_code, read.headers["Location"]) == (301, "/api/v1/products/ex5/")
    changed = patch(reviewer_script, {"pcie_gen": "4", "reason": "x"})
    assert (changed.status_code, changed.headers["Location"]) == (308, "/api/v1/products/ex5/facts/")
    assert patch(reviewer_script, {"pcie_gen": "4", "reason": "x"}, slug="ex6").status_code == 404
