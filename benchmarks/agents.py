"""Agents of a thousand lab hosts on one process each for pages, for waiting clients and for the lab.

    python -m benchmarks.agents [--agents 1000] [--orders 100] [--orders-per-s 2] [--print-only]

A register of its own with real servers. The hosts are simulated in this process (simulated_agents.py). Scripts order
runs by the API and cancel them, while pages are opened. Writes benchmarks/results/agents.md.
"""

import argparse
import asyncio
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benchmarks"):
    sys.path.insert(0, str(folder))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

from account_measures import people  # noqa: E402
from account_measures.site import Client, Row, Site  # noqa: E402
from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector  # noqa: E402
from mixed.load import Found  # noqa: E402
from mixed.processes import Use, use_by_part  # noqa: E402
from mixed_load import CONNECTIONS, Samples, live_url, running_site, wait_for_snapshot  # noqa: E402
from simulated_agents import Events, ProtocolHost, SimulatedAgent, end  # noqa: E402

from tests.register import WITHOUT_SNAPSHOTS, sitemap_paths  # noqa: E402

RESULT = ROOT / "benchmarks/results/agents.md"
ONE_PROCESS = {"WEB_PROCESSES": "1", "WORKER_PROCESSES": "1"}
START_S, CANCEL_S, PAGE_P95_MS, PROCESS_MB, CONNECTIONS_MOST = 5, 5, 300, 400, 20
PATIENCE_S = 120  # for what has not happened after the last order or cancellation
TOKENS = 10  # each may send 600 requests a minute
READER = "127.9.0.1"  # the register limits each client by its address
RUN = {"nx_load": "1", "duration_s": 86_400, "report_interval_s": 1}


@dataclass(frozen=True)
class Size:
    """How many hosts there are, how many of them get a run, and how fast orders and page views follow each other."""

    agents: int = 1000
    orders: int = 100
    orders_per_s: float = 2.0
    pages_per_s: float = 5.0


@dataclass
class Orders:
    """The runs that scripts ordered and cancelled: the time of each request by run, and what was refused."""

    ordered: dict[str, float] = field(default_factory=dict)
    cancelled: dict[str, float] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Phase:
    """Use of processor time and work of the agents in a part of the measure."""

    seconds: float
    before: dict[str, Use]
    after: dict[str, Use]
    own_processor_s: float
    exchanges: int


@dataclass
class Measured:
    """All that a measure found."""

    size: Size
    orders: Orders
    events: Events
    pages: Found
    phases: dict[str, Phase]
    connections: int


class Scripts:
    """Scripts that order and cancel runs by the API, each with a token of its own."""

    def __init__(self, session: ClientSession, url: str, tokens: list[str]) -> None:
        self.session, self.url, self.tokens = session, f"{url}/api/v1/lab/dispatches/", itertools.cycle(tokens)
        self.orders = Orders()

    async def order(self, device: dict[str, Any]) -> None:
        """Order a run of a day on a device, with the consent to overwrite it."""
        began = time.time()
        if document := await self._post(self.url, RUN | device, 201):
            self.orders.ordered[document["id"]] = began

    async def cancel(self, run: str) -> None:
        """Cancel a run."""
        began = time.time()
        if await self._post(f"{self.url}{run}/cancel/", {}, 200):
            self.orders.cancelled[run] = began

    async def _post(self, url: str, document: dict[str, Any], expected: int) -> dict[str, Any] | None:
        headers = {"Authorization": f"Bearer {next(self.tokens)}"}
        try:
            async with self.session.post(url, json=document, headers=headers) as response:
                if response.status == expected:
                    shown: dict[str, Any] = await response.json()
                    return shown
                self.orders.refused.append(f"{response.status} {(await response.text())[:200]}")
        except (ClientError, TimeoutError) as error:
            self.orders.refused.append(repr(error))
        return None


async def read_pages(session: ClientSession, url: str, paths: list[str], per_s: float, found: Found) -> None:
    """Open one page after the other, each when it is due, until this task is cancelled."""

    async def read(path: str) -> None:
        line, began = {"at": time.time(), "kind": "page", "path": path, "status": 0}, time.perf_counter()
        try:
            async with session.get(url + path, allow_redirects=False) as response:
                await response.read()
                line["status"] = response.status
        except (ClientError, TimeoutError):
            pass
        found.lines.append(line | {"ms": 1000 * (time.perf_counter() - began)})

    await at_rate(read, itertools.cycle(paths), per_s)


