"""Every kind of public page in a real browser: one visit checks widths, themes, accessibility and print."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.browser.page_checks import faults_of, print_faults_of

pytestmark = pytest.mark.browser

LANDSCAPE, PORTRAIT = 1032, 703  # px of A4 between margins of 12 mm
CATEGORIES = ["nvme-3dxpoint", "sata-sas-flash", "m2-flash", "networked", "historical"]
BRIEFS = ["micron-7450-brief", "micron-x100-paper", "kioxia-fl6-brief"]
CLAIMS = [  # a mean, two peaks, two figures, an interval, several workloads, and no figures
    "micron-7400-brief/mean-improvement-over-thread-counts-d", "micron-7400-brief/peak-throughput-improvement-a",
    "kioxia-fl6-brief/throughput-gain-a", "micron-7450-brief/throughput-improvement-at-15-ms-p99-99-read-a",
    "kioxia-fl6-brief/memory-utilization-small-gains-a-f", "micron-x100-paper/ops-per-watt-over-thread-counts-a",
]  # fmt: skip
EXPLAINED = ["rules", "tools", "generator", "submit", "glossary"]


@dataclass(frozen=True)
class Visit:
    """A page, the widths in which it has to fit and to break no rule, and the width of its sheet; 0 if not printed."""

    path: str
    fits: tuple[int, ...] = (320, 390, 768)
    accessible: tuple[int, ...] = (320, 1280)
    sheet: int = 0


def table(path, sheet=0):
    """Return the visit of a page with a table of drives, whose rows are stacked on a phone."""
    return Visit(path, fits=(320,), accessible=(1280,), sheet=sheet)


VISITS = [
    Visit("/", fits=(320, 768, 1000, 1100), accessible=(1280,), sheet=LANDSCAPE),
    table("/drives/nvme-flash/", LANDSCAPE),
    table("/drives/cloud/", LANDSCAPE),
    *(table(f"/drives/{slug}/") for slug in CATEGORIES),
    Visit("/drive/gcp-n2-standard-80/", fits=(320, 390, 1280), accessible=(320,), sheet=LANDSCAPE),
    Visit("/compare/", fits=(320, 390, 1280), accessible=(320,)),
    Visit("/compare/?drive=gcp-n2-standard-80&drive=aws-m5d-24xlarge", fits=(320, 390, 1280), accessible=(320,)),
    Visit("/compare/?drive=sandisk-dc-sn861-6400gb&drive=intel-p5510-7680gb", fits=(), accessible=(), sheet=LANDSCAPE),
    Visit("/ycsb/"),
    Visit("/ycsb/claims/", sheet=PORTRAIT),
    Visit("/ycsb/claims/?outcome=contradicted"),
    Visit("/ycsb/impossible/", sheet=PORTRAIT),
    *(Visit(f"/ycsb/claims/{claim}/", sheet=PORTRAIT) for claim in CLAIMS),
    Visit("/ycsb/micron-7400-brief/", sheet=PORTRAIT),
    *(Visit(f"/ycsb/{brief}/") for brief in BRIEFS),
    Visit("/nines/", sheet=PORTRAIT),
    Visit("/sizing/", sheet=LANDSCAPE),
    Visit("/check/"),
    Visit("/try/", sheet=PORTRAIT),
    Visit("/news/", sheet=PORTRAIT),
    Visit(f"/news/{datetime.now(UTC):%Y-%m}/", sheet=PORTRAIT),
    Visit("/about/", sheet=PORTRAIT),
    Visit("/explain/", sheet=PORTRAIT),
    *(Visit(f"/explain/{page}/") for page in EXPLAINED),
]
WITHOUT_SCRIPT = ["/", "/drives/nvme-flash/", "/ycsb/micron-7400-brief/", f"/ycsb/claims/{CLAIMS[0]}/"]


@pytest.mark.parametrize("visit", VISITS, ids=lambda visit: visit.path)
def test_a_page_fits_is_accessible_and_prints(phone_page, visit):
    assert phone_page.goto(visit.path).status == 200
    faults = faults_of(phone_page, fits=visit.fits, accessible=visit.accessible)
    if visit.sheet:
        faults |= print_faults_of(phone_page, visit.sheet, kind="wide" if visit.sheet == LANDSCAPE else "auto")
    assert faults == {}


@pytest.mark.parametrize("path", WITHOUT_SCRIPT)
def test_a_page_works_without_javascript(new_page, path):
    """All other pages do so in tests/webapp/register/test_pages.py, without a browser."""
    page = new_page(java_script_enabled=False)
    assert page.goto(path).status == 200
    assert page.locator("main h1").count() == 1
