import random
from decimal import Decimal

import pytest

from results.rules.act.limits import exact_share_pct


@pytest.mark.parametrize("limit", ["5", "0.1", "0.123456789"])
def test_a_share_is_within_a_limit_if_and_only_if_the_counts_are(limit):
    dice = random.Random(limit)  # noqa: S311 - made-up counts
    for _ in range(2000):
        ops = dice.randrange(1, 10 ** dice.randrange(1, 16))
        over = max(0, min(ops, int(Decimal(limit) * ops / 100) + dice.randrange(-1, 2)))
        assert (exact_share_pct(over, ops) <= Decimal(limit)) is (
            over * 100 * 10**9 <= int(Decimal(limit) * 10**9) * ops
        )


def test_a_share_that_rounds_to_the_limit_is_over_it():
    assert exact_share_pct(50_001, 1_000_000) > 5
    assert exact_share_pct(50_000, 1_000_000) == 5
    assert (exact_share_pct(0, 7), exact_share_pct(7, 7)) == (0, 100)
