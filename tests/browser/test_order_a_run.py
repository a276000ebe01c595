"""A lab's task in a real browser: order a run on this machine and watch it end in a run page."""

import pytest

pytestmark = pytest.mark.browser

ENDS_WITHIN_MS = 60_000


@pytest.fixture
def ordered(staff_page, tmp_path):
    """The page of a dispatch of a few seconds on a plain file, just ordered."""
    page = staff_page
    page.goto("/lab/")
    if page.get_by_role("button", name="Add this machine").count():
        page.get_by_role("button", name="Add this machine").click()
    page.get_by_role("link", name="Add a device").click()
    page.locator("[name=path]").fill(str(tmp_path / "drive.img"))
    page.locator("[name=create_mib]").fill("64")
    page.get_by_role("button", name="Identify").click()
    page.get_by_text("It may be written to").wait_for()
    page.get_by_role("button", name="Add this device").click()
    page.get_by_role("link", name="Order").last.click()
    for name, value in {"nx_load": "0.1", "duration_s": "6", "slice_length_s": "2"}.items():
        page.locator(f"[name={name}]").fill(value)
    page.get_by_role("button", name="Order the run").click()
    page.get_by_role("heading", name="Dispatch").wait_for()
    return page


def test_an_ordered_run_shows_progress_and_ends_in_a_run_page(ordered):
    ordered.locator("progress:not([value='0'])").wait_for(timeout=ENDS_WITHIN_MS)
    link = ordered.locator("#live a[href^='/runs/']")
    link.wait_for(timeout=ENDS_WITHIN_MS)
    assert "done" in ordered.locator("#live .verdict").inner_text()
    link.click()
    ordered.get_by_role("heading", name="All 3 slices").wait_for()
    assert "lab-verified" in ordered.locator("main").inner_text()


def test_a_cancelled_run_ends_and_says_so(ordered):
    ordered.get_by_role("button", name="Cancel this run").click()
    ordered.locator("#live .verdict", has_text="cancelled").wait_for(timeout=ENDS_WITHIN_MS)


def test_a_dispatch_breaks_no_rule_of_accessibility(ordered, assert_accessible):
    assert_accessible(ordered)
