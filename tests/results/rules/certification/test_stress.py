"""The search over the lightest run of each group, compared with the search over every set of runs."""

import random
from dataclasses import replace
from itertools import combinations
from operator import attrgetter

import pytest

from results.rules.certification.certify import certify
from tests.results.certificate_runs import PREPARED, STATE, drive, run

KEYS = ("nvme:EX4:S1", "nvme:EX4:S2")


def mostly(dice, usual, *others):
    """Return the usual value in five of six cases."""
    return dice.choice([usual] * 5 * len(others) + list(others))


def random_run(dice, number, device_count):
    state = replace(STATE, firmware=mostly(dice, "FW1", "FW2", ""), reset_at_s=mostly(dice, 1_000, 1_500))
    made = replace(PREPARED, id=mostly(dice, "p-1", "p-2"), evidence_id=mostly(dice, "e-1", None))
    keys = KEYS if device_count > 1 else [mostly(dice, *KEYS)]
    drives = tuple(drive(key, preparation=made, before=state, after=state) for key in keys)
    ran = run(f"r-{number:02d}", dice.choice([10, 20, 40]), keys, outcome=mostly(dice, "pass", "fail", "void"))
    return replace(
        ran,
        drives=mostly(dice, drives, None),
        is_virtual=mostly(dice, False, True, None),
        duration_s=mostly(dice, 86_400, 86_399),
    )


def certified(sets, device_count):
    """Return every load that one of the sets certifies."""
    found = (certify(each, device_count).nx_load for each in sets)
    return [nx for nx in found if nx is not None]


@pytest.mark.parametrize("seed", range(60))
def test_the_best_load_of_all_pairs_is_certified(seed):
    dice = random.Random(seed)  # noqa: S311 - sets of runs, no secrets
    runs = [random_run(dice, number, 1) for number in range(9)]
    assert certify(runs).nx_load == max(certified(combinations(runs, 2), 1), default=None)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_load_of_all_fours_is_certified_for_two_devices(seed):
    dice = random.Random(seed)  # noqa: S311 - as above
    runs = [random_run(dice, number, 1 + number % 2) for number in range(10)]
    assert certify(runs, 2).nx_load == max(certified(combinations(runs, 4), 2), default=None)


def test_the_first_id_of_equal_loads_is_chosen_in_any_order():
    runs = [run("r-2", 60, outcome="fail"), run("r-1", 60, outcome="fail"), run("r-0", 30)]
    assert certify(runs).run_ids == certify(sorted(runs, key=attrgetter("id"))).run_ids == ("r-0", "r-1")
