"""A register under the load of page views, uploads, live pages, agents of hosts and scripts of the API at once.

    python -m benchmarks.mixed_load [--duration 600] [--pages 30] [--uploads 1] [--live 50] [--agents 200] [--api 2]
    python -m benchmarks.mixed_load --faults [--only "redis flushed"]
    python -m benchmarks.mixed_load --processes 1,2,4

It starts a register with real servers; Locust sends the load from the same machine. The results go to
benchmarks/results/mixed-load.md, mixed-load-faults.md (--faults) or mixed-load-processes.md (--processes).
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benchmarks"):
    sys.path.insert(0, str(folder))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

import psycopg  # noqa: E402
from account_measures.site import Row, Site, wait_for  # noqa: E402
from mixed.load import COUNTED, Found, Load, Rates, plan_of, running_load  # noqa: E402
from mixed.processes import use_by_part  # noqa: E402

from tests.register import WITHOUT_SNAPSHOTS, Register  # noqa: E402
from webapp.embedded import Postgres  # noqa: E402
from webapp.supervisor.data_directory import DataDirectory  # noqa: E402

RESULTS = ROOT / "benchmarks/results"
SAMPLE_PERIOD_S = 1.0
PAGE_P95_MS, READING_AGE_S, LOCK_WAIT_MS = 200, 60, 50
MEMORY_GROWTH = 1.10
READ_PATIENCE_S = 180
SNAPSHOT_PATIENCE_S = 300
WARM_UP = 0.1  # of the duration: processes fill their caches, and the database its buffers
OLDEST = (
    "SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0) FROM results_reading "
    "WHERE state IN ('pending', 'reading')"
)
LOCK_WAIT = "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0) FROM pg_locks WHERE NOT granted"
CONNECTIONS = (  # without those of the server itself and of this measure
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' "
    "AND application_name <> 'samples'"
)


class Samples:
    """The largest values of queries that are made once a second, of the database that the register uses."""

    def __init__(self, register: Any) -> None:
        self.url = Postgres(DataDirectory(register.data_dir)).url
        self.largest = dict.fromkeys((OLDEST, LOCK_WAIT, CONNECTIONS), 0.0)

    @contextmanager
    def taken(self) -> Iterator["Samples"]:
        """Take samples until the end of the block. Nothing is sampled while the database does not answer."""
        is_over = threading.Event()
        thread = threading.Thread(target=self._take, args=(is_over,))
        thread.start()
        try:
            yield self
        finally:
            is_over.set()
            thread.join()

    def _take(self, is_over: threading.Event) -> None:
        while not is_over.is_set():
            try:
                with self._connect() as connection:
                    while not is_over.wait(SAMPLE_PERIOD_S):
                        for query, largest in self.largest.items():
                            row = connection.execute(query.encode()).fetchone()
                            self.largest[query] = max(largest, float(row[0]) if row else 0)
            except psycopg.Error:
                is_over.wait(SAMPLE_PERIOD_S)

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True, connect_timeout=5, application_name="samples")

    def value(self, query: str) -> float:
        """Return the result of a query now."""
        with self._connect() as connection:
            row = connection.execute(query.encode()).fetchone()
        return float(row[0]) if row else 0.0

    def stored(self) -> set[str]:
        """Return the hashes of all evidence."""
        with self._connect() as connection:
            return {row[0] for row in connection.execute("SELECT sha256 FROM results_evidence")}


def live_url(register: Any) -> str:
    """Return where the process of waiting clients listens: the second port that the register opened."""
    main = register.pid_of("live")
    words = Path(f"/proc/{main}/cmdline").read_bytes().decode().split("\0")
    port = next(word.partition("=")[2] for word in words if word.startswith("--port="))
    return f"http://{urlsplit(register.url).hostname}:{port}"


@contextmanager
def running_site(directory: Path, **settings: str) -> Iterator[Site]:
    """Run a register with its own data directory and servers."""
    register: Any = Register(directory / "var", **settings)  # type: ignore[no-untyped-call]
    try:
        register.start_and_wait()
        yield Site(register)
    finally:
        register.end()


def wait_for_snapshot(register: Any) -> None:
    """Wait until the first snapshot of a new register is written; until then, each page is made for each reader."""
    wait_for((register.data_dir / "snapshots/current").exists, SNAPSHOT_PATIENCE_S)


def wait_for_all_kinds(load: Load, rates: Rates) -> None:
    """Wait until each kind of client got an answer: before that, processes import, and clients begin."""
    counts = {
        "page": rates.page_views_per_s,
        "upload": rates.uploads_per_s,
        "live": rates.live_pages,
        "agent": rates.agents,
        "api": rates.api_per_s,
    }
    expected = {kind for kind, count in counts.items() if count}
    deadline = time.monotonic() + READ_PATIENCE_S
    while missing := expected - {line["kind"] for line in load.found().lines if line["status"]}:
        if time.monotonic() > deadline:
            raise TimeoutError(f"expected an answer to each kind of client in {READ_PATIENCE_S} s, got none: {missing}")
        time.sleep(0.2)


def wait_until_read(samples: Samples) -> float:
    """Wait until no reading waits, and return the seconds."""
    started = time.monotonic()
    while samples.value(OLDEST) > 0 and time.monotonic() - started < READ_PATIENCE_S:
        time.sleep(0.5)
    return time.monotonic() - started


def request_rows(found: Found, seconds: float) -> Iterator[Row]:
    """Yield the times of pages, and the counts of each kind of request."""
    p50, p95, p99 = found.percentiles_ms("page")
    times = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms"
    yield Row("time of a page", f"p95 at most {PAGE_P95_MS} ms", times, p95 <= PAGE_P95_MS)
    failed = found.failed()
    shown = ", ".join(sorted({f"{line['status']} {line['path']}" for line in failed})[:5])
    yield Row("5xx, and requests without an answer", "0", f"{len(failed)}{f': {shown}' if shown else ''}", not failed)
    refused = sorted({line["status"] for line in found.lines if 400 <= line["status"] < 500})
    counts = ", ".join(f"{len(found.of_kind(kind)) / seconds:.1f} {kind}/s" for kind in COUNTED)
    yield Row("requests", "as planned", f"{counts}; refused with {refused or 'none'}", True)


def measure(site: Site, rates: Rates, duration_s: float, directory: Path) -> Iterator[Row]:
    """Run the load, and yield the rows of the table."""
    plan = plan_of(site, rates, live_url(site.register))
    samples = Samples(site.register)
    with running_load(site, plan, directory) as load, samples.taken():
        wait_for_all_kinds(load, rates)
        time.sleep(WARM_UP * duration_s)
        began, before = time.time(), use_by_part(site.register)
        time.sleep(duration_s)
        after, found = use_by_part(site.register), load.found().since(began)
    yield from request_rows(found, duration_s)
    oldest = samples.largest[OLDEST]
    yield Row("oldest unfinished reading", f"at most {READING_AGE_S} s", f"{oldest:.1f} s", oldest <= READING_AGE_S)
    yield from memory_rows(before, after, duration_s)
    waited_s = wait_until_read(samples)
    lost = load.found().accepted() - samples.stored()
    sent = len(load.found().accepted())
    yield Row("confirmed uploads that are not stored", "0", f"{len(lost)} of {sent}", not lost)
    yield Row("time until all logs were read, after the load", "-", f"{waited_s:.1f} s", waited_s < READ_PATIENCE_S)


def memory_rows(before: dict[str, Any], after: dict[str, Any], seconds: float) -> Iterator[Row]:
    """Yield memory and processor time of each part."""
    for part, use in sorted(after.items()):
        earlier = before.get(part, use)
        grown = use.megabytes / earlier.megabytes if earlier.megabytes else 1.0
        busy = 100 * (use.processor_s - earlier.processor_s) / seconds
        found = f"{earlier.megabytes:.0f} -> {use.megabytes:.0f} MB in {use.processes} processes, {busy:.0f} % of a CPU"
        yield Row(f"memory of {part}", f"at most x {MEMORY_GROWTH:.2f}", found, grown <= MEMORY_GROWTH)


def rates_of(options: argparse.Namespace) -> Rates:
    """Return the rates of the command line."""
    return Rates(options.pages, options.uploads, options.live, options.agents, options.api)


def rows_of(options: argparse.Namespace, directory: Path) -> Iterator[Row]:
    """Yield the rows of the chosen measure."""
    if options.faults:
        from mixed.faults import measure_faults  # noqa: PLC0415 - it starts servers

        yield from measure_faults(rates_of(options), directory, options)
    elif options.processes:
        from mixed.scaling import measure_processes  # noqa: PLC0415 - as above

        yield from measure_processes(rates_of(options), directory, options)
    else:
        settings = {} if options.snapshots else WITHOUT_SNAPSHOTS
        with running_site(directory, **settings) as site:
            if options.snapshots:
                wait_for_snapshot(site.register)
            yield from measure(site, rates_of(options), options.duration, directory)


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rates = Rates()
    parser.add_argument("--duration", type=float, default=600, help="seconds of the load, or of each part of it")
    parser.add_argument("--pages", type=int, default=rates.page_views_per_s, help="page views a second")
    parser.add_argument("--uploads", type=int, default=rates.uploads_per_s, help="uploads a second")
    parser.add_argument("--live", type=int, default=rates.live_pages, help="open streams of server-sent events")
    parser.add_argument("--agents", type=int, default=rates.agents, help="agents of lab hosts")
    parser.add_argument("--api", type=int, default=rates.api_per_s, help="requests of scripts a second")
    parser.add_argument("--no-snapshots", dest="snapshots", action="store_false", help="each page is made by Django")
    parser.add_argument("--faults", action="store_true", help="cause one fault after the other")
    parser.add_argument("--fault-seconds", type=float, default=60, help="how long a fault lasts that is no moment")
    parser.add_argument("--only", help="only the faults whose names contain this")
    parser.add_argument("--processes", help="numbers of processes to compare, such as 1,2,4")
    parser.add_argument("--print-only", action="store_true", help="write no file of results")
    return parser.parse_args()


def main() -> None:
    from accounts import conditions, write  # noqa: PLC0415 - it needs Playwright, which a test of this file does not

    options, stated = read_options(), conditions()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        for row in rows_of(options, Path(name)):
            print(f"{'met' if row.is_met else 'NOT MET'}: {row.measure}: {row.found}", flush=True)
            rows.append(row)
    kind = "faults" if options.faults else "processes" if options.processes else ""
    if not options.print_only:
        stated |= {"load": str(rates_of(options)), "duration": f"{options.duration:g} s"}
        write(rows, stated, RESULTS / f"mixed-load{f'-{kind}' if kind else ''}.md")
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
