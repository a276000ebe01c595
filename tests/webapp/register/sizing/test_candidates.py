"""Candidates are those that the rules select, made once for each state of the register, and again after a change."""

from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction

import pytest
from django.db.models import F, Model, Q

from results.models import Product, Run, Tier, Verdict, Visibility
from results.models.categories import OF_DRIVES
from webapp.register.drives.store.column_store import current_store
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import read_limits
from webapp.register.sizing import candidates as of_sizing
from webapp.register.sizing.candidates import candidates
from webapp.register.sizing.query import Kind
from webapp.register.tables.groups import group_of
from webapp.register.tables.marks import run_tier_mark
from webapp.register.tables.sentences import product_name, run_name

pytestmark = pytest.mark.django_db


def add_runs(make_published_run, count):
    for _ in range(count):
        make_published_run(tps=300_000, device_count=1)


def rows_of_a_new_question(count_rows, number):
    count_rows("/sizing/")
    return count_rows(f"/sizing/?data={number}")


def test_a_new_question_reads_as_many_rows_in_a_larger_register(make_published_run, count_rows):
    add_runs(make_published_run, 2)
    few = rows_of_a_new_question(count_rows, 7)
    add_runs(make_published_run, 20)
    assert rows_of_a_new_question(count_rows, 8) == few


def test_own_limits_read_as_many_rows_in_a_larger_register(make_published_run, count_rows):
    add_runs(make_published_run, 2)
    count_rows("/sizing/")
    few = count_rows("/sizing/?limit_1ms=4.5")
    add_runs(make_published_run, 20)
    count_rows("/sizing/")
    assert count_rows("/sizing/?limit_1ms=4.6") == few


def chosen_by_the_database(limits, kind):
    """Return the run that each candidate should have by the rules, selected by SQL."""
    runs = Run.objects.listed().rated().on_drives().current().within(limits.limits, is_own=limits.is_own)
    if kind is Kind.DRIVES:
        has_devices = Q(device_count__gte=1) | Q(device_count=None, tier=Tier.PUBLISHED)
        runs = runs.filter(has_devices, product__category__in=OF_DRIVES, product__capacity_gb__gt=0)
    else:
        runs = runs.filter(product__category="cloud", device_count__gte=1, device_gb__gte=1)
    fastest = runs.filter(tps__gt=0).with_ranked_tps().order_by(F("ranked_tps").desc(nulls_last=True), "pk")
    chosen = {}
    for run in sorted(fastest, key=lambda run: not group_of(run).is_ranked):
        unit = (run.product_id, run.device_count, run.device_gb, run.sole_tenant) if kind is Kind.INSTANCES else ()
        chosen.setdefault(unit or run.product_id, run.public_id)
    return sorted(chosen.values())


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize(
    "own", [{}, {"limit_1ms": "3"}, {"limit_1ms": "0.5"}, {"limit_8ms": "0"}, {"limit_1ms": "100"}]
)
def test_candidates_have_the_runs_that_sql_selects(catalogue, make_log_run, kind, own):
    pm9 = Product.objects.filter(category="nvme-flash", historical=False).first()
    for outcome, tps in (("pass", 9_000_000), ("fail", 9_100_000), ("void", 9_200_000)):
        run = make_log_run(product=pm9, tps=tps, device_count=1, visibility="public", predates_approvals=True)
        Verdict.objects.filter(run=run).update(outcome=outcome)
    limits = read_limits(own, current_limits())
    found = candidates(limits, {}, kind=kind)
    assert sorted(each.run.public_id for each in found) == chosen_by_the_database(limits, kind)
    assert found.every or own


