"""The mixed load on a register: its plan, the process of Locust, and what its requests found."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from account_measures import people
from account_measures.site import Client, Site

from tests.register import sitemap_paths
from tests.results.builders import LOGS

CLIENTS = Path(__file__).with_name("clients.py")
PATIENCE_S = 60
SERVER_ERROR = 500
TOKENS = 20  # each may send 60 logs a minute, and have 100 waiting requests
COUNTED = ("page", "upload", "api", "live", "agent", "answer")


@dataclass
class Rates:
    """How much of each kind of request there is."""

    page_views_per_s: int = 30
    uploads_per_s: int = 1
    live_pages: int = 50
    agents: int = 200
    api_per_s: int = 2


@dataclass
class Plan:
    """What the clients need to know."""

    rates: Rates
    pages: list[str]
    tokens: list[str]
    agents: list[str]
    submission: str
    live_url: str
    log: str = str(LOGS / "slow-disk-ms.log")

    def document(self) -> dict[str, Any]:
        """Return the plan as JSON has it: the number of agents is that of their secrets."""
        values = asdict(self)
        return {**values.pop("rates"), **values}


def plan_of(site: Site, rates: Rates, live_url: str) -> Plan:
    """Create users, agents and a submission, and find the public pages."""
    created = site.call(people.create_senders, rates.agents, TOKENS)
    client = Client(site.url)
    paths = sitemap_paths(lambda path: client.get(path).content)
    return Plan(rates, paths or ["/"], live_url=live_url, **created)


@dataclass
class Found:
    """The requests of a load, one dictionary each."""

    lines: list[dict[str, Any]] = field(default_factory=list)

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Return the requests of a kind."""
        return [line for line in self.lines if line["kind"] == kind]

    def since(self, moment: float, until: float = float("inf")) -> "Found":
        """Return the requests that began in a time."""
        return Found([line for line in self.lines if moment <= line["at"] < until])

    def percentiles_ms(self, kind: str) -> tuple[float, float, float]:
        """Return p50, p95 and p99 of the answered requests of a kind."""
        times = [line["ms"] for line in self.of_kind(kind) if line["status"]]
        if len(times) < 2:
            return (times or [0.0])[0], (times or [0.0])[0], (times or [0.0])[0]
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        return cuts[49], cuts[94], cuts[98]

    def failed(self) -> list[dict[str, Any]]:
        """Return the requests with a 5xx or without an answer."""
        return [line for line in self.lines if line["status"] >= SERVER_ERROR or not line["status"]]

    def accepted(self) -> set[str]:
        """Return the hashes of the logs that the register confirmed."""
        return {line["sha256"] for line in self.of_kind("upload") if line["status"] in {200, 201}}


class Load:
    """A load that runs. `found()` reads what its requests found until now."""

    def __init__(self, output: Path) -> None:
        self.output = output

    def found(self) -> Found:
        """Return all requests that ended until now."""
        text = self.output.read_text() if self.output.exists() else ""
        return Found([json.loads(line) for line in text.splitlines() if line.endswith("}")])


@contextmanager
def running_load(site: Site, plan: Plan, directory: Path) -> Iterator[Load]:
    """Run the clients until the end of the block."""
    described, output = directory / f"plan-{time.time_ns()}.json", directory / f"requests-{time.time_ns()}.jsonl"
    described.write_text(json.dumps(plan.document()))
    document = plan.document()
    names = ("page_views_per_s", "uploads_per_s", "live_pages", "api_per_s")
    users = sum(document[name] for name in names) + document["uploads_per_s"] + len(plan.agents)
    command = [sys.executable, "-m", "locust", "--locustfile", str(CLIENTS), "--headless", "--host", site.url]
    command += ["--users", str(users), "--spawn-rate", "50", "--skip-log-setup", "--stop-timeout", "1"]
    environment = os.environ | {"MIXED_PLAN": str(described), "MIXED_OUTPUT": str(output)}
    with (directory / "locust.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    load = Load(output)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not load.found().lines:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no request was sent: {(directory / 'locust.log').read_text()[-2000:]}")
            time.sleep(0.1)
        yield load
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
