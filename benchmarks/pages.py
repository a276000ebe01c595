"""Cost of a page of 5,000 products: processor time, queries, latency at a rate, bytes, and filter to paint.

`python3 benchmarks/pages.py [NUMBER]`, with DATABASE_URL and REDIS_URL set, creates a separate database on that
server and drops it. Each request has other parameters, so that no cache can answer it.
"""

import gzip
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from urllib.parse import urlsplit, urlunsplit

from simulated_register import simulated_register  # isort: split

from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import override_settings
from generated_products import generate
from playwright.sync_api import Page, Response, sync_playwright

from results.lifecycle.listing_changes import current_version
from results.models import Run
from tests.chromium import CHROMIUM
from webapp.register.drives.store.data_file import current_file
from webapp.register.snapshots.rendering import QUICK_GZIP_LEVEL

CHANGES = 10
PAGES, RATE_PER_S, OPEN_LOOP_S, WARM_UP = 100, 20, 20, 5
numbers = count(1)
PAINT = """async vendor => {
  const field = document.querySelector(`input[name=vendor][value="${vendor}"]`);
  const begun = performance.now();
  field.click();
  await new Promise(done => new MutationObserver((_, seen) => { seen.disconnect(); done(); })
    .observe(document.querySelector('[data-shown]'), {childList: true}));
  await new Promise(done => requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = done;
    after.port2.postMessage(0);
  }));
  return performance.now() - begun;
}"""

BEFORE_PAINT = """() => {
  const [{startTime: painted}] = performance.getEntriesByName('first-contentful-paint');
  const loaded = ['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind));
  return loaded.filter(entry => entry.responseStart < painted).map(entry => entry.name);
}"""


def new_address() -> str:
    """Return the address of a page that was not requested before."""
    number = next(numbers)
    questions = (
        "min_tps={}",
        "min_tps={}&vendor=intel~micron&sort=drive",
        "limit_1ms=3.{}",
        "max_1ms=3.{}&act=6&sort=-tps_per_tb",
    )
    return f"/drives/nvme-flash/?{questions[number % len(questions)].format(number)}"


def processor_ms(client: Client) -> list[float]:
    """Return the processor time of each page in this process, ms, sorted."""
    spent = []
    for _ in range(PAGES):
        begun = time.process_time()
        answer = client.get(new_address())
        spent.append(1000 * (time.process_time() - begun))
        if answer.status_code != 200:
            raise SystemExit(f"page: expected 200, got {answer.status_code}")
    return sorted(spent)


def after_change_ms(client: Client) -> list[float]:
    """Return the processor time of the first page after some changes (a result more, a withdrawal), ms, sorted."""
    spent = []
    for number in range(CHANGES):
        if number % 2:
            Run.objects.filter(pk=Run.objects.listed().values("pk")[:1]).update(visibility="withdrawn")
        else:
            generate(1, seed=100 + number)
        begun = time.process_time()
        client.get(new_address())
        spent.append(1000 * (time.process_time() - begun))
    return sorted(spent)


def state_ms() -> float:
    """Return the time of a check for changes, ms."""
    times_ms = []
    for _ in range(20):
        begun = time.perf_counter()
        current_version()
        times_ms.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times_ms)


def queries_count(client: Client) -> int:
    """Return the number of queries of a page."""
    with override_settings(DEBUG=True):
        reset_queries()
        client.get(new_address())
        return len(connection.queries)


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


@contextmanager
def server() -> Iterator[str]:
    """Serve the database of this benchmark as `manage.py up` does."""
    database = urlsplit(os.environ["DATABASE_URL"])
    url = urlunsplit(database._replace(path=f"/{connection.settings_dict['NAME']}"))
    port = free_port()
    words = ["-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port), "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, *words, "--blocking-threads", "8", "webapp.wsgi:application"],
        env=os.environ | {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "webapp.settings"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def wait_for(address: str) -> None:
    """Wait until the server answers."""
    for _ in range(300):
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310 - our own http address
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"{address}: expected an answer in 30 s, got none")


def fetch_ms(address: str) -> float:
    """Return the time of a response, ms."""
    begun = time.perf_counter()
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - our own http address
        answer.read()
    return 1000 * (time.perf_counter() - begun)


