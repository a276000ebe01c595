"""The example run in a real browser: all charts without script and on paper, and Plotly only on request."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import DESKTOP, PHONE, faults_of, open_context, print_faults_of

pytestmark = pytest.mark.browser

ADDRESS = "/runs/demo-loop/"
PICTURES = ".drawing"
LONGEST_PX = 4600  # on a phone; it was 8,300 before the charts after the first one were folded


@pytest.fixture(scope="module", autouse=True)
def example(site):
    """The example runs on the site of all browser tests, which the other modules do not have."""
    done = site.run_command("demo")
    assert done.returncode == 0, done.stderr
    yield
    site.run_command("demo", "--remove")


@pytest.fixture
def library_requests(page):
    """The requests for the chart library on the page."""
    requests = []
    page.on("request", lambda request: requests.append(request.url) if "plotly" in request.url else None)
    return requests


def test_home_leads_to_the_example_and_the_example_says_what_it_is(page):
    page.goto("/")
    page.get_by_role("link", name="complete example run").click()
    page.wait_for_url(f"**{ADDRESS}")
    assert page.get_by_text("Demonstration: a loop device, not a drive.").first.is_visible()
    sections = ("Read times over the run", "Achieved rate", "Load ladder", "Requirements of a certificate")
    for heading in ("Slow reads", *sections):
        assert page.get_by_role("heading", name=heading).first.is_visible(), heading


def test_a_phone_shows_the_link_to_the_example_and_the_first_row_above_the_fold(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/")
    assert page.get_by_role("link", name="complete example run").is_visible()
    box = page.locator("main table tbody tr:not(.group)").first.bounding_box()
    assert box["y"] + box["height"] <= 844


def unfold(page):
    closed = page.locator(".fold:not([open]) > summary")
    while closed.count():
        closed.first.click()


def test_every_chart_is_visible_without_script(new_page):
    page = new_page(java_script_enabled=False, viewport=DESKTOP)
    page.goto(ADDRESS)
    unfold(page)
    pictures = page.locator(PICTURES)
    assert pictures.count() >= 8
    assert all(each.is_visible() for each in pictures.all())
    assert page.get_by_text("not drawn yet").count() == 0
    assert page.get_by_role("button", name="Explore").count() == 0


def test_every_chart_is_printed(page):
    page.goto(ADDRESS)
    count = page.locator(PICTURES).count()
    faults = print_faults_of(page, 703, "auto")
    assert faults == {}
    assert sum(each.is_visible() for each in page.locator(PICTURES).all()) == count
    assert not page.get_by_role("button", name="Explore").first.is_visible()


def test_scrolling_loads_no_chart_library_and_explore_does(page, library_requests):
    page.goto(ADDRESS)
    page.get_by_role("heading", name="Evidence").scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    assert library_requests == []
    page.get_by_role("button", name="Explore").first.click()
    page.locator(".js-plotly-plot svg.main-svg").first.wait_for()
    assert len(library_requests) == 1
    assert not page.locator(".slice-bars").first.is_visible()


@pytest.mark.parametrize("title", ["Slow reads, slice by slice", "Achieved rate", "Host telemetry over the run"])
def test_a_button_and_escape_go_back_to_the_pictures(page, title):
    page.goto(ADDRESS)
    unfold(page)
    explore, back = (page.get_by_role("button", name=f"{words}: {title}") for words in ("Explore", "Back to the chart"))
    before = [each.is_visible() for each in page.locator(PICTURES).all()]
    for go_back in (back.click, lambda: page.keyboard.press("Escape"), page.go_back):
        explore.click()
        page.locator(".explored svg.main-svg").first.wait_for()
        assert [each.is_visible() for each in page.locator(PICTURES).all()] != before
        page.emulate_media(media="print")
        assert all(each.is_visible() for each in page.locator(PICTURES).all())
        assert not page.locator(".explored").first.is_visible()
        page.emulate_media(media="screen")
        go_back()
        expect(explore).to_be_focused()
        assert page.locator(".explored").count() == 0
        assert [each.is_visible() for each in page.locator(PICTURES).all()] == before


def test_escape_anywhere_closes_the_chart_and_no_entry_of_the_history_is_left(page):
    page.goto("/about/")
    page.goto(ADDRESS)
    page.get_by_role("button", name="Explore: Achieved rate").click()
    page.locator(".explored svg.main-svg").first.wait_for()
    link = page.locator("footer a").first
    link.focus()
    page.keyboard.press("Escape")
    expect(page.locator(".explored")).to_have_count(0)
    expect(link).to_be_focused()
    page.wait_for_function("history.state === null")
    page.go_back()
    page.wait_for_url("**/about/")


def test_back_closes_all_charts_at_once_and_forward_and_a_reload_explore_the_first_one_again(page):
    page.goto(ADDRESS)
    unfold(page)
    explored = page.locator("[data-explore][hidden]")
    for number, title in enumerate(("Achieved rate", "Slow reads, slice by slice"), start=1):
        page.get_by_role("button", name=f"Explore: {title}").click()
        expect(explored).to_have_count(number)
    page.keyboard.press("Escape")
    expect(explored).to_have_count(1)
    page.get_by_role("button", name="Explore: Slow reads, slice by slice").click()
    expect(explored).to_have_count(2)
    page.go_back()
    expect(explored).to_have_count(0)
    assert page.url.endswith(ADDRESS)
    page.go_forward()
    expect(explored).to_have_count(1)
    page.reload()
    expect(explored).to_have_count(1)
    expect(page.get_by_role("button", name="Back to the chart: Achieved rate")).to_be_visible()
    page.go_back()
    expect(explored).to_have_count(0)


def test_back_from_a_chart_keeps_the_limits_of_the_reader(page):
    page.goto(ADDRESS)
    page.get_by_role("button", name="Explore: Slow reads, slice by slice").click()
    page.locator(".explored svg.main-svg").first.wait_for()
    page.get_by_label("Percent over 1").first.fill("3")
    page.wait_for_url("**limit_1ms=3")
    page.go_back()
    expect(page.locator(".explored")).to_have_count(0)
    page.wait_for_url("**limit_1ms=3")
    assert page.evaluate("history.state") is None


def test_a_focused_chart_has_a_ring_and_its_cursor_stays_between_the_axes(page):
    page.goto(ADDRESS)
    page.get_by_role("button", name="Explore: Read times over the run").press("Enter")
    box = page.locator("figure.explored")
    box.locator("svg.main-svg").first.wait_for()
    page.keyboard.press("ArrowRight")
    cursor, plot = box.locator(".reading-cursor").bounding_box(), box.locator(".nsewdrag").bounding_box()
    assert plot["y"] - 1 <= cursor["y"]
    assert cursor["y"] + cursor["height"] <= plot["y"] + plot["height"] + 1
    ring = box.locator(".plot").evaluate("plot => getComputedStyle(plot, '::after').borderTopStyle")
    assert ring == "solid"  # above the drawing, which would cover an outline


def test_an_explored_chart_is_read_with_the_keyboard(page):
    page.goto(ADDRESS)
    box = page.locator("figure.explored")
    page.get_by_role("button", name="Explore: Achieved rate").press("Enter")
    box.locator("svg.main-svg").first.wait_for()
    assert page.evaluate("() => document.activeElement.classList.contains('plot')")
    cursor, reading = box.locator(".reading-cursor"), box.locator(".reading")
    places = []
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        expect(reading).to_contain_text("reads a second")
        assert reading.is_visible()
        places.append(cursor.bounding_box())
    assert places[0]["x"] < places[1]["x"]
    assert places[0]["width"] == 2
    page.keyboard.press("Tab")
    expect(cursor).to_have_count(0)


def test_explored_bars_have_the_style_of_the_picture(page):
    page.goto(ADDRESS)
    unfold(page)
    band = page.locator(".telemetry .band").first
    drawn = [band.evaluate(f"each => getComputedStyle(each).{name}") for name in ("fill", "stroke")]
    page.get_by_role("button", name="Explore: Host telemetry over the run").click()
    bar = page.locator(".explored .bars path").first
    bar.wait_for()
    assert [bar.evaluate(f"each => getComputedStyle(each).{name}") for name in ("fill", "stroke")] == drawn
    assert page.locator(".explored .ytick text", has_text="1,000").count()


def test_the_links_of_the_page_are_folded_on_a_phone_only(browser, site):
    for viewport, is_visible in ((DESKTOP, True), (PHONE, False)):
        with open_context(browser, base_url=site.url, viewport=viewport) as context:
            page = context.new_page()
            page.goto(ADDRESS)
            link = page.locator(".jump").get_by_role("link", name="Load ladder")
            assert link.is_visible() == is_visible
            if not is_visible:
                page.locator(".jump summary").click()
                assert link.is_visible()


def test_the_tiles_of_worst_slice_and_whole_run_are_one_below_the_other(page):
    page.goto(ADDRESS)
    tiles = [each.bounding_box() for each in page.locator(".figs").first.locator("div").all()]
    assert [round(each["x"]) for each in tiles[:3]] == [round(each["x"]) for each in tiles[3:]]
    assert len({round(each["y"]) for each in tiles}) == 2


def test_a_failed_download_is_tried_again_and_a_missing_rate_is_not_reported(browser, site):
    answers = iter([503, 200])

    def answer(route):
        if next(answers) == 503:
            route.fulfill(status=503)
            return
        data = route.fetch().json()
        data["least_per_s"][0] = data["greatest_per_s"][0] = None
        route.fulfill(json=data)

    with open_context(browser, base_url=site.url, viewport=DESKTOP) as context:
        page = context.new_page()
        page.route("**/over-time.json*", answer)
        page.goto(ADDRESS)
        explore = page.get_by_role("button", name="Explore: Achieved rate")
        explore.click()
        page.get_by_text("could not be loaded (status 503)").wait_for()
        explore.click()
        plot = page.locator("figure.explored .plot")
        plot.locator("svg.main-svg").first.wait_for()
        plot.press("ArrowRight")
        assert plot.evaluate("plot => plot.nextElementSibling.textContent").endswith(": not reported")


def test_telemetry_is_explored_with_its_tables(page):
    page.goto(ADDRESS)
    unfold(page)
    before = page.locator("[data-explore=telemetry] figure").count()
    page.get_by_role("button", name="Explore: Host telemetry over the run").click()
    page.locator(".explored svg.main-svg").first.wait_for()
    assert page.locator(".explored details").count() == before


def test_a_limit_of_the_reader_moves_the_line_and_the_strong_bars(page):
    page.goto(ADDRESS)
    panel = page.locator(".slice-bars").first
    bars = panel.locator(".marks rect:not(.may)").count()
    page.get_by_label("Percent over 1").first.fill("0")
    assert panel.locator("rect.over").count() == bars
    assert panel.get_attribute("aria-label").endswith("limit 0 %")
    page.get_by_label("Percent over 1").first.fill("100")
    assert panel.locator("rect.over").count() == 0
    assert panel.locator(".limit-text").text_content() == "limit 100"
    assert panel.evaluate(FREE)


FREE = """picture => {
  const [text, plot] = ['.limit-text', '.marks'].map(name => picture.querySelector(name).getBoundingClientRect());
  return text.right <= plot.left && text.left >= 0;
}"""


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_the_names_of_limits_cover_no_bar(new_page, viewport):
    page = new_page(viewport=viewport)
    page.goto(ADDRESS)
    panels = page.locator(".slice-bars").all()
    assert len(panels) == 2  # no read of the run took 64 ms
    assert [panel.evaluate(FREE) for panel in panels] == [True] * 2


def test_the_page_fits_every_width_and_breaks_no_rule(page):
    page.goto(ADDRESS)
    assert faults_of(page, fits=(320, 390, 1280), accessible=(320, 1280)) == {}


def test_the_page_is_short_on_a_phone_and_its_links_open_what_is_folded(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(ADDRESS)
    assert page.evaluate("document.documentElement.scrollHeight") <= LONGEST_PX
    links = page.get_by_role("navigation", name="On this page")
    links.get_by_text("On this page").click()
    links.get_by_role("link", name="Measured times").click()
    expect(page.get_by_role("region", name="Histograms of the log")).to_be_visible()


def test_how_a_slice_was_counted_fits_a_phone_and_prints(phone_page):
    page = phone_page
    page.goto(ADDRESS)
    page.locator("summary", has_text="All 10 slices").click()
    page.locator(".slices tbody a").first.click()
    page.wait_for_url("**/slices/**")
    faults = faults_of(page, fits=(320, 390), accessible=(320,))
    assert faults | print_faults_of(page, 703, "auto") == {}


def test_the_ladder_fits_on_a_phone(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(ADDRESS)
    ladder = page.locator(".ladder")
    assert ladder.evaluate("table => table.parentElement.scrollWidth - table.parentElement.clientWidth") <= 0
