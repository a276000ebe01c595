"""Series of runs in turn, the statistics of their figures, and the files with the results."""

import json
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from math import comb
from pathlib import Path
from typing import Any

from load_programs import Load, Program, Ran, is_missing

# A run that lost more of a processor to other programs or machines is repeated.
OTHERS_PCT = 3.0

# The time that a program takes in addition to its load.
START_S = 1.0

# The runs of each program under each load.
Found = dict[tuple[Load, str], list[Ran]]
Figure = Callable[[Ran], float | None]


@dataclass(frozen=True)
class Table:
    """A table of results with notes below it."""

    title: str
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [f"**{self.title}**", ""]
        if self.rows:
            lines += [markdown(self.columns), "|" + "---|" * len(self.columns), *map(markdown, self.rows), ""]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)]).rstrip() + "\n"


def markdown(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


class Series:
    """Runs of programs in turn. `name.json` has the figures of every run, `name.md` the tables."""

    def __init__(self, tries: int, conditions: list[str], name: Path | None) -> None:
        self.tries = tries
        self.conditions = conditions
        self.name = name
        self.runs: list[dict[str, Any]] = []
        self.tables: list[tuple[str, Table]] = []

    def in_turn(self, row: str, programs: dict[str, Program], loads: list[Load], rounds: int) -> Found:
        """Run every available program under every load once per round. The first program of each turn rotates."""
        names = present(programs)
        found: Found = {(load, name): [] for load in loads for name in names}
        for number in range(rounds):
            for position, load in enumerate(loads):
                first = (number + position) % len(names)
                for name in names[first:] + names[:first]:
                    ran = self.quietest(programs[name], load)
                    found[load, name].append(ran)
                    self.runs.append(
                        {"row": row, "round": number, "program": name, "load": asdict(load)} | ran.figures()
                    )
            print(f"{row}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            self.save()
        return found

    def quietest(self, program: Program, load: Load) -> Ran:
        """Repeat the run until it is undisturbed; return the least disturbed one."""
        runs: list[Ran] = []
        while len(runs) < self.tries:
            runs.append(program(load))
            if runs[-1].others_pct <= OTHERS_PCT:
                break
        return min(runs, key=lambda ran: ran.others_pct)

    def add(self, row: str, table: Table) -> None:
        self.tables.append((row, table))
        self.save()

    def save(self) -> None:
        if self.name is None:
            return
        tables = [{"row": row} | asdict(table) for row, table in self.tables]
        document = {"conditions": self.conditions, "tables": tables, "runs": self.runs}
        self.name.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        parts, last = ["\n".join(self.conditions) + "\n"], ""
        for row, table in self.tables:
            parts += [table.markdown()] if row == last else [f"### {row}\n", table.markdown()]
            last = row
        self.name.with_suffix(".md").write_text("\n".join(parts))


class Estimate(Series):
    """The duration of a series, without the runs that are repeated."""

    def __init__(self) -> None:
        super().__init__(0, [], None)
        self.seconds = 0.0

    def in_turn(self, row: str, programs: dict[str, Program], loads: list[Load], rounds: int) -> Found:
        self.seconds += len(present(programs)) * rounds * sum(load.seconds + START_S for load in loads)
        return {}


def present(programs: dict[str, Program]) -> list[str]:
    """Return the names of the programs that can be run. Further words of a name distinguish their options."""
    return [name for name in programs if not is_missing(name.split()[0])]


def values(found: Found, load: Load, name: str, figure: Figure) -> list[float]:
    """Return a figure of every run that reported it."""
    reported = (figure(ran) for ran in found.get((load, name), []))
    return [value for value in reported if value is not None]


def ratios(found: Found, load: Load, names: tuple[str, str], figure: Figure) -> list[float]:
    """Return the first program's figure by the second's, for each round."""
    numerators, denominators = (values(found, load, name, figure) for name in names)
    return [ours / theirs for ours, theirs in zip(numerators, denominators, strict=False) if theirs]


def summary(numbers: list[float], digits: int = 2) -> str:
    """Return the median with minimum and maximum."""
    if not numbers:
        return "-"
    if all(isinstance(number, int) for number in numbers):
        digits = 0
    middle, least, most = (f"{value:.{digits}f}" for value in (statistics.median(numbers), min(numbers), max(numbers)))
    return middle if least == most else f"{middle} ({least} - {most})"


def interval_of_median(numbers: list[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the interval between two of the values that contains the true median with at least this probability.

    It requires no distribution of the values, and six of them for 95 %. It is None for fewer.
    """
    ordered, count = sorted(numbers), len(numbers)
    # The probability that fewer than `rank` values are below the true median, or above it.
    outside = [2 * sum(comb(count, below) for below in range(rank)) / 2**count for rank in range(count // 2 + 1)]
    ranks = [rank for rank, probability in enumerate(outside) if rank and probability <= 1 - confidence]
    return (ordered[ranks[-1] - 1], ordered[-ranks[-1]]) if ranks else None


def median_with_interval(numbers: list[float]) -> str:
    interval = interval_of_median(numbers)
    if not numbers or interval is None:
        return summary(numbers, 3)
    return f"{statistics.median(numbers):.3f} [{interval[0]:.3f} - {interval[1]:.3f}]"
