"""Runs within a limit, found by one index."""

from decimal import Decimal

import pytest
from django.db import connection

from results.models import Run, Share
from results.rules.act.limits import exact_share_pct

pytestmark = pytest.mark.django_db
RUNS = 5_000  # with six shares each: more than ten years of the register


def make_run(over, ops, statistic="worst-slice", threshold_us=1000):
    run = Run.objects.create(tier="reviewed", statistic="worst-slice")
    share_pct = exact_share_pct(over, ops)
    Share.objects.create(
        run=run, statistic=statistic, threshold_us=threshold_us, share_pct=share_pct, printed=f"{share_pct:.2f}",
        over_count=over, ops_count=ops,
    )  # fmt: skip
    return run


def test_a_run_at_the_limit_is_within_it_and_one_more_operation_is_not():
    at_limit, _ = make_run(50_000, 1_000_000), make_run(50_001, 1_000_000)
    assert list(Run.objects.holding(1000, 5)) == [at_limit]


def test_another_threshold_or_statistic_has_its_own_runs():
    make_run(0, 10, threshold_us=8000)
    overall = make_run(0, 10, statistic="overall")
    assert not Run.objects.holding(1000, 5)
    assert list(Run.objects.holding(1000, 5, "overall")) == [overall]


def test_the_index_answers_on_a_table_of_realistic_size():
    Run.objects.bulk_create(Run(tier="reviewed", statistic="worst-slice") for _ in range(RUNS))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO results_share (run_id, statistic, threshold_us, share_pct, printed)"
            " SELECT run.id, kind, time_us, (run.id %% 1000) / 20.0, '' FROM results_run run,"
            " unnest(ARRAY['worst-slice', 'overall']) kind, unnest(ARRAY[1000, 8000, 64000]) time_us",
            [],
        )
        cursor.execute("ANALYZE results_run, results_share")
    plan = Run.objects.holding(1000, Decimal("0.1")).explain()
    assert "share_by_exact_value" in plan
    assert "Seq Scan" not in plan
