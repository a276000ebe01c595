"""The time from choosing a log in the browser to its verdict on the page."""

import statistics
from pathlib import Path

from playwright.sync_api import Page
from upload import seconds_to_verdict

from account_measures.site import Row, Site

LIMIT_S = 4


def measure(site: Site, page: Page, logs: list[Path]) -> list[Row]:
    """Upload each log with the browser page, which is signed in as vera."""
    seconds = [seconds_to_verdict(page, site.register, log) for log in logs]
    median, size = statistics.median(seconds), logs[0].stat().st_size / 1e6
    text = f"{median:.2f} s ({min(seconds):.2f} - {max(seconds):.2f}), {len(logs)} times"
    measure = f"from choosing a log of {size:.0f} MB to its verdict on the page"
    return [Row(measure, f"at most {LIMIT_S} s on 2 processors", text, median <= LIMIT_S)]
