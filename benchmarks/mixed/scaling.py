"""The same load on 1, 2 and 4 processes: processor time by kind of request, waits, and the bytes served.

One register is started again with each number of processes, so all have the same rows and S3 server. Its public
pages are compared before the first load, because uploads change them. Page views and uploads are separate loads, so
that the processor time of each is known. PostgreSQL logs each wait for a lock over 50 ms.
"""

import argparse
import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from account_measures.site import Client, Row, Site
from django.conf import settings

from mixed.faults import store_of
from mixed.load import Plan, Rates, plan_of, running_load
from mixed.processes import Use, use_by_part
from results.rules.plural import listed
from tests.object_storage import running_seaweed
from tests.register import WITHOUT_SNAPSHOTS
from webapp.deployment.servers import WEB_THREADS

WORSE_AT_MOST = 1.15
LOCK_WAIT_MS = 50
LIVE_CONNECTIONS, LAB_CONNECTIONS, MEASURING = 3, settings.LOOK_THREADS + 10, 2  # run-on-several-machines.md
LOCK_LINE = re.compile(r"still waiting for .*? after ([\d.]+) ms")
SETTLE_S = 3
NAMED_AT_MOST = 5
VARIES = re.compile(rb'nonce="[^"]*"|name="csrfmiddlewaretoken" value="[^"]*"')


@dataclass
class Result:
    """What was measured with one number of processes: CPU milliseconds, counts of requests, and waits."""

    page_ms: float
    upload_ms: float
    reading_ms: float
    pages_per_s: float
    shares: dict[str, float]
    lock_waits: list[float]
    connections: int


def measure_processes(rates: Rates, directory: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Measure each number of processes, and compare all with the first."""
    numbers = [int(text) for text in options.processes.split(",")]
    with running_seaweed() as seaweed:
        store = store_of(seaweed)
        with _running(numbers[0], directory, store) as site:
            plan = plan_of(site, replace(rates, live_pages=0, agents=0, api_per_s=0), "")
        pages = [_hashes(number, plan.pages, directory, store) for number in numbers]
        results: dict[int, Result] = {}
        for number in numbers:
            results[number] = _measure(number, plan, directory, store, options.duration)
            yield from _rows_of(number, results[number])
    first, last = results[numbers[0]], results[numbers[-1]]
    for name in ("page", "upload", "reading"):
        ratio = getattr(last, f"{name}_ms") / (getattr(first, f"{name}_ms") or float("inf"))
        target = f"at most x {WORSE_AT_MOST}"
        yield Row(f"CPU of a {name}, {numbers[-1]} to {numbers[0]}", target, f"x {ratio:.2f}", ratio <= WORSE_AT_MOST)
    other = sorted(path for path in pages[0] if any(found.get(path) != pages[0][path] for found in pages))
    found = f"{len(other)} of {len(pages[0])}{f': {listed(other[:NAMED_AT_MOST])}' if other else ''}"
    yield Row("public pages with other bytes", "0", found, not other)


def _rows_of(number: int, result: Result) -> Iterator[Row]:
    cost = f"{result.page_ms:.1f} ms a page, {result.upload_ms:.1f} ms an upload, {result.reading_ms:.1f} ms a reading"
    yield Row(f"CPU with {number} processes", "-", cost, True)
    share = ", ".join(f"{part} {100 * share:.0f} %" for part, share in sorted(result.shares.items()))
    yield Row(f"pages with {number} processes", "-", f"{result.pages_per_s:.1f}/s; share of CPU: {share}", True)
    waits = [wait for wait in result.lock_waits if wait > LOCK_WAIT_MS]
    found = f"{len(waits)}, longest {max(waits, default=0):.0f} ms"
    yield Row(f"lock waits over {LOCK_WAIT_MS} ms with {number} processes", "0", found, not waits)
    most, used = connections_of(number), result.connections
    yield Row(f"connections with {number} processes", f"at most {most}", str(used), used <= most)


def connections_of(processes: int) -> int:
    """Return the connections that the documented formula allows."""
    return processes * (WEB_THREADS + 1) + LIVE_CONNECTIONS + LAB_CONNECTIONS + MEASURING


def _hashes(number: int, paths: list[str], directory: Path, store: dict[str, str]) -> dict[str, str]:
    """Return the hash of each public page, as this number of processes sends it."""
    with _running(number, directory, store) as site:
        return {path: _hash_of(site, path) for path in paths}


def _running(number: int, directory: Path, store: dict[str, str]) -> AbstractContextManager[Site]:
    from mixed_load import running_site  # noqa: PLC0415 - a cycle

    own = {"WEB_PROCESSES": str(number), "WORKER_PROCESSES": str(number)} | WITHOUT_SNAPSHOTS
    return running_site(directory, **own, **store)


def _measure(number: int, plan: Plan, directory: Path, store: dict[str, str], duration_s: float) -> Result:
    from mixed_load import CONNECTIONS, Samples, live_url, wait_until_read  # noqa: PLC0415 - a cycle

    with _running(number, directory, store) as site:
        samples, plan = Samples(site.register), replace(plan, live_url=live_url(site.register))
        log_file = site.register.data_dir / "log/postgres.log"
        log_begin = len(log_file.read_text(errors="replace"))  # skips the waits of earlier loads
        _log_lock_waits(samples.url)
        with samples.taken():
            readers = replace(plan, rates=replace(plan.rates, uploads_per_s=0))
            senders = replace(plan, rates=replace(plan.rates, page_views_per_s=0))
            page_use, page_count, _ = _use_of(site, readers, "page", directory, duration_s / 2)
            upload_use, upload_count, began = _use_of(site, senders, "upload", directory, duration_s / 2)
            wait_until_read(samples)
            reading_s = use_by_part(site.register)["worker"].processor_s - began["worker"].processor_s
        total = sum(page_use.values()) or 1.0
        log = log_file.read_text(errors="replace")[log_begin:]
        return Result(
            1000 * page_use.get("web", 0) / max(1, page_count),
            1000 * upload_use.get("web", 0) / max(1, upload_count),
            1000 * reading_s / max(1, upload_count),
            page_count / (duration_s / 2),
            {part: used / total for part, used in page_use.items()},
            [float(text) for text in LOCK_LINE.findall(log)],
            int(samples.largest[CONNECTIONS]),
        )


def _use_of(
    site: Site, plan: Plan, kind: str, directory: Path, seconds: float
) -> tuple[dict[str, float], int, dict[str, Use]]:
    """Run a load of one kind. Return processor seconds by part, the number of requests, and the use before it."""
    with running_load(site, plan, directory) as load:
        time.sleep(SETTLE_S)
        moment, before = time.time(), use_by_part(site.register)
        time.sleep(seconds)
        after = use_by_part(site.register)
        count = len(load.found().since(moment, moment + seconds).of_kind(kind))
    used = {part: use.processor_s - before.get(part, Use()).processor_s for part, use in after.items()}
    return used, count, before


def _log_lock_waits(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in ("log_lock_waits = on", f"deadlock_timeout = '{LOCK_WAIT_MS}ms'"):
            connection.execute(f"ALTER SYSTEM SET {statement}".encode())
        connection.execute("SELECT pg_reload_conf()")


def _hash_of(site: Site, path: str) -> str:
    address = urlsplit(site.url).netloc  # the port differs at each start
    content = Client(site.url).get(path).content.replace(address.encode(), b"")
    return hashlib.sha256(VARIES.sub(b"", content)).hexdigest()