async def at_rate(act: Callable[[Any], Coroutine[Any, Any, None]], items: Iterable[Any], per_s: float) -> None:
    """Begin an action on each item when it is due, and wait until all have ended."""
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number, item in enumerate(items):
            await asyncio.sleep(max(0.0, began + number / per_s - time.monotonic()))
            group.create_task(act(item))


async def wait_until(is_true: Callable[[], bool], patience_s: float) -> None:
    """Wait until a condition is true, or until the time is over."""
    deadline = time.monotonic() + patience_s
    while not is_true() and time.monotonic() < deadline:
        await asyncio.sleep(0.1)


async def wait_until_connected(session: ClientSession, live_url: str, agents: list[SimulatedAgent]) -> None:
    """Wait until all agents have their first list, wait for the next one, and the server has read it for them."""
    async with asyncio.timeout(PATIENCE_S):
        while not all(agent.known for agent in agents) or await _waiting_clients(session, live_url) < len(agents):
            await asyncio.sleep(0.1)
        # The server reads in the order of the requests: this one comes after all others.
        async with session.get(f"{agents[0].wait_url.partition('?')[0]}?wait=0", headers=agents[0].headers):
            pass


async def _waiting_clients(session: ClientSession, live_url: str) -> int:
    async with session.get(f"{live_url}/healthz") as response:
        return int((await response.json())["waiting"])


class Phases:
    """The parts of a measure, each with the use of processor time in it."""

    def __init__(self, register: Any, events: Events) -> None:
        self.register, self.events = register, events
        self.found: dict[str, Phase] = {}

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[None]:
        """Measure the block."""
        began, own, exchanges = time.monotonic(), time.process_time(), self.events.exchanges
        before = await asyncio.to_thread(use_by_part, self.register)
        yield
        after = await asyncio.to_thread(use_by_part, self.register)
        seconds, used = time.monotonic() - began, time.process_time() - own
        self.found[name] = Phase(seconds, before, after, used, self.events.exchanges - exchanges)


async def run_all(site: Site, size: Size, created: dict[str, Any], paths: list[str]) -> Measured:
    """Run the agents, the scripts and the reader, and return what they found."""
    events, pages, samples = Events(), Found(), Samples(site.register)
    hosts = [ProtocolHost(number, created["program_sha256"], events) for number in range(size.agents)]
    live, phases = live_url(site.register), Phases(site.register, events)
    timeout = ClientTimeout(total=PATIENCE_S)
    reader = TCPConnector(local_addr=(READER, 0))
    async with (
        ClientSession(connector=TCPConnector(limit=0), timeout=timeout) as session,
        ClientSession(connector=reader, timeout=timeout) as reading,
    ):
        agents = [SimulatedAgent(*pair, site.url, live) for pair in zip(hosts, created["secrets"], strict=True)]
        tasks = [asyncio.create_task(agent.run(session)) for agent in agents]
        scripts = Scripts(session, site.url, created["tokens"])
        with samples.taken():
            await wait_until_connected(session, live, agents)
            reads = read_pages(reading, site.url, paths, size.pages_per_s, pages)
            tasks.append(asyncio.create_task(reads))
            orders = scripts.orders
            async with phases.of("orders"):
                await at_rate(scripts.order, created["devices"][: size.orders], size.orders_per_s)
                await wait_until(lambda: orders.ordered.keys() <= events.started.keys(), PATIENCE_S)
            async with phases.of("cancellations"):
                await at_rate(scripts.cancel, [*orders.ordered], size.orders_per_s)
                await wait_until(lambda: orders.cancelled.keys() <= events.stopped.keys(), PATIENCE_S)
        await end(tasks)
    return Measured(size, orders, events, pages, phases.found, int(samples.largest[CONNECTIONS]))


