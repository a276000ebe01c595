from decimal import Decimal

import pytest

from results.models import Product, Run

pytestmark = pytest.mark.django_db


def climb(product, nx_load, share_pct, **more):
    run = Run.objects.create(
        product=product, tier="reviewed", statistic="worst-slice", visibility="public", nx_load=nx_load, **more
    )
    share = Decimal(share_pct)
    run.shares.create(statistic="worst-slice", threshold_us=1000, share_pct=share, printed=share_pct)
    return run.public_id


@pytest.fixture
def product():
    return Product.objects.create(slug="ex1", category="nvme-flash", vendor="Exemplar", model="EX1")


def ladder_at(client, threshold_us):
    told = client.get("/api/v1/products/ex1/").json()["ladders"]
    return next(ladder for ladder in told if ladder["threshold_us"] == threshold_us)


def test_a_products_ladder_rises_by_load_beside_its_limit(client, product):
    high, low = climb(product, Decimal("20.5"), "5.01"), climb(product, Decimal(10), "5.00")
    ladder = ladder_at(client, 1000)
    assert Decimal(ladder["limit_pct"]) == 5
    assert [(rung["run"], Decimal(rung["nx_load"]), rung["is_within"]) for rung in ladder["measured"]] == [
        (low, 10, True),
        (high, Decimal("20.5"), False),
    ]


def test_a_rung_without_load_stands_apart_and_a_run_that_no_longer_stands_is_left_out(client, product):
    unknown = climb(product, None, "1.00")
    climb(product, Decimal(10), "1.00", workload="act-index")
    withdrawn = climb(product, Decimal(10), "1.00")
    Run.objects.filter(public_id=withdrawn).update(visibility="withdrawn")
    ladder = ladder_at(client, 1000)
    assert ([rung["run"] for rung in ladder["without_load"]], ladder["measured"]) == ([unknown], [])
