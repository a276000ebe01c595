"""YCSB, claims, nines, sizing, fleet check and explanations in a real browser: the tasks of a reader."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import SHOWN_WIDTH, broken_rules, open_context

pytestmark = pytest.mark.browser

LIST = "model,firmware,capacity_gb\nSanDisk DC SN861,X1,6400\nNobody's drive,1,960\n"
CLAIMS_PHONE_PX = 3000  # the whole list was 7,200 px high


def test_the_navigation_links_to_the_main_pages(page):
    page.goto("/")
    links = [link.get_attribute("href") for link in page.locator("nav[aria-label=Main] a").all()]
    assert {"/ycsb/", "/sizing/", "/check/", "/explain/"} <= set(links)


def test_the_44_and_49_per_cent_of_the_7400_brief_are_found_and_drawn(page):
    page.goto("/ycsb/")
    page.get_by_role("link", name="Micron 7400 PRO against 7300 PRO").click()
    table = page.locator("table", has_text="Workload A")
    assert "+43.9" in table.get_by_role("row", name=re.compile("^peak")).inner_text()
    assert "+48.6" in table.get_by_role("row", name=re.compile("^mean")).inner_text()
    expect(page.locator("svg.chart")).to_have_count(5)


COLOUR = "getComputedStyle(document.querySelector('svg.chart .dot')).stroke"


def test_a_chart_follows_the_theme(page):
    page.goto("/ycsb/micron-7450-brief/")
    light = page.evaluate(COLOUR)
    page.get_by_role("button", name="Dark").click()
    page.wait_for_function(f"before => {COLOUR} !== before", arg=light)


def test_the_values_of_a_chart_are_read_with_arrow_keys(page):
    page.goto("/ycsb/micron-7400-brief/")
    chart = page.locator("svg.chart").first
    chart.focus()
    reading = page.locator(".plotbox + .reading").first
    page.keyboard.press("ArrowLeft")  # the first mark has none before it
    expect(reading).to_have_text("7400 PRO: 17,060 ops/s with 4 threads")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(reading).to_have_text("7400 PRO: 42,012 ops/s with 32 threads (peak)")
    page.keyboard.press("End")
    expect(reading).to_have_text("7300 PRO: 27,987 ops/s with 256 threads")
    page.keyboard.press("ArrowRight")  # the last mark has none after it
    expect(reading).to_have_text("Last mark. 7300 PRO: 27,987 ops/s with 256 threads")
    expect(chart.locator(".mark.on")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(chart.locator(".mark.on")).to_have_count(0)


def test_the_wrong_claim_is_found_from_the_list_without_javascript(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/ycsb/claims/")
    page.get_by_role("navigation", name="Filter by outcome").get_by_role("link", name="Contradicted").click()
    page.wait_for_url("**/ycsb/claims/?outcome=contradicted")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody tr").get_by_role("link", name="mean improvement over thread counts").click()
    expect(page.locator("main h1")).to_have_text(re.compile("Micron on the 7400 PRO: 24.% .* table gives 25.8.%."))
    expect(page.locator("svg.chart rect.col")).to_have_count(10)
    image = page.locator("img.card")
    image.scroll_into_view_if_needed()
    assert image.evaluate("each => each.decode().then(() => [each.naturalWidth, each.naturalHeight])") == [1200, 630]


def test_a_claim_links_back_to_its_figures(page):
    page.goto("/ycsb/micron-7450-brief/")
    page.get_by_role("link", name="checked against its figures").click()
    page.wait_for_url("**/ycsb/claims/#micron-7450-brief")
    row = page.get_by_role("row", name=re.compile("throughput improvement at 15 ms"))
    assert "95.7" in row.inner_text()
    assert "read from a chart, too imprecise" in row.inner_text()


def test_the_link_to_a_claim_is_copied_without_loading_the_page(browser, site):
    context = open_context(browser, base_url=site.url, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/")
    page.evaluate("window.isSame = true")
    page.get_by_role("link", name="Link to this claim").click()
    expect(page.get_by_role("status").last).to_have_text("Link copied.")
    assert page.evaluate("window.isSame")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    context.close()


def test_the_list_of_claims_is_short_on_a_phone_and_links_open_its_parts(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/ycsb/claims/")
    assert page.evaluate("document.documentElement.scrollHeight") <= CLAIMS_PHONE_PX
    claim = page.get_by_role("link", name="average insert latency gain").first
    expect(claim).to_be_hidden()
    page.evaluate("location.hash = 'kioxia-fl6-brief'")
    expect(page.locator("#kioxia-fl6-brief")).to_be_in_viewport()
    expect(claim).to_be_visible()


def test_ten_slow_reads_become_forty_thousand_while_typing(page):
    page.goto("/nines/")
    assert "10 slow reads per second on one drive become 40,000 in 20 racks." in page.locator("#said").inner_text()
    page.get_by_label("Latency target of a drive, in nines").fill("4")
    expect(page.locator("#said")).to_contain_text("400,000 in 20 racks")
    page.wait_for_url("**/nines/?*nines=4*")


def test_a_cluster_is_sized_with_the_keyboard_only(page):
    page.goto("/sizing/")
    page.get_by_label("Reads, /s").focus()
    for number in ("400000", "100000", "1536", "10"):
        page.keyboard.press("Control+A")
        page.keyboard.type(number)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sizing/?*reads=400000*")
    # The address may have the first number before the last ones are sent.
    expect(page.locator("#steps + table")).to_contain_text("53.1 TB")
    expect(page.locator("#said")).to_have_text(re.compile("^Fewest drives: "))


def test_larger_objects_are_untested(page):
    page.goto("/sizing/?object=4096")
    assert "untested" in page.locator("#said").inner_text().lower()


def test_another_mix_and_a_restriction_are_answered_while_typing(page):
    page.goto("/sizing/")
    page.get_by_label("Reads, /s").fill("5000000")
    expect(page.locator("#remarks")).to_contain_text("Your mix was not tested: 95.2 %")
    page.locator("summary", has_text="Which drives").click()
    expect(page.get_by_label("Vendor")).to_have_value("")
    page.get_by_label("Vendor").select_option("micron")
    expect(page.locator("#answer")).to_contain_text("hidden by your restrictions")
    page.wait_for_url("**vendor=micron*")
    expect(page.get_by_label("Vendor")).to_have_value("micron")
    assert all("Micron" in name for name in page.locator(".sizes tbody tr:not(.group) th").all_inner_texts())
    page.get_by_role("link", name="Show them").click()
    page.wait_for_url(re.compile("^(?!.*vendor)"))


@pytest.mark.parametrize(("typed", "sent"), [("40T", "40"), ("800 GB", "0.8"), ("5M", "0.000005")])
def test_a_size_is_sent_in_the_unit_of_its_field(page, typed, sent):
    page.goto("/sizing/")
    page.get_by_label("Data, one copy, TB").fill(typed)
    page.wait_for_url(re.compile(rf"[?&]data={re.escape(sent)}(&|$)"))
    expect(page.locator("#said")).not_to_contain_text("not understood")


def test_instances_are_sized_without_a_script(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/sizing/")
    page.locator("summary", has_text="Which drives").click()
    page.get_by_label("Cluster of").select_option("instances")
    page.get_by_role("button", name="Calculate").click()
    page.wait_for_url("**of=instances*")
    assert page.locator("#said").inner_text().startswith("Fewest instances: ")
    assert not page.locator("[data-price-shown], [data-price], .prices").locator("visible=true").count()


@pytest.mark.parametrize("script", [True, False])
def test_a_fleet_is_checked_with_the_keyboard_with_and_without_javascript(new_page, script):
    page = new_page(java_script_enabled=script)
    page.goto("/check/")
    page.get_by_label("Paste a list of drives").focus()
    page.keyboard.insert_text(LIST)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".lede")).to_contain_text("1 as published")
    assert "without a certificate" in page.locator("table").last.inner_text()


@pytest.mark.parametrize("script", [True, False])
def test_back_from_a_drive_shows_the_answer_of_a_check_again(new_page, script):
    page = new_page(java_script_enabled=script)
    page.goto("/check/")
    page.get_by_label("Paste a list of drives").fill(LIST)
    page.get_by_role("button", name="Check drives").click()
    with page.expect_response("**/badge.svg") as badge:  # the last request of the page
        page.get_by_role("cell", name="See SanDisk DC SN861").get_by_role("link").click()
    badge.value.finished()
    expect(page.locator("main h1")).to_contain_text("SanDisk DC SN861")
    page.context.set_offline(True)  # nothing is sent again
    page.go_back()
    expect(page.locator("main h1")).to_have_text("The register knows 1 of 2 drives")
    assert page.url.endswith("/check/answer/")  # the list is not in the address


def test_the_answer_of_a_check_is_accessible_and_fits_a_phone(phone_page):
    page = phone_page
    page.goto("/check/")
    page.get_by_label("Paste a list of drives").fill(LIST)
    page.get_by_label("Load of each drive").fill("500k")
    page.get_by_role("button", name="Check drives").click()
    expect(page.locator("#load-answer")).to_contain_text("1 of 2 models was tested at your load within your limits")
    assert broken_rules(page) == []
    assert page.evaluate(SHOWN_WIDTH) <= 320


@pytest.mark.parametrize("query", ["", "?reads=3000000"])
def test_the_result_of_a_sizing_begins_on_the_first_screen_and_the_other_rows_are_folded(new_page, query):
    page = new_page(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page.goto(f"/sizing/{query}")
    assert page.locator("#result").bounding_box()["y"] < 900
    assert page.locator(".sizes tbody tr:not(.group):visible").count() == 8
    page.locator("summary", has_text="Show all").click()
    assert page.locator(".sizes tbody tr:not(.group):visible").count() > 8


def test_all_rows_of_a_sizing_keep_the_rules_of_axe(page):
    page.goto("/sizing/?reads=3000000")
    page.locator("summary", has_text="Show all").click()
    assert broken_rules(page) == []


def test_a_column_links_to_its_meaning(page):
    page.goto("/explain/#pct_over_1ms")
    assert page.locator("#pct_over_1ms:target").is_visible()
