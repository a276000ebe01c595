"""Published claims, compared with their publications' own figures, and the meaning of their wording."""

import csv
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from results.catalogue.claims import PUBLISHED, check_published_claims, read_published_figures
from results.rules.ycsb.claim_terms import claim_id, condition, metric, workloads
from results.rules.ycsb.claims import BasisRow, Claim, Figure, check_claim, law_checks
from results.rules.ycsb.gains import Better, better
from results.rules.ycsb.statements import Status, Taken

# The file rounds 16.525 to 16.5 before it judges that 16 reproduces it (docs/reference/statistics.md).
JUDGED_AFTER_ROUNDING = {("average read-modify-write latency gain", "F"): Status.TRUNCATED}

# The file treats chart values as exact, and refutes a word with a number.
OF_POINTS_OR_WORDS = {
    ("2.3", "latency ratio at 40,000 ops/s (p99.99 read)"): Status.AT_POINTS,
    ("95", "throughput improvement at 15 ms (p99.99 read)"): Status.AT_POINTS,
    ("5", "lower average read latency at 460,000 ops/s"): Status.AT_POINTS,
    ("14", "lower p99.9 read latency at 460,000 ops/s"): Status.AS_READ,
    ("small", "memory utilization: small gains"): Status.IN_WORDS,
}  # fmt: skip

ROWS = list(csv.DictReader((PUBLISHED / "published_claims.csv").read_text().splitlines()))
CHECKED = check_published_claims()


def test_there_are_62_claims():
    assert len(CHECKED) == len(ROWS) == 62


@pytest.mark.parametrize("place", range(62), ids=lambda place: f"line {place + 2}")
def test_a_claim_has_the_value_that_its_figures_give(place):
    assert CHECKED[place].check.printed == ROWS[place]["recomputed_value"]


@pytest.mark.parametrize("place", range(62), ids=lambda place: f"line {place + 2}")
def test_a_claim_has_the_status_that_its_value_gives(place):
    row, check = ROWS[place], CHECKED[place].check
    assert check.printed_status == row["status"]
    expected = JUDGED_AFTER_ROUNDING.get((row["claim"], row["workload"]), row["status"])
    assert check.status == (OF_POINTS_OR_WORDS.get((row["stated_value"], row["claim"]), expected))


def test_four_claims_are_about_chart_values_and_each_is_in_its_span():
    read_off = [row.check for row in CHECKED if row.check.span]
    assert [check.claim.stated_value for check in read_off] == ["2.3", "95", "5", "14"]
    # 23 and 10 ms: 18/15 to 28/5; 45,000 and 23,000 ops/s: 40/28 - 1 to 50/18 - 1.
    assert read_off[0].span == (Fraction(18, 15), Fraction(28, 5))
    assert read_off[1].span == (100 * (Fraction(40, 28) - 1), 100 * (Fraction(50, 18) - 1))


def test_a_claim_that_cannot_be_checked_names_the_missing_figures():
    lacking = [row.check for row in CHECKED if row.check.status is Status.CANNOT_BE_CHECKED]
    assert len(lacking) == 19
    assert all(check.reason and check.values == () and check.printed == "" for check in lacking)


def test_the_gains_of_the_fl6_brief_are_in_the_direction_that_it_calls_better():
    formulas = {Better.HIGHER: "a / b - 1", Better.LOWER: "1 - a / b"}
    rows = [row for row in ROWS if row["publication"] == "kioxia-fl6-brief"]
    assert [formulas[better(metric(row["claim"]), row["publication"])] for row in rows] == [
        row["computation"] for row in rows
    ]


CLAIM = Claim("p", "average read latency gain", "A", "new", "old", "25", "%", "1 - a / b")


def figure(model, value, metric="read_latency_avg", **columns):
    return Figure("p", model, "A", metric, Fraction(value), "us", **columns)


PAIR = [figure("new", 75), figure("old", 100)]


def test_a_claim_is_computed_from_its_two_drives():
    check = check_claim(CLAIM, PAIR)
    assert (check.values, check.printed, check.status) == ((Fraction(25),), "25.0", Status.REPRODUCES)


@pytest.mark.parametrize(
    ("changes", "figures", "reason"),
    [
        ({}, PAIR[:1], "no figure of read_latency_avg for old, workload A"),
        ({}, [*PAIR, figure("old", 90)], "expected one figure of old, found 2"),
        ({}, [PAIR[0], figure("old", 0)], "the divisor is 0"),
        ({"publication": "other"}, PAIR, "no figure"),
        ({"workload": "A-B"}, PAIR, "workload B"),
        ({"computation": ""}, PAIR, "states no figures for this claim"),
        ({"computation": "a squared"}, PAIR, "not known: a squared"),
        ({"computation": "b / a at a fixed colour"}, PAIR, "not known"),
        ({"computation": "b / a"}, PAIR, "gives x, the claim is in %"),
        ({"claim": "prettier"}, PAIR, "names no metric: prettier"),
        ({"computation": "1 - a / b at a fixed throughput"}, PAIR, "names no throughput that is fixed"),
        ({"computation": "a / b - 1 at a fixed latency", "claim": "throughput at 5 ms"}, PAIR, "names no latency"),
    ],
)
def test_missing_figures_are_named_and_never_filled_in(changes, figures, reason):
    check = check_claim(replace(CLAIM, **changes), figures)
    assert check.status is Status.CANNOT_BE_CHECKED
    assert reason in check.reason.sentence()


