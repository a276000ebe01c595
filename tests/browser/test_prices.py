"""The reader's prices in a real browser: kept there, never sent, and shown on every page that has figures of drives."""

import json
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

SN861, P5510 = "sandisk-dc-sn861-6400gb", "intel-p5510-7680gb"
PAIR = f"/compare/?drive={SN861}&drive={P5510}"
SUSTAINED = "8 EUR"  # of 1,728 EUR and the rating of the SN861
STORED = "localStorage.getItem('drivecert.prices')"


@pytest.fixture
def requests(page):
    """The addresses and the bodies of all requests of the page."""
    sent = []
    page.on("request", lambda request: sent.append(f"{request.url} {request.post_data or ''}"))
    return sent


def enter(page, name, price):
    field = page.get_by_label(f"Price of one {name}")
    field.click()
    field.press_sequentially(price)


def cell(page, slug, shows):
    return page.locator(f"[data-price={slug}][data-shows={shows}]")


def test_a_price_gives_figures_on_every_page_and_is_never_sent(page, requests):
    page.goto(PAIR)
    page.locator("summary:has(#prices) ~ details summary").click()
    page.get_by_label("Currency of new prices").fill("EUR")
    enter(page, "SanDisk DC SN861 6.4 TB", "1,728.00")
    expect(cell(page, SN861, "per-tps")).to_have_text("1 EUR")
    expect(cell(page, SN861, "per-sustained-tps")).to_have_text(SUSTAINED)
    expect(cell(page, SN861, "per-tb")).to_have_text("270 EUR")
    expect(cell(page, P5510, "per-tb")).to_have_text("")
    page.goto(f"/drive/{SN861}/")
    expect(cell(page, SN861, "per-tps")).to_have_text("1 EUR")
    page.goto("/sizing/?reads=500000&writes=125000")
    drives = page.locator(f"tr:has([data-price={SN861}]) td").first.inner_text()
    expect(cell(page, SN861, "total")).to_have_text(f"{int(drives) * 1728:,} EUR")
    expect(cell(page, SN861, "both")).to_have_text(
        f"1 EUR per 1,000 tps {SUSTAINED} per 1,000 sustained 270 EUR per TB", use_inner_text=True
    )
    assert [sent for sent in requests if "1728" in sent or "EUR" in sent] == []


def test_a_price_keeps_the_focus_and_survives_a_change_of_the_form(page):
    page.goto("/sizing/")
    enter(page, "Intel P5510 7.68 TB", "900")
    total = cell(page, P5510, "total")
    expect(total).to_have_text(re.compile(r"^[\d,]+$"))
    assert page.evaluate("document.activeElement.closest('[data-price]').dataset.price") == P5510
    before = total.inner_text()
    page.get_by_label("Data, one copy").fill("200")
    expect(total).not_to_have_text(before)
    expect(total).to_have_text(re.compile(r"^[\d,]+$"))
    assert "price" not in page.url


def test_the_cheapest_cluster_of_each_currency_is_named(page):
    page.goto("/sizing/")
    page.locator("summary:has(#prices) ~ details summary").click()
    cheapest = page.locator("[data-price-cheapest]")
    assert cheapest.inner_text() == ""
    page.get_by_label("Price list as CSV").fill(f"{P5510},900,EUR\n{SN861},1728,EUR\nmicron-9400-max-12800gb,1,USD")
    page.get_by_role("button", name="Replace the price list").click()
    expect(cheapest).to_have_text(
        "Cheapest of those shown with a price: 16 x Intel P5510 7.68 TB, 14,400 EUR. "
        "Cheapest of those shown with a price: 12 x Micron 9400 Max 12.8 TB, 12 USD."
    )


def test_the_cheapest_cluster_is_of_the_group_that_is_ranked(page):
    page.goto("/sizing/")
    other = page.locator("tbody[data-group]").last.locator("[data-shows=total]").first.get_attribute("data-price")
    page.locator("summary:has(#prices) ~ details summary").click()
    page.get_by_label("Price list as CSV").fill(f"{other},1,EUR\n{P5510},900,EUR")
    page.get_by_role("button", name="Replace the price list").click()
    expect(page.locator("[data-price-cheapest]")).to_have_text(
        "Cheapest of those shown with a price: 16 x Intel P5510 7.68 TB, 14,400 EUR."
    )


