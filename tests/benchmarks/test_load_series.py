"""Statistics of a series of runs, its order, and its files."""

import json

import pytest
from load_programs import Load, Ran
from load_series import Series, Table, interval_of_median, ratios, summary

LOAD = Load("/dev/loop7", 1_000, 0, 6)


def ran(cpu_us, others_pct=0.0):
    return Ran(
        reads_count=6_000,
        reads_per_s=1_000.0,
        cpu_us_per_read=cpu_us,
        over_pct=None,
        peak_kib=1,
        others_pct=others_pct,
        rest_pct=0.0,
    )


def cpu(run):
    return run.cpu_us_per_read


def test_the_interval_of_nine_values_lies_between_the_second_and_the_eighth():
    assert interval_of_median([9, 1, 8, 2, 7, 3, 6, 4, 5]) == (2, 8)


@pytest.mark.parametrize(("count", "expected"), [(0, None), (5, None), (6, (1, 6)), (20, (6, 15))])
def test_the_interval_contains_the_median_in_95_of_100_series(count, expected):
    assert interval_of_median(list(range(1, count + 1))) == expected


def test_ratios_are_those_of_each_round():
    found = {(LOAD, "new"): [ran(10.0), ran(30.0)], (LOAD, "old"): [ran(20.0), ran(40.0)]}
    assert ratios(found, LOAD, ("new", "old"), cpu) == [0.5, 0.75]
    assert ratios(found, LOAD, ("new", "missing"), cpu) == []


def test_a_summary_has_median_and_range():
    assert summary([3.0, 1.0, 2.0]) == "2.00 (1.00 - 3.00)"
    assert [summary([]), summary([0.5]), summary([4, 2, 3])] == ["-", "0.50", "3 (2 - 4)"]


def test_each_turn_begins_with_the_next_program():
    order = []

    def program(name):
        return lambda load: order.append(name) or ran(1.0)

    found = Series(1, [], None).in_turn("cost", {name: program(name) for name in "abc"}, [LOAD], 2)
    assert "".join(order) == "abcbca"
    assert [len(rans) for rans in found.values()] == [2, 2, 2]


def test_a_disturbed_run_is_repeated_and_the_least_disturbed_is_used():
    runs = iter([ran(1.0, 9.0), ran(2.0, 4.0), ran(3.0, 5.0), ran(4.0, 0.0)])
    assert Series(3, [], None).quietest(lambda _: next(runs), LOAD).cpu_us_per_read == 2.0
    assert next(runs).cpu_us_per_read == 4.0


def test_the_files_have_every_run_and_the_tables(tmp_path):
    series = Series(1, ["Machine: 2 CPUs."], tmp_path / "result")
    series.in_turn("cost", {"drivetest": lambda _: ran(12.5)}, [LOAD], 1)
    series.add("cost", Table("CPU", ("reads/s", "us"), [("1,000", "12.50")], ["a note"]))
    document = json.loads((tmp_path / "result.json").read_text())
    (run,) = document["runs"]
    assert (run["row"], run["program"], run["load"]["reads"], run["cpu_us_per_read"]) == (
        "cost",
        "drivetest",
        1_000,
        12.5,
    )
    assert document["tables"][0]["rows"] == [["1,000", "12.50"]]
    expected = "### cost\n\n**CPU**\n\n| reads/s | us |\n|---|---|\n| 1,000 | 12.50 |\n\n- a note\n"
    assert (tmp_path / "result.md").read_text() == f"Machine: 2 CPUs.\n\n{expected}"
