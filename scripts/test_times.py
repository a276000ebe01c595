"""Print where the time of the tests goes, from the reports that `make test` writes.

Usage: `scripts/test_times.py [DIRECTORY]`. The directory has the JUnit file of pytest (`pytest.xml`) and one line for
each test program of drivetest (`rust.tsv`). docs/reference/test-times.md holds such tables.
"""

import csv
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

DIRECTORY = Path(".test_times")
FOLDER_PARTS = 3  # tests/webapp/register: deeper folders have too few tests for a row of their own
SLOWEST_COUNT = 20


@dataclass(frozen=True)
class TimedTest:
    """One test of the JUnit file; times in seconds, `started` and `ended` since 1970."""

    name: str
    folder: str
    marks: str
    worker: str
    started: float
    ended: float
    processor_s: float

    @property
    def lasted_s(self) -> float:
        return self.ended - self.started


def main() -> None:
    """Print the tables of each report that exists."""
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else DIRECTORY
    if (report := directory / "pytest.xml").exists():
        tests = read_junit(report)
        print_groups("mark", tests, lambda test: test.marks or "none (make quick)")
        print_groups("folder", tests, lambda test: test.folder)
        print_workers(tests)
        slowest = sorted(tests, key=lambda test: -test.lasted_s)[:SLOWEST_COUNT]
        print_table(
            ("slowest tests", "seconds", "processor s"),
            ((test.name, f"{test.lasted_s:.1f}", f"{test.processor_s:.1f}") for test in slowest),
        )
    if (report := directory / "rust.tsv").exists():
        rows = [*csv.reader(report.open(), delimiter="\t")]
        print_table(("test program of drivetest", "tests", "seconds", "processor s"), rows)


def read_junit(report: Path) -> list[TimedTest]:
    """Return the tests of a JUnit file that tests/conftest.py has added its properties to."""
    cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - written by our own pytest
    return [test for case in cases if (test := _timed(case))]


def _timed(case: ElementTree.Element) -> TimedTest | None:
    """Return a test with its times; None if its worker crashed before the end of the test."""
    stated = {each.get("name"): each.get("value", "") for each in case.iter("property")}
    if "ended" not in stated:
        return None
    module = case.get("classname", "")
    return TimedTest(
        name=f"{module}::{case.get('name', '')}",
        folder="/".join(module.split(".")[:-1][:FOLDER_PARTS]),
        marks=stated["marks"],
        worker=stated["worker"],
        started=float(stated["started"]),
        ended=float(stated["ended"]),
        processor_s=float(stated["processor_s"]),
    )


def print_groups(title: str, tests: list[TimedTest], group_of: Callable[[TimedTest], str]) -> None:
    """Print the sums of the tests of each group, the longest first."""
    groups: dict[str, list[TimedTest]] = {}
    for test in tests:
        groups.setdefault(group_of(test), []).append(test)
    sums = {name: sum(test.lasted_s for test in group) for name, group in groups.items()}
    rows = (
        (name, str(len(groups[name])), f"{sums[name]:.1f}", f"{sum(test.processor_s for test in groups[name]):.1f}")
        for name in sorted(groups, key=lambda name: -sums[name])
    )
    print_table((title, "tests", "seconds", "processor s"), rows)


def print_workers(tests: list[TimedTest]) -> None:
    """Print for each worker of xdist how long it had no test: between its tests, and after its last one."""
    session_end = max(test.ended for test in tests)
    rows = []
    for worker in sorted({test.worker for test in tests}):
        own = [test for test in tests if test.worker == worker]
        busy_s = sum(test.lasted_s for test in own)
        first, last = min(test.started for test in own), max(test.ended for test in own)
        idle = (f"{last - first - busy_s:.1f}", f"{session_end - last:.1f}")
        rows.append((worker, str(len(own)), f"{busy_s:.1f}", *idle))
    print_table(("worker", "tests", "seconds with a test", "idle between tests", "idle at the end"), rows)


def print_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...] | list[str]]) -> None:
    """Print a table of Markdown, and a blank line."""
    print(f"| {' | '.join(heads)} |")
    print(f"|{' --- |' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()


if __name__ == "__main__":
    main()