@pytest.mark.parametrize(
    ("stated", "status"),
    [("10.2", Status.CONTRADICTS), ("10.3", Status.AS_READ), ("18.8", Status.AS_READ), ("18.9", Status.CONTRADICTS)],
)
def test_a_claim_about_chart_values_is_judged_by_their_span(stated, status):
    claim = replace(CLAIM, stated_value=stated, unit="x", computation="b / a")
    figures = [figure("new", 290, is_read_off=True), figure("old", 4000, is_read_off=True)]
    check = check_claim(claim, figures)
    assert (check.status, check.printed_status) == (status, Status.CONTRADICTS)


def test_one_chart_value_is_enough_for_a_span_and_a_printed_value_has_none():
    figures = [figure("new", 75), figure("old", 100, is_read_off=True)]
    assert check_claim(CLAIM, figures).span == (-50, 50)
    assert check_claim(CLAIM, PAIR).span is None


def test_a_fixed_throughput_selects_its_figures():
    claim = replace(
        CLAIM, claim="lower average read latency at 1,000 ops/s", unit="x", computation="b / a at a fixed throughput"
    )
    at, elsewhere = {"at_ops_per_s": Fraction(1000)}, {"at_ops_per_s": Fraction(999)}
    figures = [figure("new", 20, **at), figure("old", 50, **at), figure("old", 90, **elsewhere)]
    assert check_claim(claim, figures).values == (Fraction(5, 2),)


def test_a_fixed_latency_selects_its_figures_in_any_unit():
    claim = replace(CLAIM, claim="throughput at 15 ms (p99.9 read)", computation="a / b - 1 at a fixed latency")
    figures = [
        figure("new", 15_000, "read_latency_p99_9", at_ops_per_s=Fraction(300)),
        replace(figure("old", 15, "read_latency_p99_9", at_ops_per_s=Fraction(200)), unit="ms"),
    ]
    assert check_claim(claim, figures).values == (50,)


def test_a_falling_mean_latency_over_thread_counts_is_a_gain():
    claim = replace(CLAIM, claim="lower average read latency", computation="mean of per-thread-count improvements")
    figures = [figure(model, value, threads=4) for model, value in (("new", 75), ("old", 100))]
    assert check_claim(claim, figures).values == (25,)


def test_two_figures_for_one_thread_count_give_no_sweep():
    claim = replace(CLAIM, computation="mean of per-thread-count improvements")
    figures = [*PAIR, figure("new", 1, threads=4), figure("new", 2, threads=4), figure("old", 1, threads=4)]
    assert "several figures" in check_claim(claim, figures).reason.sentence()


def test_several_workloads_print_as_a_span():
    claim = replace(CLAIM, workload="A-B")
    others = [replace(each, workload="B", value=Fraction(value)) for each, value in zip(PAIR, (90, 100), strict=True)]
    check = check_claim(claim, [*PAIR, *others])
    assert (check.printed, check.status) == ("10.0 to 25.0", Status.CONTRADICTS)


@pytest.mark.parametrize("text", ["average read latency at its highest point", "at 5 apples", "p99.9 latency"])
def test_a_claim_without_fixed_values_has_no_condition(text):
    assert condition(text) is None


def test_workloads_are_named_one_by_one():
    assert workloads("C-F") == ("C", "D", "E", "F")


def test_one_published_run_violates_littles_law():
    impossible = [each for each in law_checks(read_published_figures()) if not each.law.is_possible]
    assert [(each.model, each.workload, round(each.law.in_flight)) for each in impossible] == [
        ("TLC PCIe 4.0", "A", 135)
    ]


def test_a_published_run_without_all_its_latencies_has_no_operations_in_flight():
    checked = {(each.publication, each.workload) for each in law_checks(read_published_figures())}
    assert checked == {("kioxia-fl6-brief", workload) for workload in "ABCDEF"}


def test_every_claim_has_an_id_of_its_own_that_an_address_can_have():
    ids = [(row["publication"], claim_id(row["claim"], row["workload"])) for row in ROWS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for _, name in ids)


def test_the_id_of_a_claim_is_permanent():
    assert claim_id("mean improvement over thread counts", "D") == "mean-improvement-over-thread-counts-d"
    assert claim_id("average read latency at 400,000 ops/s", "C") == "average-read-latency-at-400000-ops-s-c"
    assert claim_id("storage throughput at 19 us latency", "") == "storage-throughput-at-19-us-latency"
    assert claim_id("throughput improvement at 15 ms (p99.99 read)", "A") == (
        "throughput-improvement-at-15-ms-p99-99-read-a"
    )


def test_a_check_has_the_figures_that_it_was_computed_from():
    (basis,) = check_claim(CLAIM, PAIR).basis
    assert (basis.workload, basis.metric, basis.unit) == ("A", "read_latency_avg", "us")
    assert basis.rows == (BasisRow(None, Taken(Fraction(75)), Taken(Fraction(100))),)
    assert check_claim(CLAIM, PAIR[:1]).basis == ()


def test_the_figures_of_a_sweep_are_in_thread_order_and_a_missing_one_stays_missing():
    claim = replace(CLAIM, computation="mean of per-thread-count improvements")
    figures = [figure("new", 75, threads=8), figure("new", 70, threads=4), figure("old", 100, threads=8)]
    (basis,) = check_claim(claim, figures).basis
    assert [(row.threads, row.a and row.a.value, row.b and row.b.value) for row in basis.rows] == [
        (4, 70, None), (8, 75, 100),
    ]  # fmt: skip


def test_a_fixed_latency_has_throughputs_as_its_figures():
    (row,) = [row.check for row in CHECKED if row.check.claim.claim.startswith("throughput improvement at 15 ms")]
    (basis,) = row.basis
    assert (basis.metric, basis.unit, basis.rows[0].a) == ("throughput", "ops/s", Taken(Fraction(45_000), True))