def test_the_cheapest_cluster_has_a_rating_if_one_has(page):
    page.goto(PAIR)
    loaded = "performance.getEntriesByType('resource').map(each => each.name)"
    address = next(name for name in page.evaluate(loaded) if "price-figures" in name)
    rated = {"entry": {"price": "9", "currency": ""}, "name": "Rated", "count": "2", "isUnrated": False}
    unrated = {"entry": {"price": "1", "currency": ""}, "name": "Unrated", "count": "2", "isUnrated": True}
    text = "([at, clusters]) => import(at).then(({cheapestText}) => cheapestText(clusters))"
    said = [page.evaluate(text, [address, each]) for each in ([rated, unrated], [unrated, rated], [unrated])]
    assert said == [
        *["Cheapest of those shown with a price: 2 x Rated, 18."] * 2,
        "Cheapest of those shown with a price: 2 x Unrated, 2. Endurance is not included: the rating is not reported.",
    ]


@pytest.mark.parametrize(
    ("text", "price", "currency"),
    [
        ("1,250.50", "1250.50", ""),
        ("1 250", "1250", ""),
        ("1728.00", "1728", ""),
        ("$1,450", "1450", "$"),
        ("1\u202f450 \u20ac", "1450", "\u20ac"),
        ("EUR 1450", "1450", "EUR"),
        ("\u20ac1.450", None, "\u20ac"),
        ("$1450 $", None, "$"),
        ("0", None, ""),
        ("1,5", None, ""),
        ("1e3", None, ""),
    ],
)
def test_a_typed_price_becomes_plain_digits(page, text, price, currency):
    page.goto(PAIR)
    address = page.locator("script[src*=prices]").get_attribute("src")
    typed = page.evaluate("([at, text]) => import(at).then(({typedPrice}) => typedPrice(text))", [address, text])
    assert (typed["price"], typed["currency"], typed["problem"] == "") == (price, currency, price is not None)


def test_a_wrong_price_is_named_and_not_stored(page):
    page.goto(PAIR)
    field = page.get_by_label("Price of one SanDisk DC SN861 6.4 TB")
    field.fill("1280")
    expect(cell(page, SN861, "per-tb")).to_have_text("200")
    field.fill("1.450")
    expect(cell(page, SN861, "per-tb")).to_have_text("")
    expect(page.locator("[data-price-message]")).to_contain_text('"1.450" has two meanings')
    enter(page, "Intel P5510 7.68 TB", "$1,450")
    expect(cell(page, P5510, "per-tb")).to_have_text("189 $")
    expect(field).to_have_value("1.450")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description('"1.450" has two meanings. Type 1450 or 1.45.')
    assert SN861 not in page.evaluate(STORED)
    field.fill("")
    assert field.get_attribute("aria-invalid") == "false"
    assert SN861 not in page.evaluate(STORED)


def test_the_price_list_is_csv_that_can_be_replaced_and_downloaded(page):
    page.goto(PAIR)
    page.locator("summary:has(#prices) ~ details summary").click()
    page.get_by_label("Price list as CSV").fill(f"product,price,currency\n{P5510},800,USD\n{SN861},1280,USD\n")
    page.get_by_role("button", name="Replace the price list").click()
    expect(page.locator("[data-price-message]")).to_have_text("The price list has 2 prices.")
    expect(cell(page, SN861, "per-tb")).to_have_text("200 USD")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    text = download.value.path().read_text()
    assert text == f"product,price,currency\n{P5510},800,USD\n{SN861},1280,USD\n"
    page.get_by_label("Price list as CSV").fill(f"{P5510},800,USD\n{SN861},much,USD\n")
    page.get_by_role("button", name="Replace the price list").click()
    expect(page.locator("[data-price-message]")).to_contain_text("Line 2 of the price list was not understood.")
    assert page.evaluate(STORED) == text


def test_another_tab_shows_a_new_price(page):
    page.goto(PAIR)
    other = page.context.new_page()
    other.goto(PAIR)
    enter(other, "SanDisk DC SN861 6.4 TB", "640")
    expect(cell(page, SN861, "per-tb")).to_have_text("100")


