"""The lines of a report with the counts of a histogram, in the grammar of every version."""

import pytest
from django.conf import settings

from webapp.register.runs.log_lines import counted_lines

LOGS = settings.BASE_DIR / "tests/data/act"


def lines_of(path):
    return list(enumerate((LOGS / path).read_bytes().splitlines(keepends=True), start=1))


@pytest.mark.parametrize(
    ("path", "histogram", "end_line", "marked"),
    [
        ("6.6/four-us.log", "reads", 73, [52, 53, 54, 55]),
        ("6.6/four-us.log", "/dev/zram2-reads", 73, [52, 59, 60, 61]),
        ("5.0/four-us.log", "device-reads", 82, [58, 64, 65, 66]),
        ("2.0/single-us.log", "READS", 39, [24, 36, 37, 38]),
        ("1.x/single.log", "READS", 34, [23, 33, 34]),
    ],
)
def test_the_last_report_is_marked_with_the_counts_of_one_histogram(path, histogram, end_line, marked):
    assert counted_lines(lines_of(path)[:end_line], histogram) == marked


@pytest.mark.parametrize(
    "lines", [[], [(7, b"reads (8010 total)\n")], [(7, b"after 1 sec:\n"), (8, b"writes (9 total)\n")]]
)
def test_lines_of_an_incomplete_report_are_not_marked(lines):
    assert counted_lines(lines, "reads") == []


def test_a_histogram_does_not_match_a_longer_name():
    lines = [(1, b"after 1 sec:"), (2, b"reads-response (5 total)"), (3, b" (01: 0000000005)"), (4, b"reads (6 total)")]
    assert counted_lines(lines, "reads") == [1, 4]
