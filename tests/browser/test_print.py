"""Pages on paper: whole tables that fit a sheet, nothing to click, and the address that they were printed from."""

from datetime import UTC, datetime

import pytest

from tests.browser.test_submit_a_log import LOGS, shown_rows, upload

pytestmark = pytest.mark.browser


def test_the_current_address_is_printed_without_a_key(page):
    page.goto("/drives/nvme-flash/?limit_1ms=3")
    assert not page.locator(".printed").is_visible()
    page.get_by_label("Speed, at least").fill("500000")
    page.wait_for_url("**min_tps=500000**")
    page.evaluate(
        "history.replaceState(null, '', `${location.href}&key=secret`); dispatchEvent(new Event('beforeprint'))"
    )
    page.emulate_media(media="print")
    assert page.locator(".printed").inner_text().endswith("/drives/nvme-flash/?min_tps=500000&limit_1ms=3")


def test_hidden_rows_and_their_reasons_are_printed_as_sentences(page):
    page.goto("/drives/nvme-flash/?vendor=intel&min_tps=300000")
    page.emulate_media(media="print")
    assert page.locator("[data-shown]").inner_text() == (
        "3 of 36 shown. None of the 3 has a rating that allows 300,000 tps. 33 hidden for 3 reasons.\n"
        "historical: 6\nvendor is not Intel: 30, 20 only for this reason\n"
        "speed is below 300,000 tps or not reported: 12, 1 only for this reason\nA drive can fail several filters."
    )


def test_home_is_printed_with_its_question(new_page):
    page = new_page(viewport={"width": 703, "height": 900})
    page.goto("/")
    page.emulate_media(media="print")
    for label in ("Category", "Speed of one drive, at least", "Percent over 1 ms"):
        assert page.get_by_label(label).first.is_visible()


def test_a_sheet_has_the_address_of_its_page_without_javascript(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/ycsb/claims/")
    page.emulate_media(media="print")
    assert page.locator(".printed").inner_text().endswith("/ycsb/claims/")


@pytest.mark.parametrize(
    "path",
    ["/compare/?drive=sandisk-dc-sn861-6400gb&drive=micron-9400-max-12800gb", "/sizing/?reads=500000&writes=125000"],
)
def test_the_address_of_a_view_is_printed_with_its_query(new_page, path):
    page = new_page(java_script_enabled=False)
    page.goto(path)
    page.emulate_media(media="print")
    assert page.locator(".printed").inner_text().endswith(path)


def test_the_ring_of_a_rating_differs_from_its_bar_on_paper(page):
    page.goto("/compare/?drive=sandisk-dc-sn861-6400gb&drive=micron-9400-max-12800gb")
    page.emulate_media(media="print")
    ring, bar = (page.locator(f".bar-chart {name}").first for name in ("circle.rating", "rect.strong"))
    look = "each => [getComputedStyle(each).fill, getComputedStyle(each).stroke]"
    (inside, line), (colour, _) = ring.evaluate(look), bar.evaluate(look)
    assert inside not in {colour, line, "none"}


def test_the_configuration_of_a_run_is_printed_whether_it_is_folded_or_not(staff_page):
    upload(staff_page, LOGS / "four-us.log")
    shown_rows(staff_page)
    staff_page.goto(staff_page.locator("a[href^='/runs/']").first.get_attribute("href"))
    line = staff_page.locator("#configuration dt").first
    assert not line.is_visible()
    staff_page.emulate_media(media="print")
    assert line.is_visible()


def test_a_drive_is_printed_with_the_date_of_the_data_and_without_its_badge(page):
    page.goto("/drive/sandisk-dc-sn861-6400gb/")
    badge = page.get_by_text("Other sites can include this badge")
    assert badge.is_visible()
    page.emulate_media(media="print")
    assert not badge.is_visible()
    assert not page.get_by_role("link", name="Sustained speed").is_visible()
    assert page.locator("#measured .runs").evaluate("each => parseFloat(getComputedStyle(each).fontSize)") >= 12
    today = f"{datetime.now(UTC):%-d %B %Y}"
    assert page.locator(".printed").inner_text().startswith(f"State of the data: {today} (UTC).")


def test_the_states_of_marks_are_printed_in_three_shades(page):
    page.goto("/?limit_1ms=4.6")
    page.emulate_media(media="print")
    fills = [
        page.locator(f"svg.landscape a.m.full.{state} use").first.evaluate("mark => getComputedStyle(mark).fill")
        for state in ("in", "out", "over")
    ]
    shades = [int(fill.removeprefix("rgb(").split(",")[0]) for fill in fills]
    assert min(abs(one - other) for one in shades for other in shades if one != other) >= 40
    assert len(set(shades)) == 3
