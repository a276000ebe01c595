"""The runs of the candidates are read once for each state of the register, and again after a change."""

from dataclasses import fields, is_dataclass

import pytest
from django.db.models import Model

from results.models import Run, Visibility
from webapp.register.drives.store.column_store import current_store

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
