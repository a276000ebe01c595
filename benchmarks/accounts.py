"""The measures of accounts, submissions and uploads in their full form: make measure-accounts.

A register of its own with real servers, and a Chromium of this machine. Writes benchmarks/results/accounts.md.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

from account_measures import (  # noqa: E402
    cut_uploads,
    database_dump,
    hostile_files,
    one_submission,
    response_times,
    sign_in,
)
from account_measures.site import Row, Site  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402
from upload import seconds_to_verdict, write_logs  # noqa: E402

from tests.chromium import CHROMIUM  # noqa: E402
from tests.register import WITHOUT_SNAPSHOTS, Register  # noqa: E402

RESULT = ROOT / "benchmarks/results/accounts.md"
VERDICT_S = 4
PATIENCE_MS = 120_000
MB, GB = 10**6, 10**9


def signed_in_page(browser: Browser, site: Site) -> Page:
    """Return a page of a new browser in which vera is signed in."""
    context = browser.new_context(bypass_csp=True)  # the script of tus-js-client is not one of the register
    cookies = site.browser_of("vera").session.cookies
    context.add_cookies([{"name": each.name, "value": each.value or "", "url": site.url} for each in cookies])
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


def to_verdict(site: Site, page: Page, directory: Path, times: int) -> list[Row]:
    seconds = [seconds_to_verdict(page, site.register, log) for log in write_logs(directory, times)]
    text = f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} - {max(seconds):.2f}), {times} times"
    is_met = statistics.median(seconds) <= VERDICT_S
    return [Row("from choosing a 96 MB log to its verdict on the page", f"at most {VERDICT_S} s", text, is_met)]


def rows_of(site: Site, browser: Browser, directory: Path) -> Iterator[Row]:
    """Yield the rows of all measures. Wrong passwords come late, since they limit the account."""
    page = signed_in_page(browser, site)
    yield from to_verdict(site, page, directory, 5)
    yield from one_submission.measure(site, at_once=50, lost=200)
    log = cut_uploads.write_log(directory / "large.log", GB)
    yield from cut_uploads.measure(site, page, log, 50 * MB)
    yield from hostile_files.measure(site, page, bomb_bytes=GB, flood_bytes=5 * GB)
    for row, _ in response_times.measure(site, pairs=400):
        yield row
    yield from sign_in.measure(site, browser.new_page())
    yield from database_dump.measure(site)


def write(rows: list[Row], load: str, seconds: float) -> None:
    """Write the results as a document."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    cpu = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    machine = f"{os.cpu_count()} CPUs ({cpu.partition(': ')[2]}), Linux {platform.release()}"
    lines = [
        "# Results of `accounts.py`", "",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit or 'unknown'}, {machine}, Python "
        f"{platform.python_version()}.",
        f"Load average {load} before, {_load()} after. The measures took {seconds / 60:.0f} min.", "",
        "| measure | must show | found | met |", "|---|---|---|---|",
        *(f"| {row.measure} | {row.target} | {row.found} | {'yes' if row.is_met else '**no**'} |" for row in rows),
    ]  # fmt: skip
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(lines) + "\n")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


@contextmanager
def running_site(directory: Path) -> Iterator[Site]:
    """Run a register with its own data directory and servers."""
    register: Any = Register(directory / "var", **WITHOUT_SNAPSHOTS)  # type: ignore[no-untyped-call]
    try:
        register.start_and_wait()
        yield Site(register)
    finally:
        register.end()


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    rows, load, started = [], _load(), time.monotonic()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright, running_site(Path(name)) as site:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for row in rows_of(site, browser, Path(name)):
            print(
                f"{time.monotonic() - started:4.0f} s  {'met' if row.is_met else 'NOT MET'}: {row.measure}: {row.found}"
            )
            sys.stdout.flush()
            rows.append(row)
        browser.close()
    write(rows, load, time.monotonic() - started)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
