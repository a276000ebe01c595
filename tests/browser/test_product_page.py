"""The page of a drive in a real browser: its first screen, its pictures with keys, limits while typing, and print."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import SHOWN_WIDTH

pytestmark = pytest.mark.browser

FASTEST = "/drive/sandisk-dc-sn861-6400gb/"
LADDER = "/drive/gcp-n2-standard-80/"
TOP_OF = "selector => document.querySelector(selector).getBoundingClientRect().top"
LONGEST_PX = 3600  # on a phone; it was 5,260 before parts were folded
FOCUSED = "document.activeElement.getAttribute('aria-label') ?? ''"


def test_the_first_screen_has_the_whole_answer(page):
    page.goto(FASTEST)
    for selector in (".answer", ".shares", "svg.endurance", "#position", "svg.strip", "#better", "#similar"):
        assert page.evaluate(TOP_OF, selector) < 700, selector
    assert page.evaluate(TOP_OF, "#capacities ~ table tbody") < 800


def test_a_phone_shows_the_sentence_then_the_speed_then_the_gap(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(FASTEST)
    order = [".answer", ".shares", "svg.endurance", "#position", "#better", "#similar", "#capacities", "#runs"]
    tops = [page.evaluate(TOP_OF, selector) for selector in order]
    assert tops == sorted(tops)
    assert tops[2] < 844


@pytest.mark.parametrize("path", [FASTEST, LADDER])
def test_a_phone_shows_the_links_to_parts_closed_and_after_the_figures(new_page, path):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(path)
    links = page.get_by_role("navigation", name="On this page")
    assert links.count() == 1
    places = [page.locator(each).bounding_box()["y"] for each in ("h1", "p.answer", "p.big >> nth=0", "nav.only-phone")]
    assert places == sorted(places)
    assert links.get_by_role("link").count() == 0
    links.get_by_text("On this page").click()
    assert links.get_by_role("link", name="Cite").is_visible()


@pytest.mark.parametrize("path", [FASTEST, LADDER])
def test_a_phone_folds_what_few_readers_need(new_page, path):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollHeight") < LONGEST_PX
    page.get_by_role("link", name="what is missing").click()
    expect(page.get_by_role("heading", name="Certificates", exact=True)).to_be_in_viewport()
    table = page.locator("#measured table")
    expect(table).to_be_hidden()
    page.evaluate("location.hash = 'runs'")
    expect(table).to_be_visible()


def test_a_wide_screen_folds_nothing_also_after_a_change_of_limits(page):
    page.goto(FASTEST, wait_until="load")
    closed = page.locator(".open-wide:not([open])")
    assert closed.count() == 0
    page.get_by_label("Percent over 1 ms").fill("0.5")
    expect(page.locator(".answer")).to_contain_text("of reads took over 1")
    assert closed.count() == 0


@pytest.mark.parametrize("path", [FASTEST, LADDER, "/drive/intel-p3700-400gb/"])
@pytest.mark.parametrize("width", [320, 390])
def test_no_page_scrolls_sideways(new_page, path, width):
    page = new_page(viewport={"width": width, "height": 800})
    page.goto(path)
    assert page.evaluate(SHOWN_WIDTH) == width


def test_a_strip_is_one_tab_stop_and_arrow_keys_move_by_speed(page):
    page.goto(FASTEST)
    strip = page.locator("svg.strip").first
    assert strip.locator("a[tabindex='0']").count() == 1
    strip.locator("a[tabindex='0']").focus()
    speeds = []
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowRight", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        speeds.append(int(re.search(r": ([\d,]+) tps", page.evaluate(FOCUSED))[1].replace(",", "")))
    first, second, last, after_last, before_last, home = speeds
    assert home < first < second < before_last < last == after_last
    page.keyboard.press("Tab")
    assert "over 1" in page.evaluate(FOCUSED)  # the strip of slow reads


def test_the_marks_of_a_ladder_lead_to_their_runs_with_the_keyboard(page):
    page.goto(LADDER)
    panel = page.locator("svg.panel").first
    panel.locator("a[tabindex='0']").focus()
    page.keyboard.press("End")
    run = re.search(r"run (r-\w+)", page.evaluate(FOCUSED))[1]
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run}/")


def test_limits_change_the_marks_at_once_and_then_the_whole_answer(page):
    page.goto(FASTEST, wait_until="load")
    page.get_by_label("Percent over 1 ms").fill("0.5")
    expect(page.locator(".shares .over")).to_have_text("0.56")
    expect(page.locator(".answer")).to_contain_text("of reads took over 1")
    expect(page.locator("#position")).to_have_count(0)
    assert "limit_1ms=0.5" in page.url
    page.get_by_label("Percent over 1 ms").fill("1")
    expect(page.locator(".answer")).to_contain_text("The fastest of 2 comparable")
    expect(page.locator("svg.strip a").first).to_have_attribute("href", re.compile("limit_1ms=1$"))
    expect(page.get_by_role("link", name="Drivecert", exact=True)).to_have_attribute("href", "/?limit_1ms=1")


def test_selected_runs_stay_selected_when_limits_redraw_the_table(page):
    page.goto(LADDER, wait_until="load")
    box = page.locator("table.runs tbody input[name=run]").first
    box.check()
    page.evaluate("document.querySelector('table.runs').dataset.first = ''")
    page.get_by_label("Percent over 1 ms").fill("7")
    expect(page.locator("table.runs[data-first]")).to_have_count(0)
    expect(box).to_be_checked()


def test_the_pictures_are_there_without_javascript_and_in_print(new_page):
    page = new_page(java_script_enabled=False)
    for path, picture in ((FASTEST, "svg.endurance"), (FASTEST, "svg.strip"), (LADDER, "svg.panel")):
        page.goto(path)
        for media in ("screen", "print"):
            page.emulate_media(media=media)
            assert page.locator(picture).first.bounding_box()["width"] > 200, (path, picture, media)