def test_a_table_of_drives_has_a_column_of_prices_on_request(page):
    page.goto(PAIR)
    enter(page, "SanDisk DC SN861 6.4 TB", "1728")
    page.goto("/drives/nvme-flash/")
    assert page.locator("[data-price-added]").count() == 0
    page.get_by_label("Show a column of prices in the table").check()
    row = page.locator("table.runs tbody tr", has_text="SN861 6.4").first
    figures = f"1 per 1,000 tps {SUSTAINED.removesuffix(' EUR')} per 1,000 sustained 270 per TB"
    across = "table => [...table.querySelectorAll('tr.group > *')].map(c => c.colSpan - table.rows[0].cells.length)"
    assert set(page.locator("table.runs").first.evaluate(across)) == {0}
    expect(page.locator(f"[data-price={SN861}][data-shows=both]")).to_have_text(figures, use_inner_text=True)
    page.get_by_label("Speed, at least").fill("1000000")
    expect(page.locator("[data-shown]")).to_contain_text("of 36 shown")
    expect(page.locator(f"[data-price={SN861}][data-shows=both]")).to_have_text(figures, use_inner_text=True)
    rows = page.locator("table.runs tbody tr:has(input[name=run])").count()
    expect(page.locator("td[data-price-added]")).to_have_count(rows)
    assert set(page.locator("table.runs").first.evaluate(across)) == {0}
    page.reload()
    expect(page.locator("td[data-price-added]").first).to_be_visible()
    page.get_by_label("Show a column of prices in the table").uncheck()
    assert page.locator("[data-price-added]").count() == 0
    assert set(page.locator("table.runs").first.evaluate(across)) == {0}
    assert row.count() <= 1


def test_no_price_is_shown_without_a_script(new_page):
    page = new_page(java_script_enabled=False)
    for path in (PAIR, f"/drive/{SN861}/", "/sizing/", "/drives/nvme-flash/"):
        page.goto(path)
        assert not page.locator(".prices").first.is_visible()
        assert page.locator("[data-price], [data-price-shown]").locator("visible=true").count() == 0


def test_figures_that_cannot_be_read_are_asked_for_once(page):
    asked, column = [], page.get_by_label("Show a column of prices in the table")
    page.goto("/drives/nvme-flash/")
    page.route("**/drives/rows.json*", lambda route: (asked.append(route.request.url), route.fulfill(json={})))
    column.click()
    expect(page.get_by_text("could not be loaded. Load the page again.")).to_be_visible()
    expect(column).not_to_be_checked()
    page.locator("#main").evaluate("main => main.append(document.createElement('i'))")  # as each change of the table
    page.evaluate("new Promise(requestAnimationFrame)")
    assert len(asked) == 1


FIGURE = """row => Number(/([\\d.,]+) per 1,000 sustained/.exec(row.textContent)?.[1].replace(',', '') ?? Infinity)"""
ROWS = "[...body.rows].filter(row => row.querySelector('[name=run]'))"
ORDERS = f"table => [...table.tBodies].map(body => {ROWS}.map({FIGURE}))"


