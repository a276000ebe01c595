from decimal import Decimal

import pytest

from results.models import Product, Run

pytestmark = pytest.mark.django_db


def climb(product, nx_load, share_pct, *, statistic="worst-slice", counts=(None, None), threshold_us=1000, **more):
    run = Run.objects.create(
        product=product, tier="reviewed", statistic=statistic, visibility="public", nx_load=nx_load, **more
    )
    over_count, ops_count = counts
    run.shares.create(
        statistic=statistic, threshold_us=threshold_us, share_pct=Decimal(share_pct), printed=share_pct,
        over_count=over_count, ops_count=ops_count,
    )  # fmt: skip
    return run.public_id


def published(product, nx_load, share_pct):
    return climb(product, nx_load, share_pct, statistic="steady-as-published")


@pytest.fixture
def product():
    return Product.objects.create(slug="ex1", category="nvme-flash", vendor="Exemplar", model="EX1")


def ladder_at(client, threshold_us):
    ladders = client.get("/api/v1/products/ex1/").json()["ladders"]
    return next(ladder for ladder in ladders if ladder["threshold_us"] == threshold_us)


def test_the_ladder_of_a_product_is_ordered_by_load_with_its_limit(client, product):
    high, low = climb(product, Decimal("20.5"), "5.01"), climb(product, Decimal(10), "5.00")
    ladder = ladder_at(client, 1000)
    assert Decimal(ladder["limit_pct"]) == 5
    assert [(rung["run"], Decimal(rung["nx_load"]), rung["is_within"]) for rung in ladder["measured"]] == [
        (low, 10, True),
        (high, Decimal("20.5"), False),
    ]


def test_a_rung_without_load_is_separate_and_a_superseded_run_is_left_out(client, product):
    unknown = climb(product, None, "1.00")
    climb(product, Decimal(10), "1.00", workload="act-index")
    withdrawn = climb(product, Decimal(10), "1.00")
    Run.objects.filter(public_id=withdrawn).update(visibility="withdrawn")
    ladder = ladder_at(client, 1000)
    assert ([rung["run"] for rung in ladder["without_load"]], ladder["measured"]) == ([unknown], [])


def test_runs_are_ordered_by_load_then_share_then_id(client, product):
    climb(product, 50, "2", public_id="r-c")
    climb(product, 50, "2", public_id="r-b")
    climb(product, 50, "1", public_id="r-d")
    climb(product, Decimal("50.5"), "0", public_id="r-a")
    rungs = ladder_at(client, 1000)["measured"]
    assert [rung["run"] for rung in rungs] == ["r-d", "r-b", "r-c", "r-a"]
    assert [rung["nx_load"] for rung in rungs] == ["50", "50", "50", "50.5"]


def test_each_threshold_has_a_ladder_with_or_without_a_limit(client, product):
    climb(product, 1, "1", threshold_us=256)
    climb(product, 1, "1")
    ladders = client.get("/api/v1/products/ex1/").json()["ladders"]
    assert [(ladder["threshold_us"], ladder["limit_pct"]) for ladder in ladders] == [
        (256, None), (1000, "5"), (8000, "1"), (64_000, "0.1"),
    ]  # fmt: skip
    assert [len(ladder["measured"]) for ladder in ladders] == [1, 1, 0, 0]


def test_published_figures_are_separate_and_marked(client, product):
    log, page = climb(product, 30, "4"), published(product, 30, "1")
    ladder = ladder_at(client, 1000)
    assert [(rung["run"], rung["mark"]) for rung in ladder["measured"]] == [(log, "")]
    assert [(rung["run"], rung["mark"]) for rung in ladder["as_published"]] == [(page, "steady state as published")]


def test_runs_of_unknown_load_are_not_on_the_axis(client, product):
    log, page = climb(product, None, "4"), published(product, None, "3")
    ladder = ladder_at(client, 1000)
    assert (ladder["measured"], ladder["as_published"]) == ([], [])
    assert [rung["run"] for rung in ladder["without_load"]] == [page, log]


@pytest.mark.parametrize(("over_count", "is_within"), [(49_999, True), (50_000, True), (50_001, False)])
def test_counts_decide_if_the_printed_share_equals_the_limit(client, product, over_count, is_within):
    climb(product, 30, "5.00", counts=(over_count, 1_000_000))
    assert ladder_at(client, 1000)["measured"][0]["is_within"] is is_within


@pytest.mark.parametrize(("printed", "is_within"), [("5.00", True), ("5.01", False)])
def test_printed_digits_decide_if_there_are_no_counts(client, product, printed, is_within):
    published(product, 30, printed)
    assert ladder_at(client, 1000)["as_published"][0]["is_within"] is is_within


def test_the_share_of_a_whole_run_is_on_no_ladder(client, product):
    climb(product, 30, "1", statistic="overall")
    assert ladder_at(client, 1000)["measured"] == []
