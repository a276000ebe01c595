"""Pages on paper: whole tables that fit a sheet, nothing to click, and the address that they were printed from."""

import pytest

from tests.browser.test_submit_a_log import LOGS, shown_rows, upload

pytestmark = pytest.mark.browser

LANDSCAPE, PORTRAIT = 1032, 703  # px of A4 between margins of 12 mm
SHEETS = [
    ("/drives/nvme-flash/", LANDSCAPE),
    ("/drives/cloud/", LANDSCAPE),
    ("/drive/gcp-n2-standard-80/", LANDSCAPE),
    ("/compare/?drive=sandisk-dc-sn861-6400gb&drive=intel-p5510-7680gb", LANDSCAPE),
    ("/sizing/", LANDSCAPE),
    ("/", PORTRAIT),
    ("/ycsb/claims/", PORTRAIT),
    ("/ycsb/micron-7400-brief/", PORTRAIT),
    ("/nines/", PORTRAIT),
    ("/explain/", PORTRAIT),
]
TO_CLICK = """() => [...document.querySelectorAll('button, select, summary, input, nav a, .means.sign')]
  .filter(each => each.checkVisibility())
  .filter(each => !each.closest(`.sizes, #sizing .row, #sizing .limits-row`)).map(e => e.outerHTML.slice(0, 90))"""
CUT = """() => [...document.querySelectorAll('main table, main p, main dl')].filter(each => each.checkVisibility())
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML.slice(0, 90))"""
SHEET = "getComputedStyle(document.body).page"


@pytest.mark.parametrize(("path", "width"), SHEETS)
def test_a_sheet_has_whole_tables_and_nothing_to_click(new_page, path, width):
    page = new_page(viewport={"width": width, "height": 1000})
    page.goto(path)
    page.emulate_media(media="print")
    assert page.evaluate(SHEET) == ("wide" if width == LANDSCAPE else "auto")
    assert page.evaluate(TO_CLICK) == []
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.querySelectorAll('.only-phone').length") == page.evaluate(
        "[...document.querySelectorAll('.only-phone')].filter(each => !each.checkVisibility()).length"
    )


def test_the_address_as_it_is_asked_now_is_printed_without_a_key(page):
    page.goto("/drives/nvme-flash/?limit_1ms=3")
    assert not page.locator(".printed").is_visible()
    page.get_by_label("Speed, at least").fill("500000")
    page.wait_for_url("**min_tps=500000**")
    page.evaluate(
        "history.replaceState(null, '', `${location.href}&key=secret`); dispatchEvent(new Event('beforeprint'))"
    )
    page.emulate_media(media="print")
    assert page.locator(".printed").inner_text().endswith("/drives/nvme-flash/?min_tps=500000&limit_1ms=3")


def test_what_is_hidden_and_why_is_printed_as_sentences(page):
    page.goto("/drives/nvme-flash/?vendor=intel&min_tps=300000")
    page.emulate_media(media="print")
    assert page.locator("[data-shown]").inner_text() == (
        "3 of 36 shown. 33 hidden: historical: 6; vendor is not Intel: 30; "
        "speed is below 300,000 tps or not reported: 12 (a drive can fail several filters)."
    )


def test_without_script_a_sheet_has_the_address_of_its_page(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/ycsb/claims/")
    page.emulate_media(media="print")
    assert page.locator(".printed").inner_text().endswith("/ycsb/claims/")


def test_the_configuration_of_a_run_is_printed_closed_or_open(staff_page):
    upload(staff_page, LOGS / "four-us.log")
    shown_rows(staff_page)
    staff_page.goto(staff_page.locator("a[href^='/runs/']").first.get_attribute("href"))
    line = staff_page.locator("#configuration dt").first
    assert not line.is_visible()
    staff_page.emulate_media(media="print")
    assert line.is_visible()
