"""Command that records what drivetest prints for every log."""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.regression.devices import identify_devices  # noqa: E402 - the command runs without an installed package
from tests.regression.normalization import mask_sentences  # noqa: E402

LOG_ENDINGS = (".log", ".hlog")
PROFILE = ("--profile", "operational-database")
SUBCOMMANDS = [
    "read",
    "latency",
    "check",
    "prep",
    "storage",
    "index",
    "keys",
    "completions",
    "man",
    "identify",
    "run",
    "start",
    "status",
    "stop",
    "remove",
    "watch",
    "host",
]
# Valid and invalid arguments of act_latency.py; a slice of 10 s, because no log of the collection has 3600 s.
LATENCY_OPTIONS = (
    (),
    ("-t", "10"),
    ("-t", "7"),
    ("-t", "0"),
    ("-t", "10", "-s", "3"),
    ("-t", "10", "-s", "99"),
    ("-t", "10", "-n", "17"),
    ("-t", "10", "-n", "1"),
    ("-t", "10", "-n", "17", "-e", "3"),
    ("-t", "10", "-x"),
    ("-t", "10", "-w"),
    ("-t", "10", "-h", "no-such-histogram"),
    ("-x",),
)


def main() -> None:
    """Write one JSON line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="the built drivetest")
    parser.add_argument("output", type=Path, help="JSON lines to write")
    parser.add_argument("folders", type=Path, nargs="*", help="folders of logs besides tests/data")
    parser.add_argument("--fault-drive", type=Path, help="the built fault drive; identify runs on it too")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    with arguments.output.open("w") as output:
        for record in records(program, [ROOT / "tests" / "data", *arguments.folders], arguments.fault_drive):
            output.write(json.dumps(record, sort_keys=True, ensure_ascii=False) + "\n")


def records(program: Path, folders: list[Path], fault_drive: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the records of all commands in a fixed order."""
    yield from surface(program)
    for folder in folders:
        for log in sorted(path for path in folder.resolve().rglob("*") if path.name.endswith(LOG_ENDINGS)):
            yield from records_of_log(program, folder.resolve(), log)
    yield from identify_devices(program, fault_drive)


def surface(program: Path) -> Iterator[dict[str, Any]]:
    """Yield the flags of each subcommand, and the keys of each configuration with their defaults."""
    for subcommand in SUBCOMMANDS:
        help_text = run(program, [subcommand, "--help"], ROOT).stdout.decode()
        flags = sorted(set(re.findall(r"^ +((?:-\w, )?--[\w-]+)", help_text, re.MULTILINE)))
        yield {"address": f"help {subcommand}", "flags": flags}
    keys = run(program, ["keys"], ROOT)
    defaults = re.findall(r"^([a-z][a-z0-9-]+): (?:[^\n]*?default ([\w.-]+))?", keys.stdout.decode(), re.MULTILINE)
    yield {"address": "keys", "status": keys.returncode, "defaults": dict(defaults)}


def records_of_log(program: Path, folder: Path, log: Path) -> Iterator[dict[str, Any]]:
    """Yield what read, check and latency print for one log."""
    name = f"{folder.name}/{log.relative_to(folder)}"
    attached = [word for path in attachments(log) for word in ("--with", str(path.relative_to(folder.parent)))]
    commands = {
        "read": ["read", "--json", name],
        "read-judged": ["read", "--json", *PROFILE, "--slice-sec", "10", "--series-sec", "1", name, *attached],
    }
    finding_ids: set[str] = set()
    histograms: list[str] = []
    for label, arguments in commands.items():
        ended = run(program, arguments, folder.parent)
        document = json.loads(ended.stdout) if ended.stdout else None
        finding_ids |= set(ids_of(document))
        histograms += [h["name"] for r in (document or {}).get("runs", []) for h in r["histograms"]]
        document = mask_version(mask_sentences(document))
        yield {"address": f"{label} {name}", "status": ended.returncode, "document": document}
    checks = {"check": ["check", *PROFILE, name], "check-10": ["check", *PROFILE, "--slice-sec", "10", name, *attached]}
    for label, arguments in checks.items():
        yield check_record(run(program, arguments, folder.parent), f"{label} {name}", finding_ids)
    yield exported_tables(program, folder, name)
    by_histogram = [("-t", "5", "-n", "17", "-x", "-h", histogram) for histogram in dict.fromkeys(histograms)]
    for options in [*LATENCY_OPTIONS, *by_histogram]:
        ended = run(program, ["latency", *options, name], folder.parent)
        yield {
            "address": f"latency {' '.join(options)} {name}",
            "status": ended.returncode,
            "sha256": hashlib.sha256(ended.stdout).hexdigest(),
            "output": ended.stdout.decode(errors="replace"),
            "has_messages": bool(ended.stderr),
        }


def check_record(ended: "subprocess.CompletedProcess[bytes]", address: str, ids: set[str]) -> dict[str, Any]:
    """Return exit status, percentages of the threshold rows in order, and printed finding ids of one check."""
    text = ended.stdout.decode(errors="replace")
    return {
        "address": address,
        "status": ended.returncode,
        "figures": figures(text),
        "finding_ids": sorted(found for found in ids if re.search(rf"(?<![\w-]){re.escape(found)}(?![\w-])", text)),
        "_text": text,
    }


def figures(text: str) -> list[str]:
    """Return the thresholds and percentages of the rows of shares, in order; the text of a row may change."""
    rows = [line for line in text.splitlines() if len(re.findall(r"> *\d+ ms", line)) > 1]
    return [found for row in rows for found in re.findall(r"> *\d+ ms|\d+(?:\.\d+)? %", row)]


def exported_tables(program: Path, folder: Path, name: str) -> dict[str, Any]:
    """Return the hash of each table that read --export writes as CSV."""
    with tempfile.TemporaryDirectory() as tables:
        arguments = ["read", "--slice-sec", "10", "--export", tables, "--format", "csv", name]
        ended = run(program, arguments, folder.parent)
        hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(tables).iterdir())}
    return {"address": f"export {name}", "status": ended.returncode, "tables": hashes}


def attachments(log: Path) -> list[Path]:
    """Return the files that belong to a log by their names, as an archive of all of them would be read."""
    stem = log.name.rpartition(".")[0]
    neighbours = [path for path in sorted(log.parent.iterdir()) if path.is_file() and path != log]
    named = [path for path in neighbours if re.match(rf"{re.escape(stem)}(\.|-[A-Z][A-Z_]*-percentiles)", path.name)]
    kept = [path for path in named if not re.search(r"\.latency(-\w+)?\.txt$|\.log$", path.name)]
    hdr_files = sorted((log.parent / "hdrfiles").glob("*.hdr")) if "hdr" in stem and "fileoutput" in stem else []
    return kept + hdr_files


def ids_of(value: Any) -> Iterator[str]:
    """Yield the id of each finding, anywhere in a document."""
    if isinstance(value, dict):
        if "severity" in value and "id" in value:
            yield value["id"]
        for inner in value.values():
            yield from ids_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from ids_of(inner)


def mask_version(document: Any) -> Any:
    """Replace the version of the reader, which every release changes."""
    if isinstance(document, dict) and isinstance(document.get("reader"), dict):
        document["reader"]["version"] = "<version>"
    return document


def run(program: Path, arguments: list[str], folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """Run the program in a folder, so that paths in its output are the same on every machine."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    return subprocess.run(
        [str(program), *arguments], cwd=folder, env=environment, capture_output=True, timeout=300, check=False
    )


if __name__ == "__main__":
    main()
