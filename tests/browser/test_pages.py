"""Every kind of public page in a real browser: one visit checks widths, themes, accessibility and print."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

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
    """A page, the widths in which it has to fit and to break no rule, and whether it prefers a landscape sheet.

    A page with a wide table has to fit a portrait sheet as well: not every browser turns the sheet.
    """

    path: str
    fits: tuple[int, ...] = (320, 390, 768)
    accessible: tuple[int, ...] = (320, 1280)
    is_wide: bool = False


def table(path):
    """Return the visit of a page with a table of drives, whose rows are stacked on a phone."""
    return Visit(path, fits=(320, 390), accessible=(1280,), is_wide=True)


VISITS = [
    Visit("/", fits=(320, 390, 768, 1000, 1100), accessible=(1280,), is_wide=True),
    table("/drives/"),
    table("/drives/nvme-flash/"),
    table("/drives/cloud/"),
    *(table(f"/drives/{slug}/") for slug in CATEGORIES),
    Visit("/search/?q=micron"),
    Visit("/drive/gcp-n2-standard-80/", fits=(320, 390, 1280), accessible=(320,), is_wide=True),
    Visit("/drive/micron-9400-max-12800gb/", is_wide=True),
    Visit("/compare/", fits=(320, 390, 1280), accessible=(320,)),
    Visit("/compare/?drive=gcp-n2-standard-80&drive=aws-m5d-24xlarge", (320, 390, 1280), (320,), is_wide=True),
    Visit("/compare/?drive=sandisk-dc-sn861-6400gb&drive=intel-p5510-7680gb", (390,), (), is_wide=True),
    Visit("/ycsb/"),
    Visit("/ycsb/claims/"),
    Visit("/ycsb/claims/?outcome=contradicted"),
    Visit("/ycsb/impossible/"),
    *(Visit(f"/ycsb/claims/{claim}/") for claim in CLAIMS),
    Visit("/ycsb/micron-7400-brief/"),
    *(Visit(f"/ycsb/{brief}/") for brief in BRIEFS),
    Visit("/nines/"),
    Visit("/sizing/", is_wide=True),
    Visit("/check/"),
    Visit("/try/"),
    Visit("/news/"),
    Visit(f"/news/{datetime.now(UTC):%Y-%m}/"),
    Visit("/about/"),
    Visit("/objections/"),
    Visit("/data/"),
    Visit("/api/v1/docs/"),
    Visit("/explain/"),
    *(Visit(f"/explain/{page}/") for page in EXPLAINED),
]
WITHOUT_SCRIPT = ["/", "/drives/nvme-flash/", "/ycsb/micron-7400-brief/", f"/ycsb/claims/{CLAIMS[0]}/"]
# Pages that were longer than ten screens of a phone: at most so many px high. Their charts and tables stay.
LONGEST = {"/sizing/": 6300, "/explain/": 8500}


@pytest.mark.parametrize("visit", VISITS, ids=lambda visit: visit.path)
def test_a_page_fits_is_accessible_and_prints(phone_page, visit):
    assert phone_page.goto(visit.path).status == 200
    faults = faults_of(phone_page, fits=visit.fits, accessible=visit.accessible)
    for width in (PORTRAIT, LANDSCAPE) if visit.is_wide else (PORTRAIT,):
        found = print_faults_of(phone_page, width, kind="wide" if visit.is_wide else "auto")
        faults |= {f"{width} px, {what}": places for what, places in found.items()}
    assert faults == {}


@pytest.mark.parametrize("path", LONGEST)
def test_a_long_page_is_folded_on_a_phone(new_page, path):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollHeight") <= LONGEST[path]
    links = page.get_by_role("navigation", name="On this page").get_by_role("link").all()
    assert len(links) > 2
    for link in links:
        link.click()
        place = page.locator(link.get_attribute("href"))
        expect(place).to_be_in_viewport()
        part = place.locator("xpath=ancestor::details")
        assert part.count() == 0 or part.first.evaluate("each => each.open")


def test_the_meaning_of_a_column_is_unfolded_by_the_link_to_it(page):
    page.goto("/nines/")
    page.locator("thead a.means").first.click()
    page.wait_for_url("**/explain/#*")
    assert page.locator(":target").is_visible()
    page.get_by_role("heading", name="Tables of drives").click()
    page.evaluate("location.hash = 'tps'")
    expect(page.locator("#tps")).to_be_in_viewport()


@pytest.mark.parametrize("path", WITHOUT_SCRIPT)
def test_a_page_works_without_javascript(new_page, path):
    """All other pages do so in tests/webapp/register/test_pages.py, without a browser."""
    page = new_page(java_script_enabled=False)
    assert page.goto(path).status == 200
    assert page.locator("main h1").count() == 1
