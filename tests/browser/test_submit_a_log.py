"""A vendor's task in a real browser: upload a log, and see the result and the reason why it passes or fails."""

import re

import pytest
from django.conf import settings
from playwright.sync_api import expect

from tests.browser.page_checks import PATIENCE_MS, broken_rules

pytestmark = pytest.mark.browser

LOGS = settings.BASE_DIR / "tests/data/act/6.6"
READ_WITHIN_MS = PATIENCE_MS
# In one step: a page that is just being replaced by the next one has no such part either.
# A function: Playwright evaluates an expression again at each look, which the pages' Content-Security-Policy forbids.
READ = "() => document.readyState === 'complete' && !document.querySelector('[data-reading]')"
UPSTREAM_ROW = re.compile(r"^ *(?:\d+|avg|max) +\d")


def upload(page, path, slice_length_s="10", **facts):
    page.goto("/submit/")
    page.locator("[name=log]").set_input_files(path)
    page.locator("[name=slice_length_s]").fill(slice_length_s)
    page.get_by_role("button", name="Upload and read the log").click()
    page.get_by_role("heading", name=re.compile("^(Check the result|The register could not read the log)")).wait_for(
        timeout=READ_WITHIN_MS
    )
    stated = {"vendor": "Exemplar", "model": "EX4"} | facts
    for name, value in stated.items():
        page.locator(f"[name={name}]").fill(value)
    page.locator("[name=category]").select_option("nvme-flash")
    page.get_by_role("button", name=re.compile("^Submit (this result|the unread file)$")).click()
    page.get_by_role("heading", name="Progress").wait_for()


def upstream_rows(case):
    lines = (LOGS / f"{case}.latency.txt").read_text().splitlines()
    return [line.split() for line in lines if UPSTREAM_ROW.match(line)]


def wait_until_read(page):
    """Wait for the complete last page: it loads itself again once all is read, also between two steps of a test."""
    page.wait_for_function(READ, timeout=READ_WITHIN_MS)


def shown_rows(page):
    table = page.locator("table", has=page.get_by_role("columnheader", name="65536"))
    table.wait_for(timeout=READ_WITHIN_MS)
    wait_until_read(page)
    rows = table.locator("tbody tr, tfoot tr").all()
    return [[cell.inner_text().split()[0] for cell in row.locator("th, td").all()] for row in rows]


@pytest.mark.parametrize("case", ["four-us", "slow-disk-ms"])
def test_the_slice_table_is_upstreams_to_the_digit(staff_page, case):
    upload(staff_page, LOGS / f"{case}.log")
    assert shown_rows(staff_page) == upstream_rows(case)


def test_a_failing_log_shows_which_limit_fails_and_by_how_much(staff_page):
    upload(staff_page, LOGS / "slow-disk-ms.log")
    shown_rows(staff_page)
    verdict = staff_page.locator("main .verdict").first.inner_text()
    assert "slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %; also over 1 ms and 8 ms" in verdict
    assert staff_page.get_by_text("times the limit").count() == 4


def test_the_chart_is_drawn_and_has_its_table(staff_page):
    upload(staff_page, LOGS / "slow-disk-ms.log")
    shown_rows(staff_page)
    staff_page.locator("a[href^='/runs/']").first.click()
    staff_page.get_by_role("heading", name="Slow reads").scroll_into_view_if_needed()
    assert staff_page.locator(".slice-bars").first.is_visible()
    assert staff_page.get_by_role("link", name="CSV").count() >= 1


def test_a_file_that_is_not_a_log_is_stored_and_explained(staff_page, tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear register,\nour drive is very fast.\n")
    upload(staff_page, letter)
    staff_page.get_by_text("The register still has the file").first.wait_for(timeout=READ_WITHIN_MS)
    wait_until_read(staff_page)
    said = staff_page.locator("main").inner_text()
    assert all(word in said for word in ("Expected", "Got", "Remedy"))


def test_a_submission_breaks_no_rule_of_accessibility(staff_page):
    upload(staff_page, LOGS / "four-us.log")
    shown_rows(staff_page)
    assert broken_rules(staff_page) == []


def show_unread_once(page):
    """Show the page of a read submission as before its reading."""

    def answer(route):
        read = route.fetch()
        unread = '<div role="status" data-reading>The log waits.</div>'
        unread += "<select><option>first<option>second</select><input type=checkbox value=1>"
        unread += '<script type="module" src="/static/js/reading.js">'
        body = read.text().replace("<h2>Progress</h2>", f"{unread}</script><h2>Progress</h2>")
        route.fulfill(response=read, body=body)

    page.route(page.url, answer, times=1)
    page.reload()


def test_the_page_of_an_unread_log_shows_the_result_without_a_click(staff_page):
    upload(staff_page, LOGS / "four-us.log")
    wait_until_read(staff_page)
    show_unread_once(staff_page)
    expect(staff_page.get_by_text("The log waits.")).to_have_count(0)
    assert staff_page.locator("main .verdict").first.is_visible()


def test_the_page_of_an_unread_log_keeps_what_was_typed(staff_page):
    upload(staff_page, LOGS / "four-us.log")
    wait_until_read(staff_page)
    show_unread_once(staff_page)
    field = staff_page.locator("[name=embargo_until]").first
    field.fill("2030-01-01T00:00")
    expect(staff_page.get_by_role("link", name="Reload this page")).to_be_visible()
    assert field.input_value() == "2030-01-01T00:00"


def choose_second(page):
    page.locator("[data-reading] + select").select_option("second")


def tick(page):
    page.locator("[data-reading] ~ [type=checkbox]").first.check()


@pytest.mark.parametrize("enter", [choose_second, tick], ids=["a menu", "a box"])
def test_the_page_of_an_unread_log_keeps_what_was_chosen(staff_page, enter):
    upload(staff_page, LOGS / "four-us.log")
    wait_until_read(staff_page)
    show_unread_once(staff_page)
    enter(staff_page)
    expect(staff_page.get_by_role("link", name="Reload this page")).to_be_visible()
