"""Requests of schemathesis to each operation of the API, as each role: make measure-machines.

A register of its own with real servers. Writes benchmarks/results/api.md. schemathesis.toml has the checks.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

from account_measures import people  # noqa: E402
from account_measures.site import Row  # noqa: E402
from accounts import conditions, running_site, write  # noqa: E402

RESULT = ROOT / "benchmarks/results/api.md"
PHASES = "examples,coverage,fuzzing,stateful"
SEED = 1


def violations(
    url: str, tokens: list[str], report: Path, *, examples: int, phases: str = PHASES, seconds: int = 0
) -> dict[str, Any]:
    """Send generated requests with some tokens, without one if there are none, and return schemathesis' report."""
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(ROOT / "schemathesis.toml")]
    command += ["run", f"{url}/api/v1/schema/", "--no-color", f"--seed={SEED}", f"--phases={phases}"]
    command += [f"--max-examples={examples}", "--report=json", f"--report-json-path={report}"]
    command += [f"--max-time={seconds}"] if seconds else []
    own = {"SCHEMATHESIS_HOOKS": "api_requests", "PYTHONPATH": str(Path(__file__).parent)}
    own |= {"CONFORMANCE_TOKENS": " ".join(tokens)}
    done = subprocess.run(command, cwd=report.parent, env=os.environ | own, capture_output=True, text=True, check=False)
    if not report.exists():
        raise RuntimeError(done.stdout + done.stderr)
    found: dict[str, Any] = json.loads(report.read_text())
    return found | {"output": done.stdout}


def row_of(role: str, report: dict[str, Any]) -> Row:
    """Return the result of one role."""
    cases, operations = report["test_cases"], report["operations"]
    found = [f"{each['title']}: {', '.join(each['operations'])}" for each in report["failures"]]
    counts = f"{operations['tested']} operations, {cases['generated']} requests"
    missing = [name for name, phase in report["phases"].items() if phase["status"] not in ("success", "skip")]
    counts += f"; stopped: {report['stop_reason']}" + f"; not passed: {', '.join(missing)}" * bool(missing)
    is_met = not found and not missing and not cases["errored"] and operations["tested"] == operations["total"]
    return Row(f"API as {role}", "no 5xx, no violation", "; ".join([counts, *found]), is_met)


def measure(directory: Path, examples: int, seconds: int) -> Iterable[Row]:
    """Yield the result of each role."""
    with running_site(directory, TRUSTED_PROXY_COUNT="1") as site:
        for role, tokens in {"anonymous": [], **site.call(people.create_roles)}.items():
            report = violations(site.url, tokens, directory / f"{role}.json", examples=examples, seconds=seconds)
            row = row_of(role, report)
            print(report["output"] if not row.is_met else f"met: {row.measure}: {row.found}", flush=True)
            yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50, help="generated requests for each operation")
    parser.add_argument("--seconds", type=int, default=300, help="most seconds for each role")
    chosen, stated = parser.parse_args(), conditions()
    with tempfile.TemporaryDirectory() as name:
        rows = list(measure(Path(name), chosen.examples, chosen.seconds))
    settings = {"seed": str(SEED), "examples": str(chosen.examples), "seconds a role": str(chosen.seconds)}
    write(rows, stated | settings, RESULT)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
