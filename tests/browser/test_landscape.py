"""The landscape charts in a real browser: the script draws what the server draws, and each chart works by keyboard."""

import json
import re
from contextlib import closing
from fractions import Fraction

import pytest
from django.conf import settings
from playwright.sync_api import expect

from results.rules.act.endurance_gap import times
from tests.browser.page_checks import DESKTOP, PHONE, open_context
from tests.webapp.register.landscape.cases import read_cases
from webapp.templatetags import units

pytestmark = pytest.mark.browser

ADDRESS = "http://drawn.test"  # has no address: every request is answered here
DRAWN = """async ({question, drives, drawn, headline_key: headline, counts}) => {
  const {axesOf, speedChart} = await import('/js/landscape/speed-chart.js');
  const {enduranceChart} = await import('/js/landscape/endurance-chart.js');
  const axes = axesOf(question);
  return {speed: speedChart(axes, drives, drawn.frontiers), endurance: enduranceChart(axes, drives, headline, counts)};
}"""
FIRST_ROW = "main table tbody tr:not(.group)"


@pytest.fixture(scope="module")
def script(browser):
    """An empty page with only the scripts."""
    page = browser.new_page()
    page.route(f"{ADDRESS}/", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.route(f"{ADDRESS}/js/**", send_script)
    page.goto(f"{ADDRESS}/")
    yield page
    page.close()


def send_script(route):
    path = settings.BASE_DIR / "static" / route.request.url.removeprefix(f"{ADDRESS}/")
    route.fulfill(path=path, content_type="text/javascript")


def rounded(value):
    """Return a picture with numbers that do not depend on the order of additions."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(float(value), 6) if isinstance(value, int | float) else value


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case["name"])
def test_the_script_draws_pictures_as_in_the_golden_file(script, case):
    found = rounded(script.evaluate(DRAWN, case))
    wanted = rounded(json.loads(json.dumps(case["drawn"])))
    for chart in ("speed", "endurance"):
        assert found[chart] == wanted[chart]


RATIOS = [
    *((1_728_000, 216_000), (1_506_000, 86_500), (500_000 / 3, 86_500), (123_456, 1_000), (1_234, 1), (9_950, 10)),
    *((1_250, 1_000), (1_350, 1_000), (1_450, 1_000), (745, 100), (1_020, 1_000), (10_000_001, 10_000_000)),
    *((216_100, 216_000), (9_996, 10_000), (463, 1_000), (1_000, 1_000)),
]


def test_the_script_writes_ratios_as_the_server_does(script):
    code = """async ratios => {
      const {times} = await import('/js/landscape/endurance-chart.js');
      return ratios.map(([figure, other]) => times(figure, other));
    }"""
    assert script.evaluate(code, RATIOS) == [
        units.decimal(times(Fraction(figure) / Fraction(other))) for figure, other in RATIOS
    ]


def test_the_script_has_the_bounds_of_filters_as_in_the_golden_file(script):
    code = """async cases => {
      const {boundOf} = await import('/js/drives/filters.js');
      return cases.map(each => boundOf(each, each.text));
    }"""
    cases = [
        json.loads(line) for line in (settings.BASE_DIR / "tests/data/filter_bounds.jsonl").read_text().splitlines()
    ]
    assert script.evaluate(code, cases) == [case["bound"] for case in cases]


@pytest.mark.parametrize("viewport", [DESKTOP, {"width": 390, "height": 844}])
@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/"])
def test_the_links_to_other_thresholds_are_24_px_high(new_page, path, viewport):
    page = new_page(viewport=viewport)
    page.goto(path)
    heights = page.locator("[data-switches] a").evaluate_all("all => all.map(a => a.getBoundingClientRect().height)")
    assert len(heights) == 2
    assert min(heights) >= 24


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}])
@pytest.mark.parametrize(
    "path",
    ["/", *(f"/drives/{name}" for name in ("", "nvme-flash/", "nvme-3dxpoint/", "sata-sas-flash/", "m2-flash/"))],
)
def test_the_first_result_is_above_the_fold(new_page, path, viewport):
    page = new_page(viewport=viewport)
    page.goto(path)
    box = page.locator(FIRST_ROW).first.bounding_box()
    assert box["y"] + box["height"] <= viewport["height"]


def test_a_phone_shows_what_the_fastest_drive_takes_and_what_drivecert_is(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/")
    assert page.get_by_text("At 500,000 tps this drive takes 6.94 drive writes a day; it is rated for 3.").is_visible()
    assert page.get_by_text("Drivecert lists published tests of storage drives").is_visible()


def test_a_phone_shows_the_drive_of_another_kind_whose_rating_sustains_the_load(new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/")
    sentence = page.locator("#answer", has_text="Among all kinds of drives, ")
    assert sentence.get_by_role("link", name="Among all kinds of drives").is_visible()


def test_open_parts_without_script_have_no_mark_of_a_closed_part(new_page):
    page = new_page(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page.goto("/")
    assert page.get_by_text("A reviewer checks").is_visible()
    style = "all => all.map(each => getComputedStyle(each).listStyleType)"
    assert page.locator(".open-wide > summary").evaluate_all(style) == ["none", "none"]


def test_a_wrong_number_stays_in_its_field_when_the_form_of_home_is_sent(browser, site):
    with closing(open_context(browser, base_url=site.url, viewport=DESKTOP)) as context:
        page = context.new_page()  # of its own: the browser logs the refusal of the wrong number as an error
        page.goto("/")
        speed = page.get_by_label("Speed of one drive, at least")
        speed.fill("abc")
        page.locator("#answer", has_text="expected a number").wait_for()
        page.get_by_role("button", name="Show drives").click()
        assert page.url.endswith("/")
        assert speed.evaluate("field => field === document.activeElement && field.matches('[aria-invalid=true]')")
        speed.fill("1M")
        page.locator("#answer", has_text="1,000,000 tps").wait_for()
        page.get_by_role("button", name="Show drives").click()
        page.wait_for_url("**/?min_device_tps=1000000")


def test_home_takes_less_than_two_screens_and_six_requests(new_page):
    page, requests = new_page(viewport={"width": 1280, "height": 900}), []
    page.on("request", lambda request: requests.append(request.url))
    page.goto("/")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 900 - 10
    assert len(requests) <= 6, requests


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/"])
def test_the_first_row_is_reached_in_three_tab_stops(page, path):
    page.goto(path)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('tr') === document.querySelector('tbody tr:not(.group)')")


@pytest.mark.parametrize("path", ["/", "/drives/", "/drives/nvme-flash/"])
def test_the_chart_is_reached_in_four_tab_stops(page, path):
    page.goto(path)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the chart"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('[data-plot=speed-chart] a')")


@pytest.mark.parametrize("path", ["/", "/drives/", "/drives/nvme-flash/", "/drives/cloud/"])
def test_a_tap_opens_the_key_on_a_phone(new_page, path):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(path)
    key = page.locator(".charted details.key")
    summary = key.locator("summary")
    summary.scroll_into_view_if_needed()
    box = summary.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert key.evaluate("key => key.open")
    assert key.get_by_text("at the load, within the limits").or_(key.get_by_text("provider")).first.is_visible()


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/", "/drives/cloud/"])
def test_a_chart_is_at_most_240_px_high_on_a_phone(new_page, path):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(path)
    assert page.locator(".chart-speed").bounding_box()["height"] <= 240


def focused_name(page):
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


def test_arrow_keys_move_between_marks_by_speed(page):
    page.goto("/drives/nvme-flash/")
    page.locator("[data-plot=speed-chart] a[tabindex='0']").focus()
    assert focused_name(page).startswith("SanDisk DC SN861 6.4 TB: 1,728,000 tps")
    page.keyboard.press("ArrowLeft")
    assert focused_name(page).startswith("SanDisk DC SN861 7.68 TB: 1,506,000 tps")
    assert page.locator("[data-plot=speed-chart] a[tabindex='0']").count() == 1
    page.keyboard.press("Home")
    assert focused_name(page).startswith("Samsung PM983 1.92 TB: 108,000 tps")
    page.keyboard.press("ArrowLeft")
    assert focused_name(page).startswith("Samsung PM983")
    page.keyboard.press("Control+End")
    assert focused_name(page).startswith("Samsung PM983")
    page.keyboard.press("Enter")
    page.wait_for_url("**/drive/samsung-pm983-1920gb/")


MARKS = "[data-plot=speed-chart] a.m"


def test_a_filter_removes_marks_and_a_limit_sets_their_classes_only(page):
    page.goto("/drives/nvme-flash/")
    page.get_by_label("Percent over 1 ms").fill("3")
    page.get_by_text("With your limits").first.wait_for()
    page.evaluate("document.querySelector('[data-plot=speed-chart] a.m').dataset.kept = 'yes'")
    page.get_by_label("Percent over 1 ms").fill("2")
    page.get_by_text("limit 2 %").first.wait_for()
    assert page.locator("[data-kept]").count() == 1
    assert page.locator(f"{MARKS}.over").count() == sum(
        float(text.split(";")[1].split("%")[0]) > 2
        for text in page.locator(MARKS).evaluate_all("links => links.map(link => link.getAttribute('aria-label'))")
    )
    page.get_by_label("Speed, at least").fill("500000")
    page.locator("text.zonetext.wide", has_text="500,000 tps: ").wait_for()
    assert page.locator(MARKS).count() == 11


def test_the_threshold_is_chosen_without_loading_the_page(page):
    page.goto("/drives/nvme-flash/")
    page.evaluate("window.isSame = true")
    page.locator("[data-switches] a", has_text="64").click()
    page.locator("svg", has_text="limit 0.1 %").first.wait_for()
    assert page.url.endswith("?threshold=64ms")
    assert page.evaluate("window.isSame")
    page.go_back()
    page.locator("svg", has_text="limit 5 %").first.wait_for()


def test_the_focus_stays_at_the_choice_of_a_threshold(page):
    page.goto("/drives/nvme-flash/")
    page.locator("[data-switches] a", has_text="64").press("Enter")
    page.locator("svg", has_text="limit 0.1 %").first.wait_for()
    page.wait_for_function("document.activeElement.matches('[data-switches] b')")
    assert "64" in page.evaluate("document.activeElement.textContent")


def test_the_focus_stays_at_the_choice_of_a_threshold_of_home_and_the_form_keeps_the_choice(page):
    page.goto("/")
    page.locator("[data-switches] a", has_text="64").press("Enter")
    page.locator("[data-switches] b:focus", has_text="64").wait_for()
    assert page.url.endswith("/?threshold=64ms")
    page.get_by_label("Percent over 1 ms").first.fill("3")
    page.wait_for_url("**limit_1ms=3**")
    assert "threshold=64ms" in page.url
    page.locator("[data-switches] a").first.press("Enter")
    page.locator("[data-switches] b:focus", has_text="1").wait_for()
    assert page.url.endswith("/?limit_1ms=3")


def test_marks_lead_to_drives_with_the_limits_of_the_reader(page):
    page.goto("/drives/nvme-flash/?limit_1ms=3")
    assert page.locator(f"{MARKS}[href$='/?limit_1ms=3']").count() == 30
    page.get_by_label("Percent over 1 ms").fill("2")
    page.get_by_text("limit 2 %").first.wait_for()
    assert page.locator(f"{MARKS}[href$='/?limit_1ms=2']").count() == 30
    page.goto("/?limit_1ms=3")
    assert page.locator(f"{MARKS}[href$='/?limit_1ms=3']").count() == 30


def test_every_number_of_home_follows_the_limits_of_the_form(page):
    page.goto("/")
    page.evaluate("document.querySelector('#answer').dataset.kept = 'yes'")
    before = page.locator("#category-counts").inner_text()
    page.get_by_label("Percent over 1 ms").first.fill("0.5")
    page.locator("svg", has_text="limit 0.5 %").first.wait_for()
    assert page.locator("#category-counts").inner_text() != before
    assert page.locator("#cloud-limits input[name=limit_1ms]").input_value() == "0.5"
    assert "0.5" in page.locator("#question-summary").text_content()
    assert page.locator("#answer[aria-live=polite][data-kept]").count() == 1


def test_the_answer_of_home_follows_the_form(page):
    page.goto("/")
    page.get_by_label("Speed of one drive, at least").fill("1,000,000")
    page.locator("text.zonetext.wide", has_text="1,000,000 tps: 3 results").wait_for()
    assert page.locator("#answer").inner_text().startswith("3 of 30 NVMe flash drives were tested at")
    assert "At 1,000,000 tps this drive takes 13.9 drive writes a day" in page.locator("#answer").inner_text()
    assert page.locator("table.answers td:has(b) .sub").first.inner_text() == "of 3, over"
    assert page.url.endswith("/?min_device_tps=1000000")


def test_charts_are_there_without_javascript(new_page):
    page = new_page(java_script_enabled=False, viewport=DESKTOP)
    for path in ("/", "/drives/nvme-flash/"):
        page.goto(path)
        assert page.locator("svg.landscape").count() == 2
        assert page.locator(MARKS).count() == 30
        assert page.get_by_role("button", name="Explore").count() == 0


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/", "/drives/cloud/"])
def test_pages_with_charts_fit_the_smallest_phone(new_page, path):
    page = new_page(viewport=PHONE)
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/"])
def test_the_chart_of_speed_is_explored_only_on_request(page, path):
    plotly = []
    picture, chart = page.locator(".chart-speed svg.landscape"), page.locator(".explored-speed svg.main-svg")
    page.on("request", lambda request: plotly.append(request.url) if "plotly" in request.url else None)
    page.goto(path)
    page.locator("footer").scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    assert plotly == []
    page.get_by_role("button", name="Explore").click()
    chart.first.wait_for()
    assert len(plotly) == 1
    assert not picture.is_visible()
    assert page.evaluate("document.querySelector('.explored-speed > div').data.at(-1).x.length") == 30
    page.emulate_media(media="print")
    assert picture.is_visible()
    assert not chart.first.is_visible()
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Back to the chart").click()
    assert picture.is_visible()
    page.get_by_role("button", name="Explore").click()
    chart.first.wait_for()
    page.get_by_label("Percent over 1 ms").first.fill("2")
    page.locator("svg.landscape", has_text="limit 2 %").first.wait_for()
    assert chart.count() == 0
    page.get_by_role("button", name="Explore").click()
    page.locator(".explored-speed", has_text="limit 2 %").wait_for()
    page.locator(".explored-speed > div").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/drive/sandisk-dc-sn861-6400gb/\?limit_1ms=2$"))


PICTURE = """() => {
  const svg = document.querySelector('[data-plot=speed-chart] svg');
  const all = selector => [...svg.querySelectorAll(selector)];
  const places = (part, names) => names.map(name => parseFloat(part.getAttribute(name)));
  return {
    marks: all('a.m').map(link => {
      const use = link.lastElementChild;
      return [...places(use, ['x', 'y']), use.getAttribute('href').slice(1), link.getAttribute('class')];
    }),
    lines: all('line:not(.grid, .leader)').map(line => places(line, ['x1', 'y1', 'x2', 'y2'])),
    zone: places(svg.querySelector('.zone'), ['x', 'y', 'width', 'height']),
    rule_names: all('text:not(.tick, .phone, .name)').map(text => text.textContent),
    names_count: all('text.name.wide').length,
    ticks: all('text.tick:not(.phone)').map(text => text.textContent),
  };
}"""
EXPLORED = "document.querySelector('.explored-speed > div')"
CHART = """() => {
  const {data, layout} = EXPLORED, {x, y, marker} = data.at(-1), [{x0, x1, y0, y1}] = layout.shapes;
  const words = text => text.replace(/<[^>]*>/g, '');
  const lines = data.filter(({mode, name}) => mode === 'lines' && !name.startsWith('leader'));
  const end = ({x, y}, place) => [x[place], 100 - y[place]];
  const ends = lines.flatMap(line => line.x.map((_, place) => [...end(line, place), ...end(line, place + 1)]));
  const {symbol, size, color, line} = marker, looks = [symbol, size, color, line.color, line.dash];
  return {
    marks: x.map((left, place) => [left, 100 - y[place], ...looks.map(look => look[place])]),
    lines: ends.filter((_, place) => place % 3 === 0),
    zone: [x0, 100 - y0, x1 - x0, y0 - y1],
    texts: layout.annotations.map(({text}) => words(text)),
    ticks: [...layout.yaxis.ticktext, ...layout.xaxis.ticktext].map(words).filter(Boolean),
    sides: layout.yaxis.ticktext.map((text, place) => [words(text), layout.yaxis.tickvals[place]]),
    kinds: data.map(({type}) => type),
  };
}""".replace("EXPLORED", EXPLORED)
SYMBOLS = {"c": "circle", "s": "square", "d": "diamond", "x": "x"}


def explore(page):
    page.get_by_role("button", name="Explore").click()
    page.locator(".explored-speed svg.main-svg").first.wait_for()
    return page.evaluate(CHART)


def as_places(parts):
    return sorted([round(place, 2) for place in part] for part in parts)


@pytest.mark.parametrize("path", ["/?limit_1ms=4", "/drives/nvme-flash/?min_tps=300000", "/drives/cloud/"])
def test_the_chart_to_explore_shows_what_the_picture_shows(page, path):
    page.goto(path)
    picture, chart = page.evaluate(PICTURE), explore(page)
    looks = {}
    for (x, y, symbol, classes), shown in zip(picture["marks"], chart["marks"], strict=True):
        _, fill, state, *_ = classes.split()
        assert [round(shown[0], 2), round(shown[1], 2), shown[2]] == [x, y, SYMBOLS[symbol[0]]]
        looks.setdefault((symbol, state, fill), set()).add(tuple(shown[2:]))
    assert all(len(found) == 1 for found in looks.values())
    assert len(set().union(*looks.values())) == len(looks)
    assert as_places(chart["lines"]) == as_places(picture["lines"])
    assert as_places([chart["zone"]]) == as_places([picture["zone"]])
    short_names = {"ACT up to 5.3", "ACT 6.x"}  # in the chart, the long ones may have room
    assert set(picture["rule_names"]) - short_names <= set(chart["texts"])
    left_out = 2  # of the names, which in a wide font would be near to another mark
    assert len(chart["texts"]) >= len(picture["rule_names"]) + picture["names_count"] - left_out
    assert chart["ticks"] == picture["ticks"]


DISTANCES = """() => {
  const plot = EXPLORED, {xaxis, yaxis, annotations} = plot._fullLayout, {x, y} = plot.data.at(-1);
  const drawn = [...plot.querySelectorAll('.scatterlayer .trace:last-child .point')];
  const points = drawn.map(point => point.getBoundingClientRect());
  const across = (a, b) => Math.max(a.left - b.right, 0, b.left - a.right);
  const apart = (a, b) => Math.hypot(across(a, b), Math.max(a.top - b.bottom, 0, b.top - a.bottom));
  const lineGap = 3, elements = [...plot.querySelectorAll('.annotation')];
  const texts = elements.map((element, number) => ({element, ...annotations[number]}));
  return texts.filter(({text}) => text.startsWith('<span>')).map(({element, text, x: left, y: top}) => {
    const box = element.querySelector('.annotation-text').getBoundingClientRect();
    const inner = {left: box.left, right: box.right, top: box.top + lineGap, bottom: box.bottom - lineGap};
    const places = points.map((point, place) => [apart(inner, point), x[place] === left && y[place] === top]);
    const own = places.find(([, isOwn]) => isOwn), others = places.filter(([, isOwn]) => !isOwn);
    return [text.replace(/<[^>]*>/g, ''), own?.[0] ?? null, Math.min(...others.map(([distance]) => distance))];
  });
}""".replace("EXPLORED", EXPLORED)


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/"])
@pytest.mark.parametrize("width", [1280, 1440])
def test_each_name_to_explore_is_clearly_nearest_to_its_own_mark(new_page, path, width):
    page = new_page(viewport={"width": width, "height": 1000})
    page.goto(path)
    explore(page)
    distances = [each for each in page.evaluate(DISTANCES) if each[1] is not None]  # others have a leader line
    assert len(distances) >= 8
    assert [each for each in distances if each[1] + 3 > each[2]] == []


def test_zooming_keeps_the_places_of_marks_and_gives_the_view_ticks_of_its_own(page):
    page.goto("/drives/nvme-flash/")
    before = explore(page)
    page.locator(".explored-speed").get_by_role("button", name="Zoom in").click()
    page.wait_for_function(f"{EXPLORED}.layout.xaxis.range[0] > 0")
    zoomed = page.evaluate(CHART)
    assert [mark[:2] for mark in zoomed["marks"]] == [pytest.approx(mark[:2], abs=0.01) for mark in before["marks"]]
    assert as_places(zoomed["lines"]) == as_places(before["lines"])
    sides = [(float(text), place) for text, place in zoomed["sides"]]
    assert len(sides) > 3
    assert [place / text for text, place in sides if text] == [pytest.approx(100 / 5.6, rel=0.001)] * len(sides)
    assert set(zoomed["ticks"]) - set(before["ticks"])
    page.locator(".explored-speed").get_by_role("button", name="Reset axes").click()
    page.wait_for_function(f"{EXPLORED}.layout.xaxis.range[0] === 0")
    assert page.evaluate(CHART) == before


def test_zooming_in_keeps_marks_in_view(page):
    page.goto("/drives/nvme-flash/?vendor=micron&max_1ms=5")
    explore(page)
    for _ in range(3):
        page.locator(".explored-speed").get_by_role("button", name="Zoom in").click()
        page.wait_for_function(f"{EXPLORED}.layout.xaxis.range[0] >= 0")
    span = "({range: [low, high]}) => high - low"
    assert page.evaluate(f"({span})({EXPLORED}.layout.yaxis)") == pytest.approx(100 / 8)
    within = "(value, {range: [low, high]}) => low <= value && value <= high"
    both = f"({within})(at, xaxis) && ({within})(y[n], yaxis)"
    in_view = f"({{x, y}}, {{xaxis, yaxis}}) => x.filter((at, n) => {both}).length"
    assert page.evaluate(f"({in_view})({EXPLORED}.data.at(-1), {EXPLORED}.layout)") > 0


def test_the_arrow_keys_begin_at_the_fastest_mark_and_escape_goes_back_to_the_picture(page):
    page.goto("/drives/nvme-flash/")
    explore(page)
    chart = page.locator(".explored-speed > div").first
    chart.focus()
    status = page.locator(".explored-speed + .vh, .explored-speed .vh").first
    page.keyboard.press("ArrowDown")
    assert "SanDisk DC SN861 6.4 TB: 1,728,000 tps" in status.inner_text()
    page.keyboard.press("ArrowDown")
    assert "1,506,000 tps" in status.inner_text()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert status.inner_text().startswith("Last mark. ")
    page.keyboard.press("Escape")
    assert page.locator(".explored-speed").count() == 0
    assert page.locator(".chart-speed svg.landscape").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Explore"


@pytest.mark.parametrize("viewport", [DESKTOP, {"width": 390, "height": 844}])
@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/"])
def test_back_closes_the_chart_to_explore_before_it_leaves_the_page(new_page, path, viewport):
    page = new_page(viewport=viewport)
    page.goto("/about/")
    page.goto(path)
    explore(page)
    page.go_back()
    expect(page.locator(".explored-speed")).to_have_count(0)
    page.locator(".chart-speed svg.landscape").wait_for()
    explore(page)
    page.get_by_label("Percent over 1").first.focus()
    page.keyboard.press("Escape")
    expect(page.locator(".explored-speed")).to_have_count(0)
    page.wait_for_function("history.state === null")
    page.go_back()
    page.wait_for_url("**/about/")


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/"])
def test_results_that_replace_an_explored_chart_replace_its_entry_of_the_history(page, path):
    page.goto(path)
    explore(page)
    page.get_by_label("Percent over 1 ms").first.fill("2")
    page.wait_for_url("**limit_1ms=2*")
    expect(page.locator(".explored-speed")).to_have_count(0)
    page.go_back()
    page.locator("svg.landscape", has_text="limit 5 %").first.wait_for()
    assert "limit_1ms" not in page.url


def test_an_open_menu_closes_before_the_chart_to_explore(page):
    page.goto("/drives/nvme-flash/")
    explore(page)
    page.locator("details.pick summary").first.click()
    page.keyboard.press("Escape")
    expect(page.locator("details.pick[open]")).to_have_count(0)
    assert page.locator(".explored-speed").count() == 1
    page.keyboard.press("Escape")
    expect(page.locator(".explored-speed")).to_have_count(0)


def test_an_arrow_key_that_wants_to_pass_the_last_mark_is_announced(page):
    page.goto("/drives/nvme-flash/", wait_until="networkidle")
    page.locator(".chart-speed a.m:not([tabindex='-1'])").first.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    announced = page.locator("body > .vh[aria-live]")
    assert announced.text_content() == "First mark."
    page.keyboard.press("ArrowRight")
    assert announced.text_content() == ""
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert announced.text_content() == "Last mark."


def with_few_marks(page):
    """Let the script draw density cells for more than ten results."""
    source = (settings.BASE_DIR / "static/js/landscape/density.js").read_text()
    few = source.replace("MARKS_AT_MOST = 500", "MARKS_AT_MOST = 10")
    assert few != source
    page.route("**/js/landscape/density.js", lambda route: route.fulfill(body=few, content_type="text/javascript"))


def test_many_results_to_explore_are_cells_until_few_are_in_view(page):
    with_few_marks(page)
    page.goto("/")
    listed = page.locator("table.answers tbody th a").count()
    chart = explore(page)
    assert "heatmap" in chart["kinds"]
    assert listed <= len(chart["marks"]) < 30
    page.evaluate(f"Plotly.relayout({EXPLORED}, {{'xaxis.range': [60, 100]}})")
    page.wait_for_function(f"{EXPLORED}.data[0].type !== 'heatmap'")
    assert 0 < len(page.evaluate(CHART)["marks"]) <= 10


def test_a_mark_of_the_chart_to_explore_leads_to_its_drive_with_the_limits_of_the_reader(page):
    page.goto("/drives/nvme-flash/?limit_1ms=3")
    explore(page)
    page.evaluate(f"{EXPLORED}.emit('plotly_click', {{points: [{{data: {{mode: 'markers'}}, pointNumber: 0}}]}})")
    page.wait_for_url(re.compile(r"/drive/[^/]*/\?limit_1ms=3$"))


STOP = """() => {
  const own = document.activeElement, stop = own.closest('.charted') && (own.closest('svg, tr') ?? own);
  const {x, y} = stop?.getBoundingClientRect() ?? {};
  return stop && [stop.closest('.chart-speed, .chart-endurance, .rows, .key').className, Math.round(y + scrollY)];
}"""
IN_COLUMNS, IN_ROWS = ["chart-speed", "chart-endurance", "rows"], ["chart-speed", "rows", "chart-endurance"]
ROWS_FIRST = ["rows", "chart-speed", "chart-endurance"]
PARTS = "[...document.querySelectorAll('.chart-speed, .chart-endurance, .rows')].map(part => part.className).join(' ')"
# Waits frame by frame: the policy of the page forbids the strings that wait_for_function evaluates.
IS_ORDERED = f"""wanted => new Promise(done => {{
  const look = () => {{ if ({PARTS} === wanted) done(); else requestAnimationFrame(look); }};
  look();
}})"""


@pytest.mark.parametrize("is_phone", [False, True])
@pytest.mark.parametrize(("path", "on_phone"), [("/", ROWS_FIRST), ("/drives/nvme-flash/", IN_ROWS)])
def test_tab_follows_the_order_on_the_screen(new_page, path, on_phone, is_phone):
    order, other = (on_phone, IN_COLUMNS) if is_phone else (IN_COLUMNS, on_phone)
    page, stops = new_page(viewport=PHONE if is_phone else DESKTOP), []
    page.goto(path)
    page.locator(f".{order[0]} a:not([tabindex='-1'])").first.focus()
    while stop := page.evaluate(STOP):
        stops.append(stop)
        page.keyboard.press("Tab")
    assert list(dict.fromkeys(part for part, _ in stops if part != "key")) == order
    assert len(stops) > 10
    tops = [top for part, top in stops if part == "rows"]
    assert tops == sorted(tops)
    page.set_viewport_size(DESKTOP if is_phone else PHONE)
    page.evaluate(IS_ORDERED, " ".join(other))


def test_the_picture_stays_if_the_chart_library_does_not_load(browser, site):
    with open_context(browser, base_url=site.url, viewport=DESKTOP) as context:
        page = context.new_page()
        page.route("**/plotly-cartesian*", lambda route: route.abort())
        page.goto("/drives/nvme-flash/")
        page.get_by_role("button", name="Explore").click()
        page.get_by_role("button", name="not loaded, try again").wait_for()
        assert page.locator(".chart-speed svg.landscape").is_visible()
        page.unroute("**/plotly-cartesian*")
        page.get_by_role("button", name="not loaded, try again").click()
        page.locator(".explored-speed svg.main-svg").first.wait_for()


SHOWN_NAME = ".mark-line.named, .readout:not([hidden])"
COVERED = """name => {
  const own = name.getBoundingClientRect();
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const covered = [], range = document.createRange();
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (!text.data.trim() || name.contains(text) || !text.parentElement.checkVisibility()) continue;
    if (text.parentElement.closest('.vh, title, desc')) continue;
    range.selectNodeContents(text);
    const [one] = [...range.getClientRects()].filter(box =>
      box.left < own.right && own.left < box.right && box.top + 1 < own.bottom && own.top < box.bottom - 1);
    if (one) covered.push(text.data);
  }
  return covered;
}"""


@pytest.mark.parametrize("path", ["/", "/drives/cloud/", "/drive/sandisk-dc-sn861-6400gb/"])
def test_the_name_of_a_mark_is_shown_on_focus_and_hover_and_moves_nothing(page, path):
    page.goto(path, wait_until="networkidle")  # fields of prices appear when they are read
    marks = page.locator("svg[data-marks] a[tabindex='0']")
    height = page.evaluate("document.documentElement.scrollHeight")
    marks.first.focus()
    name = page.locator(SHOWN_NAME)
    assert name.inner_text() == focused_name(page)
    page.keyboard.press("ArrowLeft")
    assert name.inner_text() == focused_name(page)
    chart, box = page.locator("svg[data-marks]").first.bounding_box(), name.bounding_box()
    assert box["y"] >= chart["y"] + chart["height"] or box["y"] + box["height"] <= chart["y"]
    assert page.evaluate("document.documentElement.scrollHeight") == height
    page.keyboard.press("Escape")
    assert name.count() == 0
    marks.last.hover(force=True)
    assert name.count() == 1
    page.mouse.move(0, 0)
    assert name.inner_text() == focused_name(page)


@pytest.mark.parametrize("viewport", [DESKTOP, {"width": 390, "height": 844}])
@pytest.mark.parametrize("path", ["/", "/drives/", "/drives/nvme-flash/", "/drives/cloud/"])
def test_the_name_of_a_mark_covers_and_moves_nothing(new_page, path, viewport):
    page = new_page(viewport=viewport)
    page.goto(path)
    height = page.evaluate("document.documentElement.scrollHeight")
    for chart in ("speed-chart", "endurance-chart"):
        for mark in page.locator(f"[data-plot={chart}] a.m").all()[::5]:
            mark.focus()
            name = page.locator(SHOWN_NAME)
            assert name.inner_text() == mark.get_attribute("aria-label")
            assert name.evaluate(COVERED) == []
            assert page.evaluate("document.documentElement.scrollHeight") == height


def test_the_first_touch_of_a_mark_shows_its_name_and_the_second_one_opens_its_page(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto("/")
    mark = page.locator("[data-plot=speed-chart] a[tabindex='0']")
    mark.tap(force=True)
    name = page.locator(SHOWN_NAME)
    assert name.inner_text() == mark.get_attribute("aria-label")
    box = name.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    mark.tap(force=True)
    page.wait_for_url("**/drive/sandisk-dc-sn861-6400gb/")


def test_the_chart_to_explore_shows_names_in_the_line_of_the_picture_and_covers_no_label(page):
    page.goto("/drives/nvme-flash/")
    usage = page.locator(".mark-line").first.inner_text()
    explore(page)
    points = page.locator(".explored-speed .scatterlayer .trace").last.locator(".point")
    box = points.first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator(SHOWN_NAME).wait_for()
    assert " tps; " in page.locator(SHOWN_NAME).inner_text()
    assert page.locator(".explored-speed .point.on").count() == 1
    assert page.locator(".explored-speed .hoverlayer .hovertext").count() == 0
    page.mouse.move(0, 0)
    page.locator(".mark-line", has_text=usage).first.wait_for()
    page.locator(".explored-speed > div").first.focus()
    page.keyboard.press("End")
    assert page.locator(SHOWN_NAME).inner_text().startswith("SanDisk DC SN861 6.4 TB: 1,728,000 tps")
    page.get_by_role("button", name="Back to the chart").click()
    assert page.locator(".mark-line").first.inner_text() == usage


LARGEST = f"""() => {{
  const {{data, layout}} = {EXPLORED}, {{x, y}} = data.at(-1), [left, right] = layout.xaxis.range;
  return Math.max(...y.filter((_, n) => left <= x[n] && x[n] <= right)) / layout.yaxis.range[1];
}}"""


@pytest.mark.parametrize(
    "path", ["/drives/nvme-flash/?limit_1ms=50", "/drives/nvme-flash/?limit_1ms=0.5", "/?limit_1ms=100"]
)
def test_the_axis_of_shares_to_explore_is_fitted_to_the_marks(page, path):
    page.goto(path)
    explore(page)
    assert page.evaluate(LARGEST) == pytest.approx(1 / 1.12, abs=0.01)


def test_the_axis_of_shares_follows_the_range_of_speeds_until_the_reader_chooses_shares(page):
    page.goto("/drives/nvme-flash/")
    explore(page)
    zoom, top = f"Plotly.relayout({EXPLORED}, {{}})", f"{EXPLORED}.layout.yaxis.range[1]"
    page.evaluate(zoom.replace("{}", "{'xaxis.range': [88, 100]}"))
    page.wait_for_function(f"{top} < 50")
    assert page.evaluate(LARGEST) == pytest.approx(1 / 1.12, abs=0.01)
    page.evaluate(zoom.replace("{}", "{'xaxis.range': [0, 100], 'yaxis.range': [10, 60]}"))
    page.evaluate(zoom.replace("{}", "{'xaxis.range': [88, 100]}"))
    page.wait_for_function(f"{EXPLORED}.layout.xaxis.range[0] === 88")
    assert page.evaluate(f"{EXPLORED}.layout.yaxis.range") == [10, 60]


OVERLAPPING = """() => {
  const texts = [...document.querySelectorAll('svg.landscape text')];
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
  return boxes.flatMap(([name, a], number) => boxes.slice(number + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4).map(([other]) => [name, other]));
}"""


@pytest.mark.parametrize("width", [320, 390, 800, 1280])
@pytest.mark.parametrize("path", ["/", "/?min_device_tps=100000", "/drives/", "/drives/nvme-flash/", "/drives/cloud/"])
def test_no_text_of_a_chart_covers_another_one(new_page, path, width):
    page = new_page(viewport={"width": width, "height": 900})
    page.goto(path)
    assert page.locator("svg.landscape text").count() > 10
    assert page.evaluate(OVERLAPPING) == []


MARK_LOOKS = """() => {
  const svg = document.querySelector('[data-plot=speed-chart] svg');
  const traces = [...document.querySelectorAll('.explored-speed .scatterlayer .trace')];
  const of = shape => {
    const {width, height} = shape.getBBox();
    return [width, height];
  };
  const lookOf = (shape, box) => {
    const {fill, stroke, strokeWidth, strokeDasharray} = getComputedStyle(shape);
    const dashes = strokeDasharray.replaceAll(/ |px/g, '');
    return {box, look: [fill, stroke, parseFloat(strokeWidth), dashes]};
  };
  const picture = [...svg.querySelectorAll('a.m use')].map(use =>
    lookOf(use, of(document.getElementById(use.getAttribute('href').slice(1).replace('o', '')))));
  const chart = [...traces.at(-1).querySelectorAll('.point')].map(point => lookOf(point, of(point)));
  const lines = [...traces.at(-2).querySelectorAll('.point')].map(point => {
    const {x, y, width} = point.getBBox();
    return [x, y, width];
  });
  const wanted = [...svg.querySelectorAll('a.m.over use')].map(use => {
    const symbol = use.getAttribute('href').slice(1), outline = document.getElementById(symbol).getAttribute('d');
    const [, x, y, width] = /M(-[0-9.]+) ([0-9.]+)h([0-9.]+)$/.exec(outline);
    return [x, y, width].map(Number);
  });
  return {picture, chart, lines, wanted};
}"""


@pytest.mark.parametrize("path", ["/?limit_1ms=2", "/drives/?limit_1ms=2&min_tps=100000"])
def test_the_marks_to_explore_have_the_outlines_sizes_and_looks_of_the_picture(page, path):
    page.goto(path)
    explore(page)
    looks = page.evaluate(MARK_LOOKS)
    assert len(looks["picture"]) > 20
    for drawn, explored in zip(looks["picture"], looks["chart"], strict=True):
        assert explored["look"] == drawn["look"]
        assert explored["box"] == pytest.approx(drawn["box"], abs=0.15)
    assert len(looks["lines"]) > 5
    for line, wanted in zip(looks["lines"], looks["wanted"], strict=True):
        assert line == pytest.approx(wanted, abs=0.15)


def test_the_chart_to_explore_has_the_colours_of_the_picture(page):
    page.goto("/")
    different = page.evaluate("""async () => {
      const {LINES, TEXTS, STATES} = await import(
        document.querySelector('script[src*="landscape/navigation"]').src.replace('navigation', 'explore'));
      const svg = document.querySelector('svg.landscape'), probe = document.createElement('i');
      document.body.append(probe);
      const colour = name => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
      const styleOf = (tag, kind) => {
        const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
        element.setAttribute('class', kind);
        svg.append(element);
        return getComputedStyle(element);
      };
      const isBold = {b: '600', i: '400', span: '400'};
      return [
        ...Object.entries(LINES).map(([kind, [name, width, dash]]) => {
          const {stroke, strokeWidth, strokeDasharray: dashes} = styleOf('line', kind);
          const dashed = dashes.replaceAll(' ', '').replace('none', 'solid');
          return [kind, [stroke, parseFloat(strokeWidth), dashed], [colour(name), width, dash]];
        }),
        ...Object.entries(TEXTS).map(([kind, [name, element]]) => {
          const {fill, fontWeight, fontStyle} = styleOf('text', kind);
          const style = element === 'i' ? 'italic' : 'normal';
          return [kind, [fill, fontWeight, fontStyle], [colour(name), isBold[element], style]];
        }),
        ...Object.entries(STATES).map(([state, name]) => {
          const custom = styleOf('a', `m full ${state}`).getPropertyValue('--c');
          probe.style.color = custom;
          return [state, [getComputedStyle(probe).color], [colour(name)]];
        }),
      ].filter(([, found, wanted]) => String(found) !== String(wanted));
    }""")
    assert different == []


def test_the_tools_of_a_chart_to_explore_can_be_hit_and_show_the_focus(page):
    page.goto("/")
    explore(page)
    tools = page.locator(".explored-speed .modebar-btn").all()
    assert len(tools) == 5
    assert all(min(box["width"], box["height"]) >= 24 for box in (tool.bounding_box() for tool in tools))
    tools[0].focus()
    page.keyboard.press("Tab")
    outline = "getComputedStyle(document.activeElement).outline"
    assert page.evaluate(f"document.activeElement === document.querySelectorAll('.modebar-btn')[1] && {outline}") == (
        page.evaluate("""() => {
          const probe = document.body.appendChild(document.createElement('i'));
          probe.style.outline = '2px solid var(--accent)';
          return getComputedStyle(probe).outline;
        }""")
    )


def test_both_charts_end_at_one_line_while_one_is_explored(page):
    page.goto("/")
    page.get_by_role("button", name="Explore").click()
    page.get_by_role("button", name="Back to the chart").wait_for()
    ends = [page.locator(f".{chart} .axis-name").bounding_box()["y"] for chart in ("chart-speed", "chart-endurance")]
    assert ends[0] == pytest.approx(ends[1], abs=2)


CHARTS = "[...document.querySelectorAll('svg.landscape')].filter(svg => svg.checkVisibility())"
TOUCHING = """() => CHARTS.flatMap(svg => {
  const boxOf = (element, name, inset) => {
    const {left, right, top, bottom} = element.getBoundingClientRect();
    return {element, name, left, right, top: top + inset, bottom: bottom - inset};
  };
  const lineGap = 3; // above and below the letters of a text
  const texts = [...svg.querySelectorAll('text')].map(text => boxOf(text, text.textContent, lineGap));
  const shown = texts.filter(({left, right}) => left < right);
  const uses = [...svg.querySelectorAll('a.m use')];
  const marks = uses.map(use => boxOf(use, use.parentNode.getAttribute('aria-label'), 0));
  const touch = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return shown.flatMap((text, number) =>
    [...marks, ...shown.slice(number + 1)].filter(other => touch(text, other)).map(other => [text.name, other.name]));
})""".replace("CHARTS", CHARTS)
WIDTHS = [(390, "screen"), (794, "screen"), (1280, "screen"), (703, "print"), (794, "print"), (1032, "print")]


CATEGORIES = ["nvme-3dxpoint", "nvme-flash", "sata-sas-flash", "m2-flash", "networked", "cloud"]
PATHS = [
    f"/drives/{category}/?threshold={threshold}" for category in CATEGORIES for threshold in ("1ms", "8ms", "64ms")
]
MANY_OVER_THE_LIMIT = ["/?limit_1ms=1", "/drives/nvme-flash/?limit_1ms=1", "/drives/cloud/?limit_1ms=0.5"]


@pytest.mark.parametrize("path", [*PATHS, *MANY_OVER_THE_LIMIT])
def test_no_text_of_a_chart_touches_a_mark_or_another_text(page, path):
    page.goto(path)
    touching = {}
    for width, media in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media=media)
        touching[width, media] = page.evaluate(TOUCHING)
    assert not any(touching.values()), touching


# The mark at which a name begins, or at which its leader line begins.
NEAREST_MARK = """name => {
  const svg = document.querySelector('[data-plot=speed-chart] svg'), spaced = text => text.replaceAll('\\u00a0', ' ');
  const lines = [...svg.querySelectorAll('text.name')].filter(text => text.getBoundingClientRect().width);
  const first = lines.find(text => name.startsWith(spaced(text.textContent)));
  const [x, y] = ['x', 'y'].map(each => first.getAttribute(each));
  const wanted = lines.filter(text => text.getAttribute('x') === x && text.getAttribute('y') === y);
  if (wanted.map(text => spaced(text.textContent)).join(' ') !== name) return '';
  const leader = [...svg.querySelectorAll('.leader')].find(line => line.getAttribute('x2') === x);
  const [left, top] = leader ? [leader.getAttribute('x1'), leader.getAttribute('y1')] : [x, y];
  const marks = [...svg.querySelectorAll('a.m')], at = mark => mark.lastElementChild;
  return marks.find(mark => at(mark).getAttribute('x') === left && at(mark).getAttribute('y') === top).ariaLabel ?? '';
}"""


@pytest.mark.parametrize("threshold", ["1ms", "8ms", "64ms"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/"])
def test_the_name_of_the_fastest_drive_is_shown_at_its_mark(new_page, path, width, threshold):
    page = new_page(viewport={"width": width, "height": 900})
    page.goto(f"{path}?threshold={threshold}")
    assert page.evaluate(NEAREST_MARK, "DC SN861 6.4 TB").startswith("SanDisk DC SN861 6.4 TB: 1,728,000 tps")


def test_zoom_and_pan_state_which_of_them_is_chosen(page):
    page.goto("/")
    explore(page)
    zoom, pan = (page.locator(f".explored-speed .modebar-btn[data-val={mode}]") for mode in ("zoom", "pan"))
    expect(zoom).to_have_attribute("aria-pressed", "true")
    expect(pan).to_have_attribute("aria-pressed", "false")
    pan.click()
    expect(pan).to_have_attribute("aria-pressed", "true")
    expect(zoom).to_have_attribute("aria-pressed", "false")


def test_on_paper_the_times_of_the_rating_follow_their_bar_in_the_same_line(new_page):
    page = new_page(viewport={"width": 794, "height": 1123})
    page.emulate_media(media="print")
    page.goto("/")
    cells = page.locator(".answers td.gap").evaluate_all("""cells => cells.map(cell => {
      const words = document.createRange();
      words.selectNode(cell.lastChild);
      const [bar, text] = [cell.querySelector('svg'), words].map(each => each.getBoundingClientRect());
      return text.top < bar.bottom && bar.top < text.bottom;
    })""")
    assert cells
    assert all(cells), cells
