"""The drive that a claim favours, other computations from its figures, and the figure that it would need."""

from dataclasses import replace
from fractions import Fraction

import pytest

from results.catalogue.claims import check_published_claims
from results.rules.ycsb.claim_analysis import Computation, Favoured, Side, alternatives, favoured, needed_value
from results.rules.ycsb.claims import MEAN_OF_GAINS, OF_TWO, PEAKS, Claim, Figure, check_claim
from results.rules.ycsb.statements import Status, Taken

CLAIM = Claim("p", "throughput gain", "A", "new", "old", "25", "%", "a / b - 1")


def figure(model, value, **columns):
    return Figure("p", model, "A", "throughput", Fraction(value), "ops/s", **columns)


def check(stated, new, old="100", **changes):
    claim = replace(CLAIM, stated_value=stated, **changes)
    return check_claim(claim, [figure("new", new), figure("old", old)])


def swept(computation, stated, new, old):
    claim = replace(CLAIM, stated_value=stated, computation=computation)
    sides = [("new", new), ("old", old)]
    return check_claim(
        claim, [figure(model, value, threads=2**place) for model, sweep in sides for place, value in enumerate(sweep)]
    )


@pytest.mark.parametrize(
    ("stated", "new", "expected"),
    [
        ("25", "125", Favoured(Side.NEITHER, Fraction(0))),
        ("25", "125.4", Favoured(Side.NEITHER, Fraction(-4, 10))),  # rounds to 25
        ("25", "125.6", Favoured(Side.NEITHER, Fraction(-6, 10))),  # cut off to 25
        ("26", "125.4", Favoured(Side.NEITHER, Fraction(6, 10))),  # rounded up
        ("30", "125", Favoured(Side.DEVICE, Fraction(5))),
        ("20", "125", Favoured(Side.AGAINST, Fraction(-5))),
        ("small", "125", Favoured(Side.UNKNOWN)),
    ],
)
def test_a_claim_favours_the_drive_that_looks_better_than_its_figures(stated, new, expected):
    assert favoured(check(stated, new)) == expected


def test_a_claim_without_figures_favours_no_known_drive():
    assert favoured(check_claim(CLAIM, [])) == Favoured(Side.UNKNOWN)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("10.2", Favoured(Side.AGAINST, Fraction("10.2") - Fraction(3500, 340))),
        ("10.3", Favoured(Side.UNDECIDED)),
        ("18.8", Favoured(Side.UNDECIDED)),
        ("18.9", Favoured(Side.DEVICE, Fraction("18.9") - Fraction(4500, 240))),
    ],
)
def test_a_number_in_the_range_of_a_chart_is_undecided_and_one_outside_is_compared_with_its_end(stated, expected):
    claim = replace(CLAIM, stated_value=stated, unit="x", computation="b / a")
    figures = [figure("new", 290, is_read_off=True), figure("old", 4000, is_read_off=True)]
    assert favoured(check_claim(claim, figures)) == expected


def test_a_number_between_the_values_of_several_workloads_is_undecided():
    claim = replace(CLAIM, workload="A-B", stated_value="15")
    figures = [figure("new", 110), figure("old", 100)]
    figures += [
        replace(each, workload="B", value=Fraction(value)) for each, value in zip(figures, (120, 100), strict=True)
    ]
    assert favoured(check_claim(claim, figures)) == Favoured(Side.UNDECIDED)


def values(checked):
    return {
        (each.computation, each.threads): (round(float(each.value), 2), each.gives_stated)
        for each in alternatives(checked)
    }


def test_a_mean_of_gains_has_a_median_a_geometric_mean_sums_and_peaks():
    found = values(swept(MEAN_OF_GAINS, "50", ["110", "120", "180"], ["100", "100", "100"]))
    assert found == {
        (Computation.MEDIAN, None): (20.0, False),
        (Computation.GEOMETRIC_MEAN, None): (33.44, False),  # the cube root of 1.1 x 1.2 x 1.8
        (Computation.OF_SUMS, None): (36.67, False),
        (Computation.OF_PEAKS, None): (80.0, False),
        # Without the first: (20 + 80) / 2.
        (Computation.WITHOUT, 1): (50.0, True),
    }


