"""From choosing a log in the browser to its verdict on the page: python -m benchmarks.upload [--times 5].

A register of its own, a Chromium of this machine, and the log of a day of 4 devices.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.chromium import CHROMIUM
from tests.register import WITHOUT_SNAPSHOTS, Register

PATIENCE_MS = 120_000
HEADING = "Check the result, then submit it"


def write_logs(directory: Path, times: int) -> list[Path]:
    """Write logs of a day that differ, because the register would know the bytes of the first one."""
    make = [sys.executable, "-m", "benchmarks.make_log", "--hours", "24", "--devices", "4"]
    content = subprocess.run(make, check=True, capture_output=True).stdout
    paths = [directory / f"day-{number}.log" for number in range(times)]
    for number, path in enumerate(paths):
        path.write_bytes(content + b"\n" * number)
    return paths


def sign_in(page: Page, register: Register) -> None:
    """Sign in as the first user."""
    lines = (register.data_dir / "first-login.txt").read_text().splitlines()
    login = dict(line.split(": ") for line in lines)
    page.goto(f"{register.url}/accounts/login/?next=/submit/")
    page.get_by_label("Username").fill(login["login"])
    page.get_by_label("Password").fill(login["password"])
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/submit/")


def seconds_to_verdict(page: Page, register: Register, log: Path) -> float:
    """Return the seconds from choosing the log to the verdict."""
    page.goto(f"{register.url}/submit/")
    started = time.perf_counter()
    page.locator("[name=log]").set_input_files(log)
    page.get_by_role("button", name="Upload and read the log").click()
    page.get_by_role("heading", name=HEADING).wait_for()
    page.locator(".verdict").first.wait_for()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        register: Any = Register(Path(name) / "var", **WITHOUT_SNAPSHOTS)  # type: ignore[no-untyped-call]
        logs = write_logs(Path(name), times)
        try:
            register.start_and_wait()
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(PATIENCE_MS)
            sign_in(page, register)
            seconds = [seconds_to_verdict(page, register, log) for log in logs]
            browser.close()
        finally:
            register.end()
        size = logs[0].stat().st_size / 1e6
    print("| log, MB | to the verdict, s | least - most |\n|---|---|---|")
    print(f"| {size:.0f} | {statistics.median(seconds):.2f} | {min(seconds):.2f} - {max(seconds):.2f} |")


if __name__ == "__main__":
    main()
