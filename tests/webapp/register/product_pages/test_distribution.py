"""The distribution of the headline's run: drawn for a log of several buckets, and never for a withheld one."""

import pytest

from results.models import Evidence
from tests.webapp.register.conftest import SLOW_DISK_SLICES, SLOW_DISK_VERDICT

pytestmark = pytest.mark.django_db
PASSES = SLOW_DISK_VERDICT | {"outcome": "pass", "headline": "passes", "violations": [], "reasons": []}
COUNTS = [sum(row) for row in zip(*(counts + [0] * (11 - len(counts)) for _, counts in SLOW_DISK_SLICES), strict=True)]


@pytest.fixture
def run(make_log_run):
    run = make_log_run(document=PASSES | {"shares": []}, device_count=1, nx_load=2)
    run.histograms.update(counts=COUNTS)
    return run


def test_the_buckets_of_the_log_are_drawn_with_the_thresholds(client, run):
    response = client.get(f"/drive/{run.product.slug}/")
    svg = response.context["distribution"].svg.replace("\N{NO-BREAK SPACE}", " ")
    assert svg.count('class="bar') == sum(count > 0 for count in COUNTS)
    assert all(f">{edge}</text>" in svg for edge in ("1 ms", "8 ms", "64 ms"))
    assert f'<a href="/runs/{run.public_id}/#buckets">Show as table</a>' in response.text


def test_lines_are_explained_only_if_a_threshold_is_in_range(client, run):
    assert "Vertical lines are the thresholds" in client.get(f"/drive/{run.product.slug}/").text
    run.histograms.update(counts=[0] * 9 + [12, 1])  # all buckets are slower than the thresholds
    assert "Vertical lines are the thresholds" not in client.get(f"/drive/{run.product.slug}/").text


def test_a_limit_of_the_reader_does_not_move_its_threshold(context_of, run):
    plain, own = context_of(run.product), context_of(run.product, "?limit_1ms=1")
    assert plain["distribution"].svg == own["distribution"].svg


def test_a_withheld_log_is_not_drawn(context_of, run):
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    assert context_of(run.product)["distribution"] is None


def test_a_single_bucket_is_no_distribution(context_of, run):
    run.histograms.update(counts=[0, 12, 0])
    assert context_of(run.product)["distribution"] is None
    run.histograms.update(counts=[1, 12, 0])
    assert context_of(run.product)["distribution"] is not None


def test_a_published_result_has_none(context_of, make_ranked):
    assert context_of(make_ranked(100_000))["distribution"] is None


def test_a_ladder_takes_its_place(context_of, run, make_log_run):
    other = make_log_run(product=run.product, document=PASSES | {"shares": []}, device_count=1, nx_load=3)
    other.histograms.update(counts=COUNTS)
    context = context_of(run.product)
    assert (context["distribution"], len(context["ladders"])) == (None, 1)
