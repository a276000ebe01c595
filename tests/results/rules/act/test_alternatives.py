"""Better, more enduring and similar drives, on both sides of every edge."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.act.alternatives import (
    EnduranceClass,
    Figures,
    alternatives_to,
    distance,
    endurance_class,
    is_better,
    is_more_enduring,
)

MEDIUM = EnduranceClass.MEDIUM
THIS = Figures("this", 100_000, 40, Fraction(1000), MEDIUM)


def drive(key, speed=100_000, share=40, sustained=Fraction(1000), endurance=MEDIUM):
    return Figures(key, speed, share, sustained, endurance)


def keys(figures):
    return [each.key for each in figures]


@pytest.mark.parametrize(
    ("speed", "share", "better"),
    [
        (100_000, 40, False),
        (100_001, 40, True),
        (100_000, 39, True),
        (100_001, 41, False),
        (99_999, 39, False),
        (100_001, 39, True),
    ],
)
def test_a_better_drive_is_at_least_as_fast_with_at_most_the_share_and_not_equal(speed, share, better):
    assert is_better(drive("other", speed, share), THIS) is better


@pytest.mark.parametrize(("sustained", "more"), [(Fraction(1000), False), (Fraction(1001), True), (None, False)])
def test_a_more_enduring_drive_sustains_a_higher_speed(sustained, more):
    assert is_more_enduring(drive("other", sustained=sustained), THIS) is more


def test_without_an_own_rating_no_drive_is_known_to_sustain_more():
    unrated = drive("unrated", sustained=None)
    assert not is_more_enduring(drive("other"), unrated)


def test_each_kind_lists_the_three_best_and_counts_them_all():
    better = [drive(f"b{speed}", speed) for speed in (100_001, 100_004, 100_002, 100_003)]
    enduring = [drive(f"e{more}", 50_000, sustained=Fraction(1000 + more)) for more in (1, 4, 2, 3)]
    found = alternatives_to(THIS, [*better, *enduring], [])
    assert keys(found.better) == ["b100004", "b100003", "b100002"]
    assert keys(found.enduring) == ["e4", "e3", "e2"]
    assert (found.better_count, found.enduring_count) == (4, 4)


def test_better_drives_of_the_same_capacity_come_first_as_makers_round_it():
    this = replace(THIS, capacity_gb=3200)
    sizes = {"far": 6400, "over": 3297, "under": 3103, "rounded": 3296, "same": 3200, "unknown": None}
    better = [replace(drive(key, 200_000), capacity_gb=size) for key, size in sizes.items()]
    assert keys(alternatives_to(this, better, []).better) == ["rounded", "same", "far"]
    fast = replace(drive("fast", 300_000), capacity_gb=12800)
    assert keys(alternatives_to(this, [fast, better[4]], []).better) == ["same", "fast"]
    assert keys(alternatives_to(THIS, [better[4], fast], []).better) == ["fast", "same"]


def test_no_drive_is_in_two_lists():
    both = drive("both", 200_000, sustained=Fraction(2000))
    found = alternatives_to(THIS, [both], [both, drive("near", 90_000)])
    assert (keys(found.better), keys(found.enduring), keys(found.similar)) == (["both"], [], ["near"])


def test_similar_drives_are_of_the_same_endurance_class_and_nearest_in_speed():
    drives = [drive("half", 50_000), drive("double", 201_000), drive("near", 99_000), drive("third", 33_000)]
    drives += [drive("other", 100_000, endurance=EnduranceClass.LOW)]
    assert keys(alternatives_to(THIS, [], drives).similar) == ["near", "half", "double"]


def test_similar_drives_are_nearest_in_speed_and_capacity_together():
    this = replace(THIS, capacity_gb=3200)
    drives = [drive("smaller", 100_000), drive("slower", 60_000), drive("both", 90_000), drive("unknown", 50_000)]
    sizes = {"smaller": 1600, "slower": 3200, "both": 1920}
    drives = [replace(each, capacity_gb=sizes.get(each.key)) for each in drives]
    assert keys(alternatives_to(this, [], drives).similar) == ["slower", "both", "smaller"]


def test_similar_drives_come_from_the_own_category_and_better_ones_from_all():
    elsewhere = drive("elsewhere", 101_000)
    found = alternatives_to(THIS, [elsewhere], [])
    assert (keys(found.better), keys(found.similar)) == (["elsewhere"], [])


def test_distances_are_exact_ratios_in_both_directions():
    assert distance(drive("a", 3), drive("b", 1)) == distance(drive("b", 1), drive("a", 3)) == 3
    assert distance(THIS, THIS) == 1
    small, large = (replace(THIS, capacity_gb=size) for size in (800, 3200))
    assert distance(small, large) == distance(large, small) == 4
    assert distance(small, THIS) == 1


@pytest.mark.parametrize(
    ("rating", "expected"),
    [
        (None, EnduranceClass.UNRATED),
        (Decimal("1.99"), EnduranceClass.LOW),
        (Decimal("2"), EnduranceClass.MEDIUM),
        (Decimal("4.99"), EnduranceClass.MEDIUM),
        (Decimal("5"), EnduranceClass.HIGH),
    ],
)
def test_a_class_begins_at_its_edge(rating, expected):
    assert endurance_class(rating) == expected
