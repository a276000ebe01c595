"""The published figures of the load generator: docs/reference/accuracy.json, which /explain/generator/ shows.

`python3 benchmarks/accuracy.py KIND FILE` stores the last table that a benchmark printed to FILE, with machine, date
and the targets that its figures meet or miss. A new table of a kind replaces the earlier one.
"""

import argparse
import datetime
import json
import math
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/reference/accuracy.json"
DRIVETEST = ROOT / "runners/drivetest/target/release/drivetest"
SCHEMA = "drivecert.accuracy/1"

# Of a cell such as `1.31 (1.16 - 1.47)`, the median counts.
FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
LIST_OF_TEXTS = re.compile(r"\[\n\s+([^\[\]{}]*?)\n\s+\]")


class Table(NamedTuple):
    """A printed table."""

    head: list[str]
    rows: list[list[str]]

    def figures(self, rows: str, column: str) -> dict[str, float]:
        """Return the reported figures of a column, for the rows whose first cell begins with `rows`."""
        if column not in self.head:
            raise ValueError(f"the table has no column '{column}', which a target limits: {', '.join(self.head)}")
        number = self.head.index(column)
        found = {row[0]: FIGURE.search(row[number]) for row in self.rows if row[0].startswith(rows)}
        figures = {name: float(figure[0].replace(",", "")) for name, figure in found.items() if figure}
        if not figures:
            raise ValueError(f"the table reports no '{column}' for a row '{rows}', which a target limits")
        return figures

    def cell(self, name: str, column: str) -> str:
        return next(row[self.head.index(column)] for row in self.rows if row[0] == name)


@dataclass(frozen=True)
class Target:
    """A limit of the figures in one column. With a reference, their deviation from it in percent is limited.

    `rows` and the text `reference` are the beginnings of first cells; a number is a reference itself.
    """

    text: str
    rows: str
    column: str
    at_most: float = math.inf
    at_least: float = -math.inf
    reference: str | float | None = None

    def result(self, table: Table) -> dict[str, Any]:
        """Return whether all rows meet the target, with the figure of the row that is worst."""
        figures = self._deviations(table)
        worst = max(figures, key=lambda name: max(figures[name] - self.at_most, self.at_least - figures[name]))
        measured = f"{worst}: {table.cell(worst, self.column)}"
        if self.reference is not None:
            deviation = figures[worst]
            measured += f", {deviation:.0f} % off" if deviation >= 10 else f", {deviation:.2g} % off"
        return {"text": self.text, "measured": measured, "is_met": self.at_least <= figures[worst] <= self.at_most}

    def _deviations(self, table: Table) -> dict[str, float]:
        figures = table.figures(self.rows, self.column)
        if self.reference is None:
            return figures
        if isinstance(self.reference, str):
            reference = next(iter(table.figures(self.reference, self.column).values()))
        else:
            reference = self.reference
        return {name: 100 * abs(figure / reference - 1) for name, figure in figures.items()}


@dataclass(frozen=True)
class Kind:
    """A kind of measurement: its title, an explanation for every reader, and its targets."""

    title: str
    explanation: str
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Conditions:
    """The program, machine and date of a measurement, and the processor time that other programs used."""

    measured_on: str
    program: str
    machine: str
    load: str
    other_programs: str
    notes: tuple[str, ...] = ()


