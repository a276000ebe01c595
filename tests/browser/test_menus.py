"""The form above the tables of drives: its menus, typed numbers, the link to the results and the link to the view."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import DESKTOP, faults_of, open_context

pytestmark = pytest.mark.browser

FLASH = "/drives/nvme-flash/"


def menu(page, name):
    return page.locator(f"details[data-pick={name}]")


def open_menu(page, name):
    if menu(page, name).is_hidden():
        page.get_by_text("More filters").click()
    menu(page, name).locator("summary").click()
    expect(menu(page, name)).to_have_attribute("open", "")


def test_escape_closes_a_menu_and_returns_the_focus_to_it(page):
    page.goto(FLASH)
    open_menu(page, "vendor")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "vendor"
    page.keyboard.press("Escape")
    expect(menu(page, "vendor")).not_to_have_attribute("open", "")
    assert page.evaluate("document.activeElement.parentElement.dataset.pick") == "vendor"


def test_escape_without_an_open_menu_changes_nothing(page):
    page.goto(FLASH)
    page.get_by_label("Speed, at least").fill("500k")
    page.keyboard.press("Escape")
    assert page.get_by_label("Speed, at least").input_value() == "500k"


def test_a_click_outside_closes_a_menu_and_one_inside_does_not(page):
    page.goto(FLASH)
    open_menu(page, "vendor")
    menu(page, "vendor").get_by_label("Intel").check()
    expect(menu(page, "vendor")).to_have_attribute("open", "")
    page.get_by_role("heading", level=1).click()
    expect(menu(page, "vendor")).not_to_have_attribute("open", "")


@pytest.mark.parametrize("has_script", [True, False])
def test_a_menu_closes_when_another_one_opens(new_page, has_script):
    page = new_page(viewport=DESKTOP, java_script_enabled=has_script)
    page.goto("/drives/")
    open_menu(page, "category")
    open_menu(page, "vendor")
    expect(menu(page, "category")).not_to_have_attribute("open", "")


def test_a_menu_closes_when_the_focus_leaves_it(page):
    page.goto(FLASH)
    open_menu(page, "vendor")
    page.get_by_label("Speed, at least").focus()
    expect(menu(page, "vendor")).not_to_have_attribute("open", "")


def test_the_picked_options_are_shown_without_their_counts(page):
    page.goto(FLASH)
    open_menu(page, "vendor")
    menu(page, "vendor").get_by_label("Intel (4)").check()
    expect(menu(page, "vendor").locator("[data-picked]")).to_have_text("Intel")


def test_the_menu_of_columns_stays_within_the_window(page):
    page.goto("/drives/?category=nvme-flash")
    page.locator("details.pick:not([data-pick]) summary").click()
    options = page.locator("details.pick[open] > div")
    expect(options).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_more_filters_opens_only_if_one_of_them_was_set(page):
    page.goto("/drives/?category=nvme-flash&within=only&sort=-device_tps")
    expect(page.locator("[data-more]")).not_to_have_attribute("open", "")
    expect(page.locator("tbody tr:has([name=run])").first).to_be_in_viewport()
    page.goto("/drives/?category=nvme-flash&historical=include")
    expect(page.locator("[data-more]")).to_have_attribute("open", "")


@pytest.mark.parametrize(
    "address", [FLASH, "/drives/", "/drives/historical/", "/drives/cloud/", "/sizing/", "/ycsb/claims/"]
)
@pytest.mark.parametrize("has_script", [True, False])
def test_the_first_row_is_reached_by_two_tab_stops(new_page, address, has_script):
    page = new_page(viewport=DESKTOP, java_script_enabled=has_script)
    page.goto(address)
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    expect(focused).to_have_text("Skip to the first result")
    assert focused.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    first = page.locator("main table:not(.providers) tbody:visible tr:has(td)").first
    assert first.locator(":focus").count() == 1


def test_the_first_result_is_below_the_sticky_head_after_the_skip_link(new_page):
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto(FLASH)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("scrollY > 0")
    head, body = (
        page.locator(".sticky thead th").first.bounding_box(),
        page.locator(".sticky tbody").first.bounding_box(),
    )
    assert body["y"] >= head["y"] + head["height"]


def test_the_summary_on_a_phone_follows_the_filters(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(FLASH)
    summary = page.locator(".opener summary")
    before = summary.inner_text()
    assert before.startswith("Filter and limits: none, ")
    summary.click()
    page.get_by_label("Speed, at least").fill("500k")
    expect(summary).not_to_have_text(before)
    text = summary.inner_text()
    assert text.startswith("Filter and limits: 1 set, ")
    page.reload()
    expect(summary).to_have_text(text)


@pytest.mark.parametrize("has_script", [True, False])
@pytest.mark.parametrize(
    ("address", "field"), [(FLASH, "Speed, at least"), ("/", "Speed of one drive, at least")], ids=["table", "home"]
)
def test_a_phone_shows_the_fields_behind_a_summary_with_a_state(new_page, address, field, has_script):
    page = new_page(viewport={"width": 390, "height": 844}, java_script_enabled=has_script)
    page.goto(address)
    opener = page.locator(".opener summary")
    expect(page.get_by_label(field)).to_be_hidden()
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".opener")).to_have_attribute("open", "")
    expect(page.get_by_label(field)).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.form.matches('.filters')")
    opener.focus()
    page.keyboard.press("Space")
    expect(page.get_by_label(field)).to_be_hidden()


@pytest.mark.parametrize("address", [FLASH, "/"])
def test_a_wide_screen_has_all_fields_without_the_summary(page, address):
    page.goto(address)
    expect(page.locator(".opener")).to_be_hidden()
    expect(page.locator(".filters:has(.opener) input[name=limit_1ms]")).to_be_visible()


def test_the_link_to_the_results_leads_to_the_table_that_has_rows(page):
    page.goto("/drives/historical/")
    page.get_by_label("Search", exact=True).fill("r3.large")
    expect(page.locator(".skip").first).to_have_attribute("href", "#cloud-rows")
    expect(page.locator("[data-section=nvme-flash]")).to_be_hidden()


@pytest.mark.parametrize(
    ("label", "typed", "address"),
    [
        ("Speed, at least", "500k", "?min_tps=500000"),
        ("Speed, at least", "1,500,000", "?min_tps=1500000"),
        ("Capacity, from", "6.4 TB", "?min_tb=6.4"),
        ("Capacity, to", "800 GB", "?max_tb=0.8"),
        ("Over 1 ms, at most", "3 %", "?max_1ms=3"),
        ("Percent over 1 ms", "3.50%", "?limit_1ms=3.5"),
    ],
)
def test_a_typed_number_is_a_plain_number_in_the_address(page, label, typed, address):
    page.goto(FLASH)
    page.get_by_label(label).fill(typed)
    page.wait_for_url(f"**{FLASH}{address}")
    assert page.get_by_label(label).input_value() == typed


def test_without_a_script_a_typed_number_leads_to_the_plain_address(new_page):
    page = new_page(java_script_enabled=False)
    page.goto(FLASH)
    page.get_by_label("Speed, at least").fill("500k")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**/?min_tps=500000")
    assert page.locator("input[name=min_tps]").input_value() == "500000"


def test_a_text_that_is_no_number_gets_one_sentence_with_an_example(page):
    page.goto(FLASH)
    field = page.get_by_label("Capacity, from")
    field.fill("large")
    error = page.get_by_role("alert")
    expect(error).to_have_text("expected a number from 0 to 1,000,000 TB, for example 6.4 TB or 800 GB")
    assert faults_of(page, fits=(), accessible=(1280,)) == {}
    field.fill("6")
    page.wait_for_url("**/?min_tb=6")
    expect(error).to_have_count(0)


def test_after_filtering_by_dwpd_the_columns_of_endurance_are_shown(page):
    page.goto("/drives/")
    assert page.locator("thead th[data-column=endurance_dwpd]").count() == 0
    page.get_by_label("Endurance, at least").fill("3")
    for code in ("endurance_dwpd", "sustained_tps"):
        page.locator(f"thead th[data-column={code}]").wait_for()
    page.get_by_label("Endurance, at least").fill("")
    expect(page.locator("thead th[data-column=endurance_dwpd]")).to_have_count(0)


def test_the_link_to_the_view_is_copied_without_loading_the_page(browser, site):
    context = open_context(browser, base_url=site.url, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{FLASH}?vendor=micron&min_tps=")
    page.evaluate("window.isSame = true")
    page.get_by_role("link", name="Link to this view").click()
    expect(page.locator("[data-link-status]")).to_have_text("Link copied.")
    assert page.evaluate("window.isSame")
    assert page.url == f"{site.url}{FLASH}?vendor=micron"
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    context.close()


def test_a_browser_that_refuses_the_clipboard_has_the_link_in_its_address(page):
    page.goto(f"{FLASH}?vendor=micron&min_tps=")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    page.get_by_role("link", name="Link to this view").click()
    expect(page.locator("[data-link-status]")).to_have_text("The address bar has the link.")
    assert page.url.endswith(f"{FLASH}?vendor=micron")


@pytest.mark.parametrize("name", ["vendor", "act"])
def test_an_open_menu_breaks_no_rule_of_accessibility(browser, site, name):
    context = open_context(browser, base_url=site.url)
    page = context.new_page()
    page.goto(FLASH)
    open_menu(page, name)
    assert faults_of(page, fits=(), accessible=(1280,)) == {}
    context.close()