def test_rows_are_left_out_only_of_a_contradicted_mean():
    sweeps = ["110", "120", "130"], ["100", "100", "100"]
    assert swept(MEAN_OF_GAINS, "20", *sweeps).status is Status.REPRODUCES  # without the second, it is 20 too
    assert all(
        each.computation is not Computation.WITHOUT for each in alternatives(swept(MEAN_OF_GAINS, "20", *sweeps))
    )


def test_a_gain_of_peaks_has_the_gain_at_the_peak_of_the_praised_drive():
    found = values(swept(PEAKS, "20", ["100", "180"], ["150", "120"]))
    assert found[Computation.AT_PEAK, 2] == (50.0, False)
    assert found[Computation.MEAN, None] == (8.33, False)  # of -33.3 and +50
    assert found[Computation.OF_SUMS, None] == (3.7, False)  # 280 / 270


def test_a_percentage_is_also_computed_relative_to_the_other_drive():
    (found,) = alternatives(check("20", "125"))
    assert (found.computation, found.value, found.gives_stated) == (Computation.OTHER_BASE, 20, True)
    (found,) = alternatives(check("25", "80", computation="1 - a / b"))
    assert (found.value, found.gives_stated) == (25, True)


def test_a_ratio_is_also_given_as_percent_less_which_is_not_the_stated_unit():
    (found,) = alternatives(check("75", "25", unit="x", computation="b / a"))
    assert (found.computation, found.value, found.gives_stated) == (Computation.AS_SHARE, 75, False)


def test_values_of_a_chart_and_of_several_workloads_have_no_other_computations():
    figures = [figure("new", 125, is_read_off=True), figure("old", 100)]
    assert alternatives(check_claim(CLAIM, figures)) == []
    others = [replace(each, workload="B", is_read_off=False) for each in figures]
    both = [replace(each, is_read_off=False) for each in figures] + others
    assert alternatives(check_claim(replace(CLAIM, workload="A-B"), both)) == []


@pytest.mark.parametrize(
    ("computation", "stated", "unit", "needed"),
    [
        ("a / b - 1", "25", "%", 125),
        ("1 - a / b", "25", "%", 75),
        ("b / a", "4", "x", 25),
        ("b / a", "0", "x", None),
        ("a / b - 1", "small", "%", None),
        (PEAKS, "25", "%", 125),
        (MEAN_OF_GAINS, "25", "%", None),
    ],
)
def test_the_figure_that_a_claim_would_need_follows_from_its_formula(computation, stated, unit, needed):
    checked = check(stated, "100", computation=computation, unit=unit)
    assert needed_value(checked, Taken(Fraction(100))) == needed


def test_the_needed_figure_gives_exactly_the_stated_number():
    checked_count = 0
    for row in check_published_claims():
        claim = row.check.claim
        for basis in row.check.basis:
            b = basis.rows[0].b
            needed = needed_value(row.check, b) if claim.formula in OF_TWO else None
            if needed is not None:
                compute, unit = OF_TWO[claim.formula]
                assert compute(needed, b.value) * (100 if unit == "%" else 1) == Fraction(claim.stated_value)
                checked_count += 1
    assert checked_count == 33


def test_the_contradicted_claim_of_the_catalogue_favours_the_older_drive_by_1_8_points():
    (row,) = [row for row in check_published_claims() if row.check.status is Status.CONTRADICTS]
    found = favoured(row.check)
    assert (found.side, round(float(found.difference), 1)) == (Side.AGAINST, -1.8)
    without = [each for each in alternatives(row.check) if each.computation is Computation.WITHOUT]
    assert [(each.threads, round(float(each.value), 1)) for each in without] == [(48, 23.8)]
