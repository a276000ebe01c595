"""Two drives side by side in a real browser: found from their pages, read with the keyboard, at every width."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import DESKTOP, open_context

pytestmark = pytest.mark.browser


def test_two_drives_are_compared_without_script_or_mouse(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/compare/")
    for number, slug in ((1, "gcp-n2-standard-80"), (2, "aws-m5d-24xlarge")):
        page.get_by_label(f"Drive {number}", exact=True).focus()
        page.keyboard.type(slug)
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/?drive=gcp-n2-standard-80&drive=aws-m5d-24xlarge*")
    heading = page.get_by_role("heading", level=1).inner_text()
    assert "n2-standard-80" in heading
    assert "m5d.24xlarge" in heading
    assert page.locator("#bars svg").count() >= 4
    assert page.get_by_role("button", name="Explore").count() == 0


def test_runs_of_a_ladder_are_chosen_and_compared(page):
    page.goto("/drive/gcp-n2-standard-80/")
    boxes = page.locator("table.runs tbody input[name=run]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Compare 2").click()
    page.wait_for_url("**/compare/?run=*&run=*")
    # Google's rows differ in the number of devices, which is a condition.
    assert "number of devices differs" in page.locator(".verdict").inner_text()
    assert page.locator("#what-they-did td.grey").count() >= 4


def test_a_relaxed_limit_stays_in_the_address(page):
    page.goto("/drive/aws-m5d-24xlarge/")
    over = page.locator(".runs .over").count()
    page.get_by_label("Percent over 1").first.fill("100")
    assert page.locator(".runs .over").count() < over
    assert "limit_1ms=100" in page.url
    page.reload()
    assert page.locator(".runs .over").count() < over


OLD_AND_NEW = "/compare/?drive=sandisk-dc-sn861-6400gb&drive=micron-9300-max-6400gb"


def test_a_pair_that_does_not_compare_leads_to_one_that_does(page):
    page.goto(OLD_AND_NEW)
    assert "are not comparable: time measured differs" in page.locator(".verdict").inner_text()
    assert "1,728,000" in page.locator("#what-they-did").inner_text()
    page.locator("#offers a").first.click()
    page.wait_for_url("**/compare/?run=*")
    assert "times the speed of" in page.locator(".verdict").inner_text()
    assert page.locator(".grey").count() == 0


def test_the_limits_of_the_reader_move_the_lines_of_the_bars(page):
    page.goto("/compare/?drive=sandisk-dc-sn861-6400gb&drive=intel-p5510-7680gb")
    line = page.locator("#bars .limit").first
    before = line.get_attribute("x1")
    page.get_by_label("Percent over 1").fill("2")
    page.wait_for_function("before => document.querySelector('#bars .limit').getAttribute('x1') !== before", arg=before)
    assert "4.65, over" in page.locator("#bars svg").nth(1).get_attribute("aria-label")


def test_plotly_is_loaded_only_when_the_reader_explores_the_curves(page):
    plotly = []
    page.on("request", lambda request: plotly.append(request.url) if "plotly" in request.url else None)
    page.goto("/compare/?drive=gcp-n2-standard-80&drive=gcp-n2-standard-16")
    page.locator("#curves").scroll_into_view_if_needed()
    pictures = page.locator("[data-explore=curves] .picture svg polyline")
    assert pictures.count() >= 2
    assert plotly == []
    page.get_by_role("button", name="Explore").click()
    page.locator(".explored .plot svg.main-svg").first.wait_for()
    assert plotly
    assert not page.locator("[data-explore=curves] .picture").first.is_visible()
    page.emulate_media(media="print")
    assert page.locator("[data-explore=curves] .picture").first.is_visible()


LADDERS = "/compare/?drive=gcp-n2-standard-80&drive=gcp-n2-standard-16"


def test_a_typed_limit_moves_the_pictures_and_goes_along_to_other_drives(page):
    page.goto(LADDERS)
    limit = page.locator("#curve-pictures [data-limit]").first
    page.get_by_label("Percent over 1").first.fill("3")
    expect(limit).to_have_text("3")
    expect(page.locator("#curve-pictures svg", has_text="limit 3").first).to_be_visible()
    assert page.locator(".other-drives input[name=limit_1ms]").get_attribute("value") == "3"
    page.get_by_role("button", name="Explore").click()
    page.locator(".explored .plot svg.main-svg").first.wait_for()
    page.get_by_label("Percent over 1").first.fill("2")
    expect(page.locator(".other-drives input[name=limit_1ms]")).to_have_value("2")
    assert page.locator(".explored .plot", has_text=re.compile(r"limit\s*2 %")).first.is_visible()


def test_the_pictures_stay_if_plotly_does_not_load(browser, site):
    with open_context(browser, base_url=site.url, viewport=DESKTOP) as context:
        page = context.new_page()
        page.route("**/plotly-cartesian*", lambda route: route.abort())
        page.goto(LADDERS)
        page.get_by_role("button", name="Explore").click()
        page.get_by_text("The picture is complete without it.").wait_for()
        assert page.locator("#curve-pictures .picture").first.is_visible()
