from decimal import Decimal

import pytest

from runners.campaigns.forecast import forecast
from runners.campaigns.terms import Purpose
from tests.runners.campaigns.drives import SMALL, climb, outcome, steady


def rest_of(past, terms=SMALL):
    """What really comes after a piece of a campaign on the 30x drive, and the end that was forecast there."""
    told = forecast(terms, past, 0)
    _, whole = climb(terms, steady(30), past, max((each.ended_s for each in past), default=0))
    return told, len(whole) - len(past), whole[-1].ended_s


@pytest.mark.parametrize("count", range(10))
def test_the_end_lies_in_what_was_forecast(count):
    _, whole = climb(SMALL, steady(30))
    told, runs_count, ended_s = rest_of(whole[:count])
    assert told.fewest_runs <= runs_count <= told.most_runs
    assert told.earliest_s <= ended_s <= told.latest_s


def test_the_forecast_closes_in_on_the_end():
    _, whole = climb(SMALL, steady(30))
    spans = [
        told.latest_s - told.earliest_s for told in (forecast(SMALL, whole[:count], 0) for count in range(len(whole)))
    ]
    assert spans[0] > spans[-1]
    assert spans[-1] == 0


def test_prep_is_said_to_be_missing_from_the_times():
    terms = SMALL.changed(with_prep=True)
    assert forecast(terms, [], 0).has_prep
    assert not forecast(terms, [outcome("prep", None, "passed")], 0).has_prep


def test_where_a_person_has_to_look_nothing_is_forecast():
    assert forecast(SMALL, [outcome("screening", 10, "refused")], 0) is None


def test_an_open_run_is_taken_to_its_end():
    told = forecast(SMALL.changed(max_nx=Decimal(2)), [outcome(Purpose.STRESS, 2, "open")], 0)
    assert told.earliest_s >= 100_000
