from decimal import Decimal

import pytest

from runners.campaigns.forecast import forecast
from runners.campaigns.terms import Purpose
from tests.runners.campaigns.drives import SMALL, climb, outcome, steady


def rest_of(past, terms=SMALL):
    """Return the forecast after a part of a campaign on the 30x drive, and the real number of runs and end."""
    estimate = forecast(terms, past, 0)
    _, whole = climb(terms, steady(30), past, max((each.ended_s for each in past), default=0))
    return estimate, len(whole) - len(past), whole[-1].ended_s


@pytest.mark.parametrize("count", range(10))
def test_the_real_end_is_within_the_forecast(count):
    _, whole = climb(SMALL, steady(30))
    estimate, runs_count, ended_s = rest_of(whole[:count])
    assert estimate.fewest_runs <= runs_count <= estimate.most_runs
    assert estimate.earliest_s <= ended_s <= estimate.latest_s


def test_the_forecast_closes_in_on_the_end():
    _, whole = climb(SMALL, steady(30))
    spans = [
        estimate.latest_s - estimate.earliest_s
        for estimate in (forecast(SMALL, whole[:count], 0) for count in range(len(whole)))
    ]
    assert spans[0] > spans[-1]
    assert spans[-1] == 0


def test_the_forecast_states_that_prep_is_not_included():
    terms = SMALL.changed(with_prep=True)
    assert forecast(terms, [], 0).has_prep
    assert not forecast(terms, [outcome("prep", None, "passed")], 0).has_prep


def test_nothing_is_forecast_while_a_person_must_decide():
    assert forecast(SMALL, [outcome("screening", 10, "refused")], 0) is None


def test_the_forecast_includes_the_rest_of_an_open_run():
    estimate = forecast(SMALL.changed(max_nx=Decimal(2)), [outcome(Purpose.STRESS, 2, "open")], 0)
    assert estimate.earliest_s >= 100_000
