"""The measures of accounts, submissions and uploads in their full form: make measure-accounts.

A register of its own with real servers, and a Chromium of this machine. Writes benchmarks/results/accounts.md.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
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
    verdict_time,
)
from account_measures.site import Row, Site  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402
from upload import write_logs  # noqa: E402

from tests.chromium import CHROMIUM  # noqa: E402
from tests.register import WITHOUT_SNAPSHOTS, Register  # noqa: E402

RESULT = ROOT / "benchmarks/results/accounts.md"
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


# In this order: wrong passwords come late, since they limit accounts.
MEASURES: dict[str, Callable[[Site, Page, Path], Iterable[Row]]] = {
    "verdict-time": lambda site, page, directory: verdict_time.measure(site, page, write_logs(directory, 5)),
    "one-submission": lambda site, page, directory: one_submission.measure(site, at_once=50, lost=200),
    "cut-uploads": lambda site, page, directory: cut_uploads.measure(
        site, page, cut_uploads.write_log(directory / "large.log", GB), 50 * MB
    ),
    "hostile-files": lambda site, page, directory: hostile_files.measure(site, page, bomb_bytes=GB, flood_bytes=5 * GB),
    "response-times": lambda site, page, directory: (row for row, _ in response_times.measure(site, pairs=400)),
    "sign-in": lambda site, page, directory: sign_in.measure(site, other_page(page)),
    "database-dump": lambda site, page, directory: database_dump.measure(site),
}


def other_page(page: Page) -> Page:
    """Return a page of another new browser."""
    browser = page.context.browser
    if browser is None:
        raise RuntimeError("the page belongs to no browser")
    return browser.new_page()


def conditions() -> dict[str, str]:
    """Return when, where and of which commit the measures begin."""
    command = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    return {
        "begin": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": commit or "unknown",
        "machine": f"{os.cpu_count()} CPUs ({cpu})",
        "kernel": f"Linux {platform.release()}",
        "Python": platform.python_version(),
        "load average before": _load(),
    }


def write(rows: list[Row], stated: dict[str, str], path: Path = RESULT) -> None:
    """Write the results as a document."""
    lines = [f"# Results of `{Path(sys.argv[0]).name}`", "", "| condition | value |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in stated.items()]
    lines += ["", "| measure | must show | found | met |", "|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row.measure} | {row.target} | {row.found} | {'yes' if row.is_met else '**no**'} |")
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


@contextmanager
def running_site(directory: Path, **settings: str) -> Iterator[Site]:
    """Run a register with its own data directory and servers."""
    register: Any = Register(directory / "var", **WITHOUT_SNAPSHOTS, **settings)  # type: ignore[no-untyped-call]
    try:
        register.start_and_wait()
        yield Site(register)
    finally:
        register.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = ", ".join(MEASURES)
    text = f"only these, and nothing is written: {names}"
    parser.add_argument("measures", nargs="*", choices=[*MEASURES, []], metavar="MEASURE", help=text)
    chosen = parser.parse_args().measures
    rows, stated, started = [], conditions(), time.monotonic()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright, running_site(Path(name)) as site:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = signed_in_page(browser, site)
        for measure in chosen or MEASURES:
            for row in MEASURES[measure](site, page, Path(name)):
                result = "met" if row.is_met else "NOT MET"
                print(f"{time.monotonic() - started:4.0f} s  {result}: {row.measure}: {row.found}", flush=True)
                rows.append(row)
        browser.close()
    if not chosen:
        ended = {"load average after": _load(), "duration": f"{(time.monotonic() - started) / 60:.0f} min"}
        write(rows, stated | ended)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