def delay_row(measure: str, since: dict[str, float], until: dict[str, float], limit_s: float, count: int) -> Row:
    """Return the row of the times from a request to what it causes on a host. What did not happen misses the target."""
    delays = sorted(until[run] - at for run, at in since.items() if run in until)
    target = f"p99 at most {limit_s:g} s, none missing"
    if not delays:
        return Row(measure, target, f"0 of {count}", False)
    p50, p99 = statistics.median(delays), delays[min(len(delays) - 1, int(0.99 * len(delays)))]
    found = f"p50 {p50:.2f} s, p99 {p99:.2f} s, longest {delays[-1]:.2f} s, {len(delays)} of {count}"
    return Row(measure, target, found, p99 <= limit_s and len(delays) == count)


def rows_of(measured: Measured) -> Iterator[Row]:
    """Yield the rows of the table."""
    orders, events, count = measured.orders, measured.events, measured.size.orders
    yield delay_row("from order to start", orders.ordered, events.started, START_S, count)
    yield delay_row("from cancellation to stop", orders.cancelled, events.stopped, CANCEL_S, count)
    p50, p95, p99 = measured.pages.percentiles_ms("page")
    times = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms"
    yield Row("time of a page", f"p95 at most {PAGE_P95_MS} ms", times, p95 <= PAGE_P95_MS)
    most = measured.connections
    yield Row("database connections", f"at most {CONNECTIONS_MOST}", str(most), most <= CONNECTIONS_MOST)
    last = measured.phases["cancellations"].after
    part, largest = max(last.items(), key=lambda item: item[1].largest_megabytes)
    found = f"{largest.largest_megabytes:.0f} MB, of {part}"
    yield Row(
        "memory of the largest process", f"at most {PROCESS_MB} MB", found, largest.largest_megabytes <= PROCESS_MB
    )
    problems = [*orders.refused, *events.failures, *(f"page {each['status']}" for each in measured.pages.failed())]
    shown = f": {', '.join(sorted(set(problems))[:5])}" if problems else ""
    yield Row("failed requests", "0", f"{len(problems)}{shown}", not problems)
    for name, phase in measured.phases.items():
        yield Row(f"processor time, {name}", "-", _use_message(phase), True)


def _use_message(phase: Phase) -> str:
    """Return the processor time of each part, as shares of one processor and for each exchange."""
    used = {part: use.processor_s - phase.before.get(part, Use()).processor_s for part, use in phase.after.items()}
    total, exchanges = sum(used.values()), max(1, phase.exchanges)
    shares = [f"{part} {100 * spent / phase.seconds:.0f} %" for part, spent in sorted(used.items()) if spent]
    shares.append(f"simulated hosts {100 * phase.own_processor_s / phase.seconds:.0f} %")
    rate = f"{phase.exchanges / phase.seconds:.1f} exchanges/s in {phase.seconds:.0f} s"
    return f"{rate}, {1000 * total / exchanges:.1f} ms for each; {', '.join(shares)}"


def measure(site: Site, size: Size) -> Iterator[Row]:
    """Create the hosts, run the measure, and yield its rows."""
    created = site.call(people.create_agent_hosts, size.agents, TOKENS)
    client = Client(site.url)
    paths = sitemap_paths(lambda path: client.get(path).content) or ["/"]
    yield from rows_of(asyncio.run(run_all(site, size, created, paths)))


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=Size.agents, help="lab hosts")
    parser.add_argument("--orders", type=int, default=Size.orders, help="hosts that get a run")
    parser.add_argument(
        "--orders-per-s", type=float, default=Size.orders_per_s, help="orders and cancellations a second"
    )
    parser.add_argument("--no-snapshots", dest="snapshots", action="store_false", help="each page is made by Django")
    parser.add_argument("--print-only", action="store_true", help="write no file of results")
    return parser.parse_args()


def main() -> None:
    from accounts import conditions, write  # noqa: PLC0415 - it needs Playwright, which a test of this file does not

    options, stated, rows = read_options(), conditions(), []
    size = Size(options.agents, min(options.orders, options.agents), options.orders_per_s)
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        with running_site(Path(name), **ONE_PROCESS, **({} if options.snapshots else WITHOUT_SNAPSHOTS)) as site:
            if options.snapshots:
                wait_for_snapshot(site.register)
            for row in measure(site, size):
                print(f"{'met' if row.is_met else 'NOT MET'}: {row.measure}: {row.found}", flush=True)
                rows.append(row)
    if not options.print_only:
        write(rows, stated | {"load": str(size)}, RESULT)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
