"""Agreement of drivetest with upstream's tables, for every ACT log of a folder.

Plain Python 3. The folder has `<version>/<case>.log`, upstream's tables as `<case>.latency*.txt`, and an optional
INDEX.tsv. Prints the table of docs/reference/agreement.md, or writes it with --write. The exit status is 1 if a table
differs without an explanation.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
DRIVETEST = HERE.parent / "runners/drivetest/target/release/drivetest"
LOGS = HERE.parent / "tests/data/act"
DOCUMENT = HERE.parent / "docs/reference/agreement.md"
PROFILE = "operational-database"
ECHO = "act_latency.py "
# The message of drivetest if upstream's script prints something else.
DIFFERENCE = "act_latency.py"
OPTIONS = {"": "-t 10 -n 17 -x", "-n7": "-t 10", "-w": "-t 10 -n 17 -x -w"}
MARKER = "<!-- below: printed by benchmarks/act_agreement.py -->"


class Table(NamedTuple):
    """One of upstream's tables and the result of its comparison."""

    kind: str
    state: str  # equal, without figures, explained or unexplained
    reason: str = ""

    def summary(self) -> str:
        name = f"latency{self.kind}"
        return f"{name}: {self.state}" if self.state in ("equal", "no figures") else f"{name}: **{self.reason}**"


class Row(NamedTuple):
    """A log."""

    name: str
    upstream: str
    reading: str
    verdicts: str
    findings: list[str]
    tables: list[Table]

    def cells(self) -> list[str]:
        tables = "; ".join(table.summary() for table in self.tables) or "-"
        return [self.name, self.upstream, self.reading, self.verdicts, " ".join(self.findings) or "-", tables]


def has_figures(table: str) -> bool:
    return any(line.split()[:1] == ["avg"] for line in table.splitlines())


def printed(drivetest: Path, log: Path, kind: str, theirs: str) -> tuple[str, str]:
    """Run `latency` with upstream's options; return its table and its messages."""
    first = theirs.partition("\n")[0]
    options = first.removeprefix(ECHO) if first.startswith(ECHO) else f"-l {log.name} {OPTIONS.get(kind, OPTIONS[''])}"
    command: list[str | Path] = [drivetest, "latency", *options.split(" ")]
    done = subprocess.run(command, cwd=log.parent, capture_output=True, check=False)
    return done.stdout.decode(), done.stderr.decode()


def compare(drivetest: Path, log: Path, path: Path) -> Table:
    kind = path.name.removeprefix(f"{log.stem}.latency").removesuffix(".txt")
    theirs = path.read_bytes().decode(errors="replace")
    ours, messages = printed(drivetest, log, kind, theirs)
    if ours == theirs:
        return Table(kind, "equal")
    if not has_figures(theirs):
        return Table(kind, "no figures")
    reasons = [line[line.index(DIFFERENCE) :] for line in messages.splitlines() if DIFFERENCE in line]
    if reasons:
        return Table(kind, "explained", "; ".join(dict.fromkeys(reasons)))
    return Table(kind, "unexplained", "differs without an explanation")


def end(run: dict[str, Any]) -> str:
    requested = "?" if run["asked_duration_s"] is None else run["asked_duration_s"]
    return f"{run['tool']} {run['tool_version']} {run['stop']['kind']} {run['reached_s']}/{requested} s"


def read(drivetest: Path, log: Path) -> tuple[str, str, list[str]]:
    """Return a log's reading, its verdicts with the exit status of `check`, and the ids of its findings."""
    arguments: list[str | Path] = [log, "--profile", PROFILE]
    answer = subprocess.run([drivetest, "read", "--json", *arguments], capture_output=True, check=False)
    check = subprocess.run([drivetest, "check", *arguments], capture_output=True, check=False)
    document = json.loads(answer.stdout)
    if document["error"]:
        return f"not read: {document['error']['id']}", f"- ({check.returncode})", []
    runs = document["runs"]
    found = [finding["id"] for part in [*runs, document] for finding in part["findings"]]
    verdicts = ", ".join(run["verdict"]["outcome"] for run in runs)
    return "; ".join(map(end, runs)), f"{verdicts} ({check.returncode})", list(dict.fromkeys(found))


def row(drivetest: Path, folder: Path, log: Path, accepted: dict[str, str]) -> Row:
    name = str(log.relative_to(folder))
    paths = sorted(log.parent.glob(f"{log.stem}.latency*.txt"))
    tables = [path.read_bytes().decode(errors="replace") for path in paths]
    has_any = "yes" if any(map(has_figures, tables)) else "no"
    upstream = accepted.get(name) or (has_any if tables else "-")
    reading, verdicts, found = read(drivetest, log)
    return Row(name, upstream, reading, verdicts, found, [compare(drivetest, log, path) for path in paths])


def accepted_by_upstream(folder: Path) -> dict[str, str]:
    """Return the remark of INDEX.tsv for each log; empty if there is no such file."""
    index = folder / "INDEX.tsv"
    if not index.is_file():
        return {}
    with index.open(newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {row["path"]: row["upstream_accepts(-t 10)"] for row in rows if row.get("upstream_accepts(-t 10)")}


def markdown(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page(rows: list[Row]) -> str:
    states = Counter(table.state for row in rows for table in row.tables)
    read_count = sum(not row.reading.startswith("not read") for row in rows)
    counted = [
        f"{len(rows)} logs, {read_count} read; {sum(row.upstream == 'yes' for row in rows)} accepted by upstream.",
        f"{sum(states.values())} tables of upstream's: {states['equal']} equal byte for byte, {states['explained']} "
        f"wrong and reported so, {states['no figures']} without figures, {states['unexplained']} unexplained.",
    ]
    heading = ["log", "upstream accepts", "reading", "verdict (status of `check`)", "findings", "upstream's tables"]
    lines = [MARKER, "", *counted, "", markdown(heading), "|" + "---|" * len(heading)]
    return "\n".join([*lines, *(markdown(row.cells()) for row in rows)]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=LOGS)
    parser.add_argument("--drivetest", type=Path, default=DRIVETEST)
    parser.add_argument("--write", action="store_true", help="put the table into docs/reference/agreement.md")
    args = parser.parse_args()
    folder, drivetest = args.folder.resolve(), args.drivetest.resolve()
    accepted = accepted_by_upstream(folder)
    rows = [row(drivetest, folder, log, accepted) for log in sorted(folder.glob("*/*.log"))]
    if args.write:
        DOCUMENT.write_text(DOCUMENT.read_text().partition(MARKER)[0] + page(rows))
    else:
        sys.stdout.write(page(rows))
    return int(any(table.state == "unexplained" for row in rows for table in row.tables))


if __name__ == "__main__":
    sys.exit(main())