def open_loop_ms(base: str, fetch: Callable[[str], float] = fetch_ms) -> list[float]:
    """Return latencies, ms, sorted, of pages requested at a fixed rate."""
    latencies: list[float] = []
    begun = time.perf_counter()
    threads = []
    for number in range(RATE_PER_S * OPEN_LOOP_S):
        time.sleep(max(0.0, begun + number / RATE_PER_S - time.perf_counter()))
        thread = threading.Thread(target=lambda address: latencies.append(fetch(address)), args=(base + new_address(),))
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()
    if len(latencies) != len(threads):
        raise SystemExit(f"open loop: expected {len(threads)} answers, got {len(latencies)}")
    return sorted(latencies)


@contextmanager
def browser_page(address: str) -> Iterator[Page]:
    """Open an address in Chromium with an empty cache, and wait until the network is idle."""
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        page = browser.new_page()
        page.goto(address, wait_until="networkidle")
        yield page
        browser.close()


def paint_bytes(base: str) -> dict[str, tuple[int, bool]]:
    """Return the compressed bytes of each file of a page, and whether it began to arrive before the first paint."""
    with browser_page("about:blank") as page:
        answers: list[Response] = []
        page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 - a method cannot be marked
        page.goto(f"{base}/drives/nvme-flash/", wait_until="networkidle")
        before = page.evaluate(BEFORE_PAINT)
        sizes = {answer.url: len(gzip.compress(answer.body(), QUICK_GZIP_LEVEL)) for answer in answers}
    return {urlsplit(url).path: (size, url in before) for url, size in sizes.items()}


def paint_ms(base: str) -> list[float]:
    """Return the times from a click on a filter to the painted table in Chromium, ms, sorted; the file is loaded."""
    with browser_page(f"{base}/drives/nvme-flash/") as page:
        page.evaluate("() => { for (const pick of document.querySelectorAll('details.pick')) pick.open = true; }")
        vendors = ["intel", "micron", "samsung", "kioxia"] * 6
        spent = [page.evaluate(PAINT, vendor) for vendor in vendors]
    return sorted(spent[WARM_UP:])


def at(part: float, ordered: list[float]) -> float:
    """Return a quantile of sorted values."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def row(measure: str, found: str, wanted: str) -> None:
    print(f"| {measure} | {found} | {wanted} |")


def measure(products_count: int) -> None:
    generate(products_count)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    client = Client(SERVER_NAME="localhost")
    begun = time.process_time()
    client.get(new_address())
    first_ms = 1000 * (time.process_time() - begun)
    spent = processor_ms(client)
    plain, compressed = (current_file(is_compressed=form).content for form in (False, True))
    print(f"\n{products_count:,} products\n\n| measure | found | wanted |\n|---|---|---|")
    row("first page of a process: every row read, CPU ms", f"{first_ms:.0f}", "-")
    row("page, uncached, CPU ms: median, p95", f"{statistics.median(spent):.1f}, {at(0.95, spent):.1f}", "25")
    changed = after_change_ms(client)
    row("first page after a change, CPU ms: median, most", f"{statistics.median(changed):.0f}, {changed[-1]:.0f}", "-")
    row("has anything changed? ms", f"{state_ms():.2f}", "-")
    row("queries a page", str(queries_count(client)), "the same whatever the rows")
    row("data file, bytes: plain, gzip", f"{len(plain):,}, {len(compressed):,}", "200,000 compressed")
    with server() as base:
        for _ in range(8 * WARM_UP):  # each of the two workers reads the columns once, and is not measured by it
            fetch_ms(base + new_address())
        latencies = open_loop_ms(base)
        row(
            f"{RATE_PER_S} pages/s, open loop, ms: median, p95",
            f"{at(0.5, latencies):.0f}, {at(0.95, latencies):.0f}",
            "150",
        )
        files = paint_bytes(base)
        before, total = (sum(size for size, is_before in files.values() if is_before or kind) for kind in (0, 1))
        row("compressed bytes before the first paint in Chromium, and all", f"{before:,}, {total:,}", "250,000 before")
        largest, (size, is_before) = max(files.items(), key=lambda file: file[1])
        row("the largest of these files", f"{largest}: {size:,}, {'before' if is_before else 'after'} the paint", "-")
        painted = paint_ms(base)
        shown = ", ".join(f"{each:.0f}" for each in (at(0.5, painted), at(0.95, painted), painted[-1]))
        row("filter to paint in Chromium, ms: median, p95, most", shown, "50, 100")


if __name__ == "__main__":
    with simulated_register():
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
