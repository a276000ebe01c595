"""The lab in a real browser on the whole register: order a run, watch it, follow it to its run page."""

import re

import pytest

from tests.browser.page_checks import PATIENCE_MS, PHONE, SHOWN_WIDTH, broken_rules

pytestmark = pytest.mark.browser

# The live values of a run, read in one step: the run may end between two reads.
TOLD_WHILE_IT_RUNS = """() => document.querySelector("#live progress:not([value='0'])")
  && document.getElementById('live').innerText"""


def add_device(page, path):
    """Leave the browser at the overview, with the file among the devices."""
    page.goto("/lab/")
    if page.get_by_role("button", name="Add this machine").count():
        page.get_by_role("button", name="Add this machine").click()
    page.locator('a[href="/lab/hosts/local/devices/add/"]').click()
    page.get_by_label("Path").fill(str(path))
    page.get_by_label("Create a file").fill("64")
    page.get_by_role("button", name="Identify", exact=True).click()
    page.get_by_role("button", name="Add this device").click()


def order(page, path, duration_s):
    page.get_by_role("link", name=f"Order a run on {path.name}").click()
    page.get_by_label("Load, Nx").fill("0.1")
    page.get_by_label("Duration, s").fill(str(duration_s))
    page.get_by_label("Slice length, s").fill("2")
    page.get_by_role("button", name="Order the run").click()
    page.wait_for_url("**/lab/dispatches/*/")


@pytest.fixture
def drive(site, request):
    """A file that stays as long as the register's folder: a later file could get its inode and be mistaken for it."""
    return site.data_dir.parent / f"{request.node.name}.img"


def test_a_run_ordered_in_the_browser_is_shown_live_and_ends_in_a_run_page(staff_page, drive):
    page = staff_page
    add_device(page, drive)
    order(page, drive, duration_s=15)
    page.evaluate("window.isTheSamePage = true")
    # Any second of it: a busy machine shows only some.
    assert "reads per second" in page.wait_for_function(TOLD_WHILE_IT_RUNS).json_value()
    assert broken_rules(page) == []
    page.wait_for_selector("[data-settled=yes]", timeout=PATIENCE_MS)
    assert page.evaluate("window.isTheSamePage")
    assert page.get_by_role("link", name="Cancel").count() == 0
    page.get_by_role("link", name=re.compile("^run r-")).click()
    page.wait_for_url("**/runs/r-*/")
    assert page.locator("main h1").count() == 1


def test_a_run_is_cancelled_without_javascript(new_page, signed_in, drive):
    page = new_page(java_script_enabled=False, viewport=PHONE, storage_state=signed_in)
    add_device(page, drive)
    order(page, drive, duration_s=600)
    page.wait_for_selector(".verdict >> text=running", timeout=PATIENCE_MS)
    # No click: the page refreshes every 3 s, and a refresh replaces the navigation of a click that is not answered yet.
    page.goto(page.get_by_role("link", name="Cancel this run").get_attribute("href"))
    page.get_by_role("button", name="Cancel this run").click()
    page.wait_for_selector(".verdict >> text=cancelled", timeout=PATIENCE_MS)


def test_a_host_is_added_with_its_agent_and_its_pages_fit_a_phone(new_page, signed_in):
    page = new_page(viewport=PHONE, storage_state=signed_in)
    page.goto("/lab/hosts/add/")
    assert (broken_rules(page), page.evaluate(SHOWN_WIDTH) <= PHONE["width"]) == ([], True)
    page.get_by_role("textbox", name="Name").fill("lab-1")
    page.get_by_role("button", name="Add the host", exact=True).click()
    page.get_by_text("Copy them now.").wait_for()
    assert "agent join" in page.get_by_role("status").inner_text()
    assert (broken_rules(page), page.evaluate(SHOWN_WIDTH) <= PHONE["width"]) == ([], True)
    page.get_by_role("link", name="the page of this host").click()
    page.get_by_role("button", name="Print a new command").wait_for()
    assert page.get_by_text("agent join").count() == 0
    assert (broken_rules(page), page.evaluate(SHOWN_WIDTH) <= PHONE["width"]) == ([], True)


@pytest.mark.parametrize("path", ["/lab/", "/lab/hosts/local/devices/add/"])
def test_a_page_of_the_lab_fits_a_phone(new_page, signed_in, path):
    page = new_page(viewport=PHONE, storage_state=signed_in)
    page.goto("/lab/")
    if page.get_by_role("button", name="Add this machine").count():
        page.get_by_role("button", name="Add this machine").click()
    page.get_by_role("link", name="Add a device").first.wait_for()
    page.goto(path)
    assert page.evaluate(SHOWN_WIDTH) <= PHONE["width"]


def start_campaign(page, path):
    """From 0.2x, the highest load that the limit allows: any drive gets a second run, above or below."""
    page.get_by_role("link", name=f"Start a campaign on {path.name}").click()
    if page.get_by_label("Prepare the drive first").is_checked():
        page.get_by_label("Prepare the drive first").uncheck()
    terms = {"First load, Nx": "0.2", "Highest load, Nx": "0.4", "Step, Nx": "0.1", "Screening run, s": "4",
             "Load test, s": "6", "Stress test, s": "4", "Slice length, s": "2", "Rest after an overload, s": "0",
             "Rest after a failed run, s": "0"}  # fmt: skip
    for label, value in terms.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Start the campaign").click()
    page.wait_for_url("**/lab/campaigns/*/")


def test_a_campaign_progresses_on_its_open_page(staff_page, drive):
    page = staff_page
    add_device(page, drive)
    start_campaign(page, drive)
    page.evaluate("window.isTheSamePage = true")
    page.wait_for_selector("table.climbed tbody tr:nth-child(2)", timeout=PATIENCE_MS)
    assert broken_rules(page) == []
    page.wait_for_selector("[data-settled=yes]", timeout=PATIENCE_MS * 4)
    assert page.evaluate("window.isTheSamePage")
    assert page.locator("svg.climb").count() == 3
    assert "For a certificate" in page.locator("#live").inner_text()
    assert broken_rules(page) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate(SHOWN_WIDTH) <= PHONE["width"]


def test_an_unchanged_live_part_is_not_sent_again(staff_page, drive):
    page = staff_page
    add_device(page, drive)
    start_campaign(page, drive)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector(".verdict >> text=paused", timeout=PATIENCE_MS)
    # A run that has started changes the part until it ends; a queued one shows no progress.
    page.wait_for_selector("#reached", state="detached", timeout=PATIENCE_MS)
    with page.expect_response(lambda answer: "/live/" in answer.url and answer.status == 204, timeout=PATIENCE_MS):
        pass
    page.get_by_role("link", name="Cancel the campaign").click()
    page.get_by_label("Reason").fill("the drive is needed")
    page.get_by_role("button", name="Cancel the campaign").click()
    page.wait_for_selector(".verdict >> text=cancelled", timeout=PATIENCE_MS)


def test_a_user_who_was_signed_out_is_asked_to_sign_in(staff_page, drive):
    page = staff_page
    add_device(page, drive)
    order(page, drive, duration_s=600)
    page.get_by_role("link", name="Cancel this run").wait_for()
    kept, address = page.context.cookies(), page.url
    page.context.clear_cookies()
    page.wait_for_url("**/login/**", timeout=PATIENCE_MS)
    page.context.add_cookies(kept)
    page.goto(address)
    page.get_by_role("link", name="Cancel this run").click()
    page.get_by_role("button", name="Cancel this run").click()
    page.wait_for_selector(".verdict >> text=cancelled", timeout=PATIENCE_MS)