def test_candidates_of_earlier_limits_are_discarded(make_product, make_published_run, monkeypatch):
    monkeypatch.setattr(of_sizing, "CANDIDATES_MAX", 3)
    for product in (make_product(model=f"PM{number}") for number in range(3)):
        for tps, over in ((300_000, "4.0"), (400_000, "4.5"), (500_000, "4.9")):
            make_published_run({1000: over, 8000: "0.1", 64000: "0"}, product, tps=tps, device_count=1)
    kept = []
    for limit in ("5", "4.7", "4.2", "4.6"):
        assert len(candidates(read_limits({"limit_1ms": limit}, current_limits()), {}).every) == 3
        kept.append(len(current_store().cached(("sizing candidates", Kind.DRIVES), dict)))
    assert kept == [3, 6, 9, 3]


def test_a_candidate_has_the_reported_mix_and_the_capacity_that_its_test_used(make_product, make_published_run):
    make_published_run(
        product=make_product(capacity_gb=6400), tps=Decimal("300000.50"), reads_per_s=Decimal("250000.50"),
        writes_per_s=50_000, device_count=2, over_provisioning_pct=10,
    )  # fmt: skip
    (found,) = candidates(read_limits({}, current_limits()), {})
    assert (found.offer.reads_per_s, found.offer.writes_per_s) == (Fraction("125000.25"), 25_000)
    assert found.offer.bytes_for_data == 5_818 * 10**9, "6,400 GB / 1.1"
    assert not found.is_mix_assumed


def test_a_candidate_states_what_its_run_and_its_product_state(make_product, make_published_run):
    product = make_product(vendor="Intel", model="P5", capacity_gb=1600, endurance_dwpd=Decimal("0.30"))
    run = make_published_run(product=product, tps=300_000, device_count=2, source="Aerospike")
    (found,) = candidates(read_limits({}, current_limits()), {})
    assert found.offer.dwpd == Fraction(3, 10)
    assert found.name == product_name(product)
    assert found.basis == f"run {run.public_id}, 2 devices together"
    assert found.tier == run_tier_mark(run)
    assert found.group == group_of(run)


def test_an_instance_states_its_storage_and_whether_its_host_is_its_own(make_product, make_published_run):
    product = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    run = make_published_run(product=product, tps=200_000, device_count=2, device_gb=900, sole_tenant=True)
    (found,) = candidates(read_limits({}, current_limits()), {}, kind=Kind.INSTANCES)
    assert (found.key, found.name) == (run.public_id, f"{run_name(run)}, sole tenant")
    assert found.offer.capacity_bytes == 1800 * 10**9


def test_a_withdrawn_run_is_no_candidate_of_the_next_question(client, make_published_run):
    add_runs(make_published_run, 2)
    before = client.get("/sizing/?format=json").json()["rows"]
    Run.objects.filter(public_id=before[0]["basis"].removeprefix("run ")).update(visibility=Visibility.WITHDRAWN)
    after = client.get("/sizing/?format=json").json()["rows"]
    assert [row["product"] for row in after] == [row["product"] for row in before[1:]]
    assert len(before) == 2


def test_a_price_does_not_stay_for_the_next_question(client, make_published_run):
    add_runs(make_published_run, 1)
    (row,) = client.get("/sizing/?format=json").json()["rows"]
    (priced,) = client.get(f"/sizing/?format=json&price-{row['product']}=100").json()["rows"]
    assert priced["price"]
    assert client.get("/sizing/?format=json").json()["rows"] == [row]


def values_in(value):
    """Yield a value and all values in it."""
    yield value
    if isinstance(value, (list, tuple)):
        within = value
    else:
        within = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else []
    for each in within:
        yield from values_in(each)


@pytest.mark.parametrize("kind", ["drives", "instances"])
def test_a_process_keeps_no_rows_of_the_database(client, make_product, make_published_run, kind):
    cloud = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    make_published_run(product=cloud, tps=200_000, device_count=2, device_gb=900)
    add_runs(make_published_run, 1)
    assert len(client.get(f"/sizing/?of={kind}&format=json").json()["rows"]) == 1
    (kept,) = [value for key, value in current_store().cache.items() if "sizing candidates" in key]
    assert len(kept) == 1
    assert [value for value in values_in(list(kept.values())) if isinstance(value, Model)] == []
