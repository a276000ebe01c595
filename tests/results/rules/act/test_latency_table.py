"""Latency tables compared with upstream's (tests/data/act/6.6/*.latency.txt), with counts from the logs themselves."""

import re

import pytest

from results.rules.act.latency_table import LatencyTable, SliceCounts, latency_table
from tests.results.builders import LOGS

BLOCK = re.compile(r"^after (\d+) sec:\nreads \((\d+) total\)\n((?: .*\n)*)", re.MULTILINE)
SLICE_S = 10


def slices_of(case: str) -> list[SliceCounts]:
    slices: list[SliceCounts] = []
    before, before_total = [0] * 65, 0
    for label, total, buckets in BLOCK.findall((LOGS / f"{case}.log").read_text()):
        if int(label) % SLICE_S:
            continue
        counts = [0] * 65
        for bucket, count in re.findall(r"\((\d+): (\d+)\)", buckets):
            counts[int(bucket)] = int(count)
        difference = [now - then for now, then in zip(counts, before, strict=True)]
        slices.append(SliceCounts(len(slices) + 1, difference, int(total) - before_total))
        before, before_total = counts, int(total)
    return slices


def printed_rows(case: str) -> list[list[str]]:
    lines = (LOGS / f"{case}.latency.txt").read_text().splitlines()
    rows = [line.split() for line in lines]
    return [row for row in rows if len(row) == 19 and (row[0].isdigit() or row[0] in {"avg", "max"})]


@pytest.mark.parametrize(
    "case", ["four-us", "slow-disk-ms", "truncated-midline", "four-ms", "readonly-us", "commit-us"]
)
def test_the_table_is_upstreams_to_the_digit(case):
    expected = printed_rows(case)
    slices = slices_of(case)[: len(expected) - 2]
    table = latency_table(slices, SLICE_S)

    rows = [*table.slices, table.avg, table.max] if table else []
    assert [[row.label, *map(str, row.pct_over), str(row.ops_per_s)] for row in rows] == expected


def table_of(*slices: SliceCounts, columns: int = 17) -> LatencyTable:
    table = latency_table(slices, SLICE_S, columns)
    assert table is not None
    return table


def test_thresholds_are_powers_of_two_up_to_65536():
    table = table_of(*slices_of("four-us"))
    assert table.thresholds[0] == 1
    assert table.thresholds[10] == 1024
    assert table.thresholds[-1] == 65536


def test_a_log_without_a_whole_slice_has_no_table():
    assert latency_table([], SLICE_S) is None


def test_an_empty_slice_counts_as_upstream_counts_it():
    table = table_of(SliceCounts(1, [0, 4], 4), SliceCounts(2, [], 0), columns=2)
    assert [str(share) for share in table.avg.pct_over] == ["50.00", "0.00"]


def test_an_operation_beyond_the_last_column_is_over_all_of_them():
    table = table_of(SliceCounts(1, [0] * 20 + [1], 1))
    assert {str(share) for share in table.max.pct_over} == {"100.00"}