KINDS = {
    "known-truth": Kind(
        "Known truth",
        "A simulated drive delays a known share of its reads and counts them itself. Each share that drivetest prints "
        "is compared with the drive's own count. Chance may move a share within an interval that contains 99.9 % of "
        "all results. A loop device is a file that Linux presents as a drive. Below a loop device, the host delays "
        "some reads as well; those delays are measured separately.",
        (
            Target("At most 3 shares outside the interval", "", "outside", at_most=3),
            Target("At least 500 shares compared in each place", "", "shares", at_least=500),
        ),
    ),
    "trueness": Kind(
        "Trueness",
        "A result should show the drive, not the settings of the program. The table shows the share of slow reads on "
        "one device with different numbers of workers and of service threads. Workers are the threads of drivetest "
        "that submit requests, and service threads are those of act_storage.",
        (
            Target(
                "With every number of workers, the rate is within 0.1 % of the requested 20,000 reads/s",
                "drivetest", "reads/s achieved", at_most=0.1, reference=20_000.0,
            ),
            Target(
                "With every number of workers, the share is within 20 % of that of one worker",
                "drivetest", "over 1024 us, %", at_most=20, reference="drivetest, 1 worker",
            ),
            Target(
                "With one worker, the median service time (p50) is within 15 % of fio's",
                "drivetest, 1 worker", "p50 us", at_most=15, reference="fio",
            ),
            Target(
                "With one worker, the service time p99 is within 15 % of fio's",
                "drivetest, 1 worker", "p99 us", at_most=15, reference="fio",
            ),
        ),
    ),
    "pacing-and-cpu": Kind(
        "Lateness and processor time, with writes",
        "Lateness is the time from when a request is due to its submission. Processor time includes the work of the "
        "kernel for the program.",
        (
            Target("Processor time at most 0.8 of act_storage's", "drivetest", "CPU / act_storage", at_most=0.8),
            Target("Median lateness (p50) at most 50 us", "drivetest", "lateness p50, us", at_most=50),
            Target("Lateness p99 at most 200 us", "drivetest", "lateness p99, us", at_most=200),
            Target(
                "Median service time (p50) within 15 % of fio's",
                "drivetest", "service p50, us", at_most=15, reference="fio",
            ),
            Target(
                "Service time p99 within 15 % of fio's", "drivetest", "service p99, us", at_most=15, reference="fio"
            ),
        ),
    ),
    "cpu-read-only": Kind(
        "Lateness and processor time, only reads",
        "A high rate without writes, on a loop device over a file and on a device in memory (zram).",
        (
            Target("Processor time at most 1.1 of act_storage's", "drivetest", "CPU / act_storage", at_most=1.1),
            Target("On zram, lateness p99 at most 200 us", "drivetest, zram", "lateness p99, us", at_most=200),
        ),
    ),
}  # fmt: skip


def publish(kind: str, lines: Iterable[str], conditions: Conditions, document: Path = DOCUMENT) -> None:
    """Replace the measurement of a kind by the last table of the lines."""
    table = last_table(lines)
    measurement = {
        "kind": kind,
        "title": KINDS[kind].title,
        "explanation": KINDS[kind].explanation,
        **asdict(conditions),
        "head": table.head,
        "rows": table.rows,
        "targets": [target.result(table) for target in KINDS[kind].targets],
    }
    found = json.loads(document.read_text(encoding="utf-8"))["measurements"] if document.exists() else []
    by_kind = {each["kind"]: each for each in found} | {kind: measurement}
    ordered = [by_kind[name] for name in KINDS if name in by_kind]
    document.write_text(as_text({"schema": SCHEMA, "measurements": ordered}), encoding="utf-8")


def last_table(lines: Iterable[str]) -> Table:
    """Return the last Markdown table of the lines. Bold figures lose their marks."""
    tables: list[list[list[str]]] = []
    is_inside = False
    for line in lines:
        is_row = line.startswith("|")
        if is_row and not is_inside:
            tables.append([])
        if is_row and not re.fullmatch(r"[-|:\s]+", line):
            tables[-1].append([cell.strip() for cell in line.strip().strip("|").replace("**", "").split("|")])
        is_inside = is_row
    if not tables:
        raise ValueError("the output has no table: expected lines that begin with |")
    head, *rows = tables[-1]
    if uneven := [row for row in rows if len(row) != len(head)]:
        raise ValueError(f"expected {len(head)} cells in each row, got {uneven[0]}")
    return Table(head, rows)


def as_text(document: dict[str, Any]) -> str:
    """Return the document as JSON with one line for each row of a table."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return LIST_OF_TEXTS.sub(lambda found: "[" + re.sub(r",\n\s+", ", ", found[1]) + "]", text) + "\n"


def machine() -> str:
    """Return processors and kernel of this machine."""
    models = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{os.cpu_count()} CPUs ({models[0] if models else platform.machine()}), Linux {platform.release()}"


def program(drivetest: Path = DRIVETEST) -> str:
    """Return name and version of the program that was measured."""
    done = subprocess.run([drivetest, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def main() -> int:
    args = arguments()
    conditions = Conditions(
        args.date, args.program or program(), args.machine or machine(), args.load, args.others, tuple(args.note)
    )
    try:
        publish(args.kind, args.printed.read_text(encoding="utf-8").splitlines(), conditions, args.document)
    except ValueError as error:
        sys.exit(f"{args.printed}: {error}")
    return 0


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("printed", type=Path, metavar="FILE", help="output of the benchmark")
    parser.add_argument("--load", required=True, help="rates, device, length and number of runs, in one sentence")
    parser.add_argument("--others", required=True, help="processor time that other programs used")
    parser.add_argument("--note", action="append", default=[], help="sentence to show below the table; repeatable")
    parser.add_argument("--date", default=today(), help="of the measurement, today if absent")
    parser.add_argument("--machine", help="this machine if absent")
    parser.add_argument("--program", help="version of drivetest; that of the release build if absent")
    parser.add_argument("--document", type=Path, default=DOCUMENT, help="default %(default)s")
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main())
