from decimal import Decimal

import pytest

from results.models import Certificate, Product, Profile, Run

pytestmark = pytest.mark.django_db


def make_product(number=1):
    return Product.objects.create(slug=f"ex{number}", category="nvme-flash", vendor="Exemplar", model=f"EX{number}")


def make_run(product, visibility="public"):
    run = Run.objects.create(
        product=product, tier="published", visibility=visibility, statistic="steady-as-published", tps=Decimal(525000)
    )
    run.shares.create(statistic="steady-as-published", threshold_us=1000, share_pct=Decimal("0.560"), printed="0.560")
    return run


def test_only_public_and_withdrawn_runs_are_listed(client):
    product = make_product()
    runs = [make_run(product), make_run(product, "withdrawn")]
    make_run(product, "unreviewed")
    make_run(None)
    listed = client.get("/api/v1/runs/").json()["results"]
    assert {run["id"] for run in listed} == {run.public_id for run in runs}
    assert {run["visibility"] for run in listed} == {"public", "withdrawn"}


def test_a_run_keeps_its_published_digits(client):
    run = make_run(make_product())
    answer = client.get(f"/api/v1/runs/{run.public_id}/").json()
    assert answer["shares"][0]["printed"] == "0.560"
    assert (answer["tier"], answer["product"], answer["verdict"]) == ("published", "ex1", None)


def test_an_unreviewed_run_is_not_found(client, script):
    run = make_run(make_product(), "unreviewed")
    assert client.get(f"/api/v1/runs/{run.public_id}/").status_code == 404
    assert script.get(f"/api/v1/runs/{run.public_id}/").status_code == 404


def test_products_are_listed_and_found_by_their_slug(client):
    make_run(make_product())
    assert client.get("/api/v1/products/").json()["results"][0]["id"] == "ex1"
    assert client.get("/api/v1/products/ex1/").json()["vendor"] == "Exemplar"


def test_a_product_without_a_public_run_is_not_found(client, script):
    make_run(make_product(), "unreviewed")
    for sender in (client, script):
        assert sender.get("/api/v1/products/").json()["results"] == []
        assert sender.get("/api/v1/products/ex1/").status_code == 404


def test_a_product_with_a_withdrawn_run_is_still_listed(client):
    make_run(make_product(), "withdrawn")
    assert client.get("/api/v1/products/ex1/").status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/runs/", "/api/v1/products/"])
def test_lists_need_as_many_queries_for_50_rows_as_for_one(client, path, connection_queries):
    make_run(make_product())
    with connection_queries() as one:
        client.get(path)
    for number in range(2, 51):
        make_run(make_product(number))
    with connection_queries() as fifty:
        assert len(client.get(path).json()["results"]) == 50
    assert len(one) == len(fifty)


def test_a_long_list_continues_on_a_next_page(client):
    product = make_product()
    for _ in range(101):
        make_run(product)
    first = client.get("/api/v1/runs/").json()
    assert (len(first["results"]), first["previous"]) == (100, None)
    assert len(client.get(first["next"]).json()["results"]) == 1


@pytest.mark.parametrize(("at_most", "found"), [("5", 1), ("4.999999999", 0)])
def test_runs_are_found_by_their_worst_slice(client, at_most, found):
    run = make_run(make_product())
    run.shares.create(statistic="worst-slice", threshold_us=1000, share_pct=5, printed="5.00")
    answer = client.get("/api/v1/runs/", {"over_us": 1000, "at_most_pct": at_most})
    assert len(answer.json()["results"]) == found


@pytest.mark.parametrize(
    "query",
    [
        {"over_us": 1000}, {"at_most_pct": 5}, {"over_us": 0, "at_most_pct": 5}, {"over_us": 1, "at_most_pct": 101},
        {"over_us": 1, "at_most_pct": 5, "statistic": "best"},
    ],
)  # fmt: skip
def test_an_incomplete_query_for_shares_is_refused(client, db, query):
    assert client.get("/api/v1/runs/", query).status_code == 400


def certify(product, firmware, state="standing"):
    return Certificate.objects.create(
        product=product, profile=Profile.current(), device_count=1, nx_load=30, exact_nx="30", firmware=firmware,
        state=state, document={}, ground=firmware,
    )  # fmt: skip


def test_the_newest_certificate_of_a_model_and_firmware_is_found(client):
    product = make_product(4)
    make_run(product)
    Product.objects.update(capacity_gb=3200, part_number="EX4-3T2")
    first, second = certify(product, "1.2"), certify(product, "1.3")
    certify(product, "1.4", "withdrawn")
    address = "/api/v1/certificates/latest/"
    for query, found in [
        ({"model": "EX4"}, second), ({"model": "ex4-3t2", "firmware": "1.2"}, first), ({"model": "EX4 3.2TB"}, second),
    ]:  # fmt: skip
        assert client.get(address, query).json()["id"] == found.public_id
    assert client.get(address, {"model": "EX4", "firmware": "1.4"}).status_code == 404
    assert client.get(address, {"model": "none-at-all"}).status_code == 404
    assert client.get(address).status_code == 400


def test_the_certificate_of_a_model_with_several_capacities_needs_the_capacity(client):
    for number, capacity_gb in ((1, 1600), (2, 3200)):
        product = Product.objects.create(
            slug=f"ex{number}", category="nvme-flash", vendor="Exemplar", model="EX9", capacity_gb=capacity_gb
        )
        make_run(product)
        certify(product, "1.2")
    address = "/api/v1/certificates/latest/"
    refused = client.get(address, {"model": "EX9"})
    assert (refused.status_code, refused.json()["capacities_gb"]) == (409, [1600, 3200])
    assert client.get(address, {"model": "EX9", "capacity_gb": 1600}).json()["product"] == "ex1"
