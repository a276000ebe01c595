"""The published figures of the load generator: docs/reference/accuracy.json, which /explain/generator/ shows.

`python3 benchmarks/accuracy.py KIND FILE` stores the tables of a kind that a benchmark printed to FILE, with machine,
date and the targets that its figures meet or miss. New tables of a kind replace the earlier ones.
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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/reference/accuracy.json"
DRIVETEST = ROOT / "runners/drivetest/target/release/drivetest"
SCHEMA = "drivecert.accuracy/1"

# Of a cell such as `1.31 (1.16 - 1.47)`, the median counts.
FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
INTERVAL = re.compile(r"\[([\d.]+) - ([\d.]+)\]")
DEVICE = re.compile(r"/dev/(loop|zram)\d+")
LIST_OF_TEXTS = re.compile(r'\[\n\s+("(?:[^"\\]|\\.)*"(?:,\n\s+"(?:[^"\\]|\\.)*")*)\n\s+\]')

# The column with the requested rate of each row.
RATE = "reads/s"


class Table(NamedTuple):
    """A printed table, with the notes below it."""

    head: list[str]
    rows: list[list[str]]
    notes: tuple[str, ...] = ()

    def cells(self, rows: str, column: str, from_rate: float = 0, to_rate: float = math.inf) -> dict[int, str]:
        """Return the cells of a column by the numbers of their rows, for rows whose first cell begins with `rows`."""
        if column not in self.head:
            raise ValueError(f"the table has no column '{column}', which a target limits: {', '.join(self.head)}")
        position = self.head.index(column)
        return {
            number: row[position]
            for number, row in enumerate(self.rows)
            if row[0].startswith(rows) and from_rate <= self._rate(row) <= to_rate
        }

    def load(self, number: int) -> tuple[str, float]:
        """Return device and load of a row of a joined table, which follow the program, and the rate."""
        row = self.rows[number]
        return row[0].partition(", ")[2], self._rate(row)

    def name(self, number: int) -> str:
        """Return the first cell of a row, with the rate if the table has a row for each rate."""
        row = self.rows[number]
        return f"{row[0]}, {row[self.head.index(RATE)]} reads/s" if RATE in self.head else row[0]

    def _rate(self, row: list[str]) -> float:
        return (first_figure(row[self.head.index(RATE)]) or 0.0) if RATE in self.head else 0.0


def first_figure(text: str) -> float | None:
    """Return the first figure of a cell, which is the median of a cell such as `1.31 (1.16 - 1.47)`."""
    found = FIGURE.search(text)
    return float(found[0].replace(",", "")) if found else None


@dataclass(frozen=True)
class Target:
    """A limit of the figures in one column. With a reference, their deviation from it in percent is limited.

    `rows`, `spread` and the text `reference` are the beginnings of first cells; a number is a reference itself. With
    `spread`, the interval in square brackets must be within the limits, or exceed them by no more than the interval of
    `spread` at the same load does: the comparison is not more precise than that.
    """

    text: str
    rows: str
    column: str
    at_most: float = math.inf
    at_least: float = -math.inf
    reference: str | float | None = None
    from_rate: float = 0
    to_rate: float = math.inf
    spread: str | None = None

    def result(self, table: Table) -> dict[str, Any]:
        """Return whether all rows meet the target, with the figure of the row that is worst."""
        figures = self._deviations(table)
        excess = {number: self._excess(figure) for number, figure in figures.items()}
        if self.spread is not None:
            spreads = self._figures(table, self.spread)
            spread_excess = {table.load(number): max(0, self._excess(figure)) for number, figure in spreads.items()}
            excess = {number: found - spread_excess.get(table.load(number), 0) for number, found in excess.items()}
        worst = max(excess, key=excess.__getitem__)
        measured = f"{table.name(worst)}: {table.cells('', self.column)[worst]}"
        if self.spread is not None and self._excess(figures[worst]) > 0 >= excess[worst]:
            measured += f", {self.spread} exceeds the limits by as much"
        if self.reference is not None:
            deviation = figures[worst]
            measured += f", {deviation:.0f} % off" if deviation >= 10 else f", {deviation:.2g} % off"
        return {"text": self.text, "measured": measured, "is_met": excess[worst] <= 0}

    def _excess(self, figure: float) -> float:
        """Return by how much a figure exceeds the limits, at most 0 if it does not."""
        return max(figure - self.at_most, self.at_least - figure)

    def _deviations(self, table: Table) -> dict[int, float]:
        figures = self._figures(table, self.rows)
        if self.reference is None:
            return figures
        if isinstance(self.reference, str):
            reference = next(iter(self._figures(table, self.reference).values()))
        else:
            reference = self.reference
        return {number: 100 * abs(figure / reference - 1) for number, figure in figures.items()}

    def _figures(self, table: Table, rows: str) -> dict[int, float]:
        """Return the reported figures by the numbers of their rows; of an interval, the end that is worse."""
        cells = table.cells(rows, self.column, self.from_rate, self.to_rate)
        figures = {number: figure for number, text in cells.items() if (figure := self._figure(text)) is not None}
        if not figures:
            raise ValueError(f"the table reports no '{self.column}' for a row '{rows}', which a target limits")
        return figures

    def _figure(self, text: str) -> float | None:
        if self.spread is None:
            return first_figure(text)
        found = INTERVAL.search(text)
        return max((float(found[1]), float(found[2])), key=self._excess) if found else None


@dataclass(frozen=True)
class Kind:
    """A kind of measurement: its title, an explanation for every reader, and its targets.

    `tables` is the beginning of the titles of the tables that are joined. Without it, the last table is published.
    """

    title: str
    explanation: str
    targets: tuple[Target, ...]
    tables: str = ""


@dataclass(frozen=True)
class Conditions:
    """The program, machine and date of a measurement, and the processor time that other programs used."""

    measured_on: str
    program: str
    machine: str
    load: str
    other_programs: str
    notes: tuple[str, ...] = ()


CATCH_UP = (
    "A catch-up request is one that drivetest itself submitted late, by more than half a period, and less than half a "
    "period after the previous one."
)
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
        "20,000 reads/s + 10,000 writes/s, ",
    ),
    "cost": Kind(
        "Processor time at every rate",
        "Processor time per read includes the start of the program and the work of the kernel for it. The columns with "
        "a slash divide it by that of another program in the same round. act_storage uses 10 threads, and fio uses "
        "io_uring with depth 128. A loop device is a file that Linux presents as a drive, and zram is a device in "
        "memory. Others is the processor time of other programs.",
        (
            Target("At most act_storage's processor time at every rate", "drivetest,", "/ act_storage", at_most=1),
            Target(
                "From 15,000 reads/s, at most 0.85 of act_storage's processor time",
                "drivetest,", "/ act_storage", at_most=0.85, from_rate=15_000,
            ),
            Target(
                "From 15,000 reads/s, at most fio's processor time",
                "drivetest,", "/ fio", at_most=1, from_rate=15_000,
            ),
        ),
        "Processor time, ",
    ),
    "neighbouring-rates": Kind(
        "Processor time at neighbouring rates",
        "The processor time per read must not depend on a special rate. The table compares the medians at three rates "
        "that differ by 0.1 %.",
        (
            Target(
                "Processor time differs by at most 10 %", "drivetest,", "difference of the CPU per read, %", at_most=10
            ),
        ),
        "Neighbouring rates, ",
    ),
    "lateness": Kind(
        "Generator lateness at every rate",
        f"Own lateness is the generator lateness of drivetest's side file. {CATCH_UP} The other columns count what the "
        "engine did for each read.",
        (
            Target("On zram, own lateness p50 at most 30 us", "drivetest, zram", "own lateness p50, us", at_most=30),
            Target("On zram, own lateness p99 at most 150 us", "drivetest, zram", "own lateness p99, us", at_most=150),
            Target("At most 1 % catch-up requests", "drivetest,", "catch-up, %", at_most=1),
        ),
        "Engine, ",
    ),
    "evenness": Kind(
        "Spacing of requests, as seen from the kernel",
        "The kernel recorded when each request was issued to the device. A request is bunched if it was issued less "
        "than half a period after the previous one although both were on time. Lateness is the time from when a read "
        "was due until it was issued. The columns with a slash divide it by fio's in the same round.",
        (
            Target("No bunched read up to 50,000 reads/s", "drivetest,", "bunched reads", at_most=0, to_rate=50_000),
            Target(
                "No bunched large-block request up to 50,000 reads/s",
                "drivetest, loop, with", "bunched large blocks", at_most=0, to_rate=50_000,
            ),
            Target("On the loop device, lateness p50 at most fio's", "drivetest, loop", "p50 / fio", at_most=1),
            Target("On the loop device, lateness p99 at most fio's", "drivetest, loop", "p99 / fio", at_most=1),
        ),
        "Requests as issued by the kernel, ",
    ),
    "service": Kind(
        "Service times compared with fio",
        "Each round runs all programs one after the other, and fio twice. The columns with a slash show the median "
        "ratio to the first run of fio in the same round, and the interval that contains the true median with a "
        "probability of 95 %. The rows of fio again show how much fio differs from itself. On zram, drivetest chooses "
        "threads, so its rings (io_uring) are compared as well.",
        tuple(
            Target(
                f"{place}, {name} within {at_least} to {at_most} of fio's",
                rows, f"{name} / fio", at_most, at_least, spread="fio again",
            )
            for place, rows in (
                ("On the loop device", "drivetest, loop"),
                ("On zram", "drivetest, zram"),
                ("On zram with io_uring", "drivetest io_uring, zram"),
            )
            for name, at_least, at_most in (("p50", 0.95, 1.05), ("p99", 0.85, 1.15))
        ),
        "Service time, ",
    ),
    "coalesce-us": Kind(
        "Requests submitted together",
        "drivetest submits each request when it is due. With coalesce-us, it submits requests together that are due "
        f"within that time. This saves processor time, and delays requests. {CATCH_UP}",
        (
            Target(
                "Without coalesce-us, at most 1 % catch-up requests", "drivetest,", "catch-up, %", at_most=1
            ),
        ),
        "Coalescing, ",
    ),
    "top-rate": Kind(
        "Highest rate",
        "More reads are requested of a device in memory (zram) than it can complete. The columns with a slash divide "
        "the rate by that of another program in the same round.",
        (
            Target("At least 1.2 times act_storage's best rate", "drivetest", "/ best act_storage", at_least=1.2),
            Target("At least fio's rate", "drivetest", "/ fio psync", at_least=1),
        ),
        "2,000,000 reads/s requested",
    ),
    "workers": Kind(
        "Known truth with 1 to 64 workers",
        "The share of slow reads must not depend on the number of workers. The simulated drive of known truth was "
        "loaded with several numbers of workers.",
        (Target("No share outside the interval", "drivetest", "outside", at_most=0),),
        "Shares by program",
    ),
}  # fmt: skip


def publish(kind: str, lines: Iterable[str], conditions: Conditions, document: Path = DOCUMENT) -> None:
    """Replace the measurement of a kind by its tables in the lines."""
    table = table_of(KINDS[kind], lines)
    measurement = {
        "kind": kind,
        "title": KINDS[kind].title,
        "explanation": KINDS[kind].explanation,
        **asdict(conditions),
        "notes": [*conditions.notes, *table.notes],
        "head": table.head,
        "rows": table.rows,
        "targets": [target.result(table) for target in KINDS[kind].targets],
    }
    found = json.loads(document.read_text(encoding="utf-8"))["measurements"] if document.exists() else []
    by_kind = {each["kind"]: each for each in found} | {kind: measurement}
    ordered = [by_kind[name] for name in KINDS if name in by_kind]
    document.write_text(as_text({"schema": SCHEMA, "measurements": ordered}), encoding="utf-8")


def table_of(kind: Kind, lines: Iterable[str]) -> Table:
    """Return the tables of a kind as one, or the last table if no title is one of the kind."""
    tables = list(titled_tables(lines))
    if not tables:
        raise ValueError("the output has no table: expected lines that begin with |")
    parts = [
        (title.removeprefix(kind.tables), table)
        for title, table in tables
        if kind.tables and title.startswith(kind.tables)
    ]
    table = joined(parts) if parts else tables[-1][1]
    if uneven := [row for row in table.rows if len(row) != len(table.head)]:
        raise ValueError(f"expected {len(table.head)} cells in each row, got {uneven[0]}")
    return table


def joined(parts: list[tuple[str, Table]]) -> Table:
    """Return tables with equal columns as one. The name of the load follows the program in the first cell."""
    head = parts[0][1].head
    if any(table.head != head for _, table in parts):
        raise ValueError("the tables have different columns")
    program = head.index("program")
    rows: list[list[str]] = []
    notes: list[str] = []
    for rest, table in parts:
        load = DEVICE.sub(r"\1", rest.strip(", "))
        for row in table.rows:
            name = ", ".join(filter(None, (row[program], load)))
            rows.append([name, *row[:program], *row[program + 1 :]])
        notes += [f"{load}: {note}" for note in table.notes]
    name = "program, load" if any(rest for rest, _ in parts) else "program"
    return Table([name, *head[:program], *head[program + 1 :]], rows, tuple(notes))


def titled_tables(lines: Iterable[str]) -> Iterator[tuple[str, Table]]:
    """Yield the Markdown tables of the lines with their bold titles and their notes. Bold figures lose their marks."""
    title = ""
    found: list[tuple[str, list[list[str]], list[str]]] = []
    is_inside = False
    for line in lines:
        is_row = line.startswith("|")
        if is_row and not is_inside:
            found.append((title, [], []))
            title = ""
        if is_row and not re.fullmatch(r"[-|:\s]+", line):
            found[-1][1].append([cell.strip() for cell in line.strip().strip("|").replace("**", "").split("|")])
        elif line.startswith("**"):
            title = line.strip().strip("*")
        elif line.startswith("- ") and found and not title:
            found[-1][2].append(line.strip().removeprefix("- "))
        is_inside = is_row
    for name, (head, *rows), notes in found:
        yield name, Table(head, rows, tuple(notes))


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
