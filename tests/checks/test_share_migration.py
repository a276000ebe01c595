"""The migration of shares: same results as for new shares, and reversible."""

from decimal import Decimal

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from results.models import Run, Share
from results.rules.act.limits import exact_share_pct

CASES = [(1, 3), (50_001, 1_000_000), (50_000, 1_000_000), (0, 7), (7, 7), (2**62 - 1, 2**62), (1, 10**15)]


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_migration_makes_shares_exact_and_its_reversal_restores_the_printed_ones():
    run = Run.objects.create(tier="reviewed", statistic="worst-slice")
    for place, (over, ops) in enumerate(CASES):
        run.shares.create(
            statistic="worst-slice", threshold_us=place, share_pct=1, printed="1.00", over_count=over, ops_count=ops
        )
    run.shares.create(statistic="overall", threshold_us=0, share_pct=Decimal("0.56"), printed="0.560")
    # Of all apps: the reversal also reverses every migration that depends on it.
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate([("results", "0012_ycsb_runs")])
    MigrationExecutor(connection).migrate(newest)
    exact = [exact_share_pct(over, ops) for over, ops in CASES]
    shares = Share.objects.order_by("threshold_us")
    assert list(shares.filter(statistic="worst-slice").values_list("share_pct", flat=True)) == exact
    assert shares.get(statistic="overall").share_pct == Decimal("0.56")