def test_the_column_of_prices_sorts_each_group_and_marks_its_lowest_price(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/drives/nvme-flash/")
    page.get_by_label("Show a column of prices in the table").check()
    table = page.locator("table.runs").first
    fields = table.locator("tbody").first.locator("[data-shows=field] input")
    names = fields.evaluate_all("fields => fields.map(field => field.getAttribute('aria-label'))")
    assert all(re.search(r" [\d.]+ [TG]B$", name) for name in names)
    for place, price in enumerate((3000, 1, 2000, 500)):
        fields.nth(place).fill(str(price))
    groups = table.locator("tbody tr.group").all_inner_texts()
    sort = table.get_by_role("button", name="Sort by price per 1,000 tps the rating allows")
    sort.focus()
    page.keyboard.press("Enter")
    expect(table.locator("th[data-price-added]")).to_have_attribute("aria-sort", "ascending")
    assert table.locator("th[aria-sort]").count() == 1
    orders = table.evaluate(
        f"table => JSON.stringify(({ORDERS})(table), (key, value) => value === Infinity ? 1e9 : value)"
    )
    assert all(order == sorted(order) for order in json.loads(orders))
    assert table.locator("tbody tr.group").all_inner_texts() == groups
    first = table.locator("tbody").first
    lowest = first.locator("tr:has([name=run])").first.locator("[data-price-figure=per-sustained-tps]")
    expect(lowest).to_have_text(re.compile(r"^[\d.,]+ per 1,000 sustained lowest$"))
    expect(first.locator("[data-price-figure=per-tps] .lowest")).to_have_count(1)
    expect(first.locator("[data-price-figure=per-tb] .lowest")).to_have_count(1)
    fields.first.fill("4")
    assert table.locator("th[aria-sort]").count() == 0


def test_a_table_with_prices_clips_no_figure_and_keeps_its_names(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/drives/nvme-flash/")
    page.get_by_label("Show a column of prices in the table").check()
    field = page.locator("[data-price-added] input").first
    field.fill("1728")
    wrap = page.locator(".with-prices").first
    wrap.evaluate("wrap => { wrap.scrollLeft = wrap.scrollWidth; }")
    cell, box = page.locator("td[data-price-added]").first, wrap.bounding_box()
    right = "getBoundingClientRect().right"
    inside = f"cell => [...cell.children].every(part => part.{right} <= cell.{right})"
    assert cell.evaluate(inside)
    edge = cell.bounding_box()
    assert edge["x"] + edge["width"] <= box["x"] + box["width"] + 1 <= 1281
    assert page.locator("table.runs tbody th[scope=row]").first.bounding_box()["x"] >= box["x"] - 1


@pytest.mark.parametrize("width_px", [1280, 390])
def test_a_table_with_prices_fits_the_page_and_marks_the_figure_that_is_lowest(new_page, width_px):
    page = new_page(viewport={"width": width_px, "height": 900})
    page.goto("/drives/nvme-flash/")
    if width_px < 1000:
        page.locator("summary:has(#prices)").click()
    page.get_by_label("Show a column of prices in the table").check()
    fields = page.locator("table.runs tbody").first.locator("[data-shows=field] input")
    for place, price in enumerate(("3000", "1000", "2000", "500")):
        fields.nth(place).fill(price)
    lowest = page.locator("table.runs .lowest").locator("..")
    assert lowest.evaluate_all("figures => figures.map(figure => figure.dataset.priceFigure)") == [
        "per-tps",
        "per-sustained-tps",
        "per-tb",
    ]
    wrap = page.locator(".with-prices").first
    assert wrap.evaluate("wrap => wrap.scrollWidth - wrap.clientWidth") <= 0
    lines = page.locator("td [data-price-figure]").evaluate_all(
        "lines => lines.slice(0, 3).map(line => line.offsetHeight)"
    )
    assert len(lines) == 3
    assert max(lines) <= 40  # with the mark below it on a phone


def test_a_comparison_marks_the_lowest_of_each_price(page):
    page.goto(PAIR)
    enter(page, "SanDisk DC SN861 6.4 TB", "1728")
    enter(page, "Intel P5510 7.68 TB", "500")
    expect(cell(page, P5510, "per-sustained-tps")).to_have_text(re.compile("lowest$"))
    expect(page.locator(".own-prices .lowest")).to_have_count(3)


def test_a_comparison_answers_in_words_which_drive_is_cheapest(page):
    answer = page.locator("[data-price-lowest]")
    page.goto(PAIR)
    expect(answer).to_have_text("Enter prices to see which drive is cheapest", use_inner_text=True)
    enter(page, "SanDisk DC SN861 6.4 TB", "1728")
    expect(answer).to_contain_text("Only SanDisk DC SN861 6.4 TB has a price. Intel P5510 7.68 TB: no price entered.")
    enter(page, "Intel P5510 7.68 TB", "500")
    words = "per 1,000 tps", "per 1,000 tps that the rating allows", "per TB"
    expect(answer.get_by_role("link")).to_have_text("Change your prices")
    text = answer.inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert text.startswith("At your prices, ")
    assert all(f"is cheapest {each} (" in text for each in words)
    assert "Intel P5510 7.68 TB is cheapest per TB (65.1, the next is SanDisk DC SN861 6.4 TB: 270)" in text


def test_prices_per_speed_are_not_compared_if_the_speeds_are_not_comparable(page):
    page.goto("/compare/?drive=sandisk-dc-sn861-6400gb&drive=micron-9300-max-6400gb")
    expect(page.locator(".own-prices[data-not-comparable]")).to_be_attached()
    enter(page, "SanDisk DC SN861 6.4 TB", "1728")
    enter(page, "Micron 9300 Max 6.4 TB", "500")
    answer = page.locator("[data-price-lowest]")
    expect(answer).to_contain_text("At your prices, Micron 9300 Max 6.4 TB is cheapest per TB")
    expect(answer).to_contain_text("Prices per speed are not compared, because the speeds are not comparable.")
    expect(answer).not_to_contain_text("cheapest per 1,000 tps")


def test_notes_on_cloud_instances_are_shown_only_with_cloud_instances(page):
    notes = page.get_by_text("Read cloud results conservatively")
    page.goto("/drives/?category=nvme-flash")
    expect(notes).to_be_hidden()
    page.goto("/drives/?category=nvme-flash&category=cloud")
    expect(notes).to_be_visible()
    page.goto("/drives/")
    expect(notes).to_be_visible()
    page.locator("[data-pick=category] summary").click()
    page.locator("[data-pick=category] input[value=nvme-flash]").check()
    expect(notes).to_be_hidden()
