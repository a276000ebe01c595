"""Typed limits in a real browser: kept in links, removed again, and kept if an answer is late or missing."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import PATIENCE_MS, open_context

pytestmark = pytest.mark.browser

DRIVES = "/compare/?drive=sandisk-dc-sn861-6400gb&drive=intel-p5510-7680gb"


@pytest.fixture
def refused_page(browser, site):
    """Open pages that the register answers with 400, which a browser reports as an error of the page."""
    contexts = []

    def open_page(**properties):
        contexts.append(open_context(browser, base_url=site.url, **properties))
        return contexts[-1].new_page()

    yield open_page
    for context in contexts:
        context.close()


def published_run(page):
    """The address of a result that is known from a publication."""
    page.goto("/drives/nvme-flash/")
    return page.locator("table.runs tbody .g-ev a").first.get_attribute("href")


def type_limit(page, text):
    page.wait_for_load_state("load")  # from then on the page's script answers
    field = page.get_by_label("Percent over 1 ms").first
    field.fill(text)
    page.wait_for_url(re.compile(rf"limit_1ms={text}(&|$)"))


@pytest.mark.parametrize("kind", ["compare", "published"])
def test_the_link_back_to_the_profile_is_shown_when_a_limit_is_changed(page, kind):
    page.goto(DRIVES if kind == "compare" else published_run(page))
    back = page.get_by_role("link", name="Use the profile's limits")
    assert back.count() == 0
    type_limit(page, "0.1")
    expect(back).to_be_visible()
    back.click()
    expect(page.get_by_label("Percent over 1 ms").first).to_have_value("5")
    assert "limit_1ms" not in page.url


@pytest.mark.parametrize("path", ["/drives/nvme-flash/", "/drive/gcp-n2-standard-80/", DRIVES, "/sizing/"])
def test_limits_typed_by_a_reader_are_kept_on_the_way_home(page, path):
    page.goto(path)
    type_limit(page, "7")
    home = page.get_by_role("link", name="Drivecert", exact=True)
    expect(home).to_have_attribute("href", "/?limit_1ms=7")
    home.click()
    expect(page.get_by_role("form", name="Drives for a load").get_by_label("Percent over 1 ms")).to_have_value("7")
    assert page.locator("#cloud-limits input[name=limit_1ms]").input_value() == "7"
    page.locator(".categories").get_by_role("link", name="Cloud instances").click()
    expect(page.get_by_label("Percent over 1 ms")).to_have_value("7")
    type_limit(page, "13")
    page.get_by_label("Percent over 1 ms").fill("5")
    expect(page.get_by_role("link", name="Drivecert", exact=True)).to_have_attribute("href", "/")


def test_only_the_last_of_several_waiting_answers_is_drawn(page):
    routes = []

    def hold(route):
        routes.append(route)

    page.route("**/drives/rows.json*", hold)
    page.goto("/drives/nvme-flash/")
    page.evaluate("""() => {
      window.drawn = 0;
      new MutationObserver(changes => { window.drawn += changes.some(({removedNodes}) =>
        [...removedNodes].some(({nodeName}) => nodeName === 'TBODY')); })
        .observe(document.querySelector('table.runs'), {childList: true});
    }""")
    speed = page.get_by_label("Speed, at least")
    for text in ("1", "10", "1000000"):
        speed.fill(text)
    for _ in range(PATIENCE_MS // 50):  # the request is reported to this process soon after it is sent
        page.wait_for_timeout(50)
        if routes:
            break
    assert (len(routes), page.evaluate("window.drawn")) == (1, 0)
    routes[0].continue_()
    page.wait_for_url("**/?min_tps=1000000")
    expect(page.locator("[data-shown]")).to_contain_text("below 1,000,000")
    assert page.evaluate("window.drawn") == 1


@pytest.mark.parametrize("script", [True, False])
def test_prices_of_an_old_address_are_kept_after_an_error(refused_page, script):
    page = refused_page(java_script_enabled=script)
    price = "price-intel-p5510-7680gb=900"
    page.goto(f"/sizing/?limit_8ms=200&{price}&drive=intel-p5510-7680gb", wait_until="load")
    assert page.locator("[name=price-intel-p5510-7680gb]").input_value() == "900"
    page.locator("[name=limit_8ms]").fill("2")
    if not script:
        page.get_by_role("button", name="Calculate").click()
    page.wait_for_url(re.compile(r"limit_8ms=2(&|$)"))
    expect(page.locator("#said")).not_to_contain_text("not understood")
    assert page.url.count(price) == 1
    assert page.locator(".wrong").count() == 0
    assert page.locator("#sizing [aria-invalid=true]").count() == 0


def test_an_invalid_field_is_marked_until_it_is_corrected(refused_page):
    page = refused_page()
    page.goto("/sizing/")
    page.locator("#sizing summary", has_text="Cluster").click()
    copies = page.get_by_label("Copies")
    copies.fill("0")
    expect(copies).to_have_attribute("aria-invalid", "true")
    copies.fill("3")
    expect(copies).not_to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize(
    "path", ["/drives/", "/drives/networked/", "/drives/cloud/", "/drives/historical/", "/drive/gcp-n2-standard-80/"]
)
def test_two_ticked_runs_are_compared_from_every_page_with_boxes(page, path):
    page.goto(path)
    boxes = page.locator("table.runs tbody input[name=run]")
    runs = [boxes.nth(place).get_attribute("value") for place in range(2)]
    for place in range(2):
        boxes.nth(place).check()
    page.get_by_role("button", name="Compare 2").click()
    page.wait_for_url("**/compare/?*")
    assert re.findall(r"run=([\w-]+)", page.url) == runs


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("path", ["/drives/", "/drive/gcp-n2-standard-80/"])
def test_limits_are_kept_in_a_comparison_of_runs(refused_page, path, script):
    page = refused_page(java_script_enabled=script)
    page.goto(path if script else f"{path}?limit_1ms=7")
    if script:
        type_limit(page, "7")
    for place in range(2):
        page.locator("table.runs tbody input[name=run]").nth(place).check()
    page.get_by_role("button", name=re.compile("^Compare (2|selected)$")).first.click()
    page.wait_for_url("**/compare/?*")
    assert page.url.count("limit_1ms=7") == 1


def test_a_typed_load_is_kept_on_the_way_to_a_drive(page):
    page.goto("/drives/nvme-flash/")
    page.get_by_label("Speed, at least").fill("400k")
    page.wait_for_url("**min_tps=400000")
    link = page.locator("table.runs tbody th a").first
    expect(link).to_have_attribute("href", re.compile(r"\?min_device_tps=400000$"))
    mark = page.locator("[data-plot=speed-chart] a").first
    expect(mark).to_have_attribute("href", re.compile(r"\?min_device_tps=400000$"))
    link.click()
    expect(page.locator(".load")).to_contain_text(
        "This drive was tested at your load of 400,000 tps within your limits."
    )
    page.get_by_label("Your load").fill("3M")
    expect(page.locator(".load")).to_contain_text("This drive was not tested at your load of 3,000,000 tps")
    assert page.url.endswith("?min_device_tps=3000000")
