"""The tables of drives on a phone: the headline, the options of filters, the sorted column, the meanings of columns."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import PHONE, phone_faults_of

pytestmark = pytest.mark.browser

# Returns the options of the open menus whose text is not right of their box, and those wider than the window.
MISPLACED = """() => [...document.querySelectorAll('.pick[open] label, .also-shown label')].filter(label => {
  const box = label.querySelector('input').getBoundingClientRect(), text = document.createRange();
  text.selectNodeContents(label);
  text.setStartAfter(label.querySelector('input'));
  const lines = [...text.getClientRects()];
  return lines.some(({left, right}) => left < box.right || right > innerWidth);
}).map(label => label.textContent)"""


@pytest.fixture
def phone(new_page):
    return new_page(viewport=PHONE, has_touch=True, is_mobile=True)


def test_the_sorted_column_is_shown(phone):
    phone.goto("/drives/cloud/?sort=-device_tps")
    expect(phone.locator("th[data-column=device_tps]")).to_be_visible()
    expect(phone.locator("table.runs td.computed").first).to_be_visible()


def test_a_new_order_shows_its_column_and_the_reader_may_choose_another_group(phone):
    phone.goto("/drives/cloud/?sort=pct_over_1ms")
    expect(phone.locator("th[data-column=pct_over_1ms]")).to_be_visible()
    phone.locator(".choose label", has_text="Devices").click()
    phone.locator("th[data-column=device_tps] a:not(.means)").click()
    expect(phone.locator("th[data-column=device_tps]")).to_have_attribute("aria-sort", "descending")
    expect(phone.locator("th[data-column=device_tps]")).to_be_visible()
    phone.locator(".choose label", has_text="Slow reads").click()
    expect(phone.locator("th[data-column=device_tps]")).to_be_hidden()
    phone.go_back()
    expect(phone.locator("th[data-column=pct_over_1ms]")).to_have_attribute("aria-sort", "ascending")
    expect(phone.locator("th[data-column=pct_over_1ms]")).to_be_visible()


NAMES = """all => all.map(head => {
  const lines = name => {
    const range = document.createRange();
    range.selectNodeContents(head.querySelector(name));
    return [...range.getClientRects()].filter(({width}) => width).map(({left}) => Math.round(left));
  };
  const box = head.querySelector('input').getBoundingClientRect();
  return {box: [box.left, box.right], maker: lines('.vendor'), model: lines('a')};
})"""


def test_maker_and_model_begin_at_one_place_left_of_the_box(new_page):
    page = new_page(viewport={"width": 390, "height": 900})
    page.goto("/drives/nvme-flash/")
    for name in page.locator("table.runs tbody th[scope=row]").evaluate_all(NAMES):
        assert name["maker"][0] == name["model"][0] < name["box"][0]


def test_a_name_in_two_lines_is_right_of_the_box_in_both(new_page):
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto("/drives/nvme-flash/")
    for name in page.locator("table.runs tbody th[scope=row]").evaluate_all(NAMES):
        assert min(*name["maker"], *name["model"]) > name["box"][1]


def test_the_text_of_an_option_is_right_of_its_box(phone):
    phone.goto("/drives/historical/?within=only")
    phone.locator(".filters > .opener summary").click()
    phone.locator("details[data-pick=vendor] summary").click()
    assert phone.evaluate(MISPLACED) == []
    phone.goto("/drives/nvme-flash/?act=6")
    phone.locator(".filters > .opener summary").click()
    phone.locator("details[data-pick=compressible] summary").click()
    assert phone.evaluate(MISPLACED) == []
    assert phone_faults_of(phone, PHONE["width"]) == {}


def test_the_first_sentences_of_the_headline_are_shown_and_a_line_opens_the_others(phone):
    phone.goto("/drives/cloud/")
    expect(phone.locator("[data-headline]")).to_contain_text("40 results from publications.")
    expect(phone.locator("[data-headline-others]")).to_be_hidden()
    phone.get_by_text("More about these results").click()
    expect(phone.locator("[data-headline-others]")).to_contain_text("5 of 40 results are over a limit of the profile.")
    expect(phone.locator("[data-headline-others]")).to_be_visible()


@pytest.mark.parametrize("path", ["/drives/cloud/", "/drive/intel-p5510-7680gb/"])
def test_one_link_leads_to_the_meanings_of_columns(phone, path):
    phone.goto(path)
    for folded in phone.locator("main details.fold:not([open]):has(table.runs) > summary").all():
        folded.click()
    expect(phone.locator("thead .sign").first).to_be_hidden()
    link = phone.get_by_role("link", name="About the columns")
    expect(link).to_have_attribute("href", "/explain/#columns")
    link.click()
    expect(phone.locator("h2#columns")).to_be_visible()


def test_a_desktop_has_a_sign_in_each_head_and_no_such_link(page):
    page.goto("/drives/cloud/")
    expect(page.locator(".about-columns")).to_be_hidden()
    page.locator("th[data-column=device_tps]").hover()
    expect(page.locator("th[data-column=device_tps] .sign")).to_have_css("opacity", "1")
    expect(page.locator("[data-headline-others]")).to_be_visible()


def test_the_link_of_the_nearest_result_shows_it(phone):
    phone.goto("/drives/nvme-flash/?min_tps=2000000")
    phone.get_by_role("link", name="Speed, at least 1,728,000 tps: show 1 result").click()
    expect(phone.locator("[data-shown] b")).to_have_text("1 of 36 shown.")
    expect(phone.locator("[data-empty]")).to_be_hidden()
    assert phone.url.endswith("?min_tps=1728000")


CODES = """() => [document, ...[...document.querySelectorAll('template[data-heads]')].map(each => each.content)]
  .flatMap(part => [...part.querySelectorAll('th[data-column]:has(a:not(.means))')]).map(head => head.dataset.column)"""


@pytest.mark.parametrize("width", [360, 390])
@pytest.mark.parametrize(
    "path", ["", *(f"{code}/" for code in ("nvme-flash", "nvme-3dxpoint", "sata-sas-flash", "m2-flash", "networked"))]
)
def test_a_table_fits_a_phone_whichever_column_it_is_sorted_by(new_page, path, width):
    page = new_page(viewport={"width": width, "height": 844})
    page.goto(f"/drives/{path}")
    codes = dict.fromkeys(page.evaluate(CODES))
    assert {"tps", "pct_over_1ms"} <= set(codes)
    too_wide = {}
    for code in codes:
        page.goto(f"/drives/{path}?sort=-{code}")
        if (found := page.evaluate("document.documentElement.scrollWidth")) > width:
            too_wide[code] = found
    assert too_wide == {}


@pytest.mark.parametrize(
    ("sort", "group"), [("-device_tps", "c-share"), ("-device_count", "c-share"), ("-total_gb", "c-size")]
)
def test_a_list_opens_on_the_group_of_its_order_unless_that_has_a_column_without_values(phone_page, sort, group):
    phone_page.goto(f"/drives/?category=nvme-flash&sort={sort}")
    assert phone_page.locator(".choose :checked").get_attribute("class") == group


def test_rows_come_before_a_chart_of_fewer_than_three_marks(phone):
    def is_row_first():
        row, chart = (phone.locator(place).first.bounding_box()["y"] for place in ("[id$=-rows] tr", ".chart-speed"))
        return row < chart

    phone.goto("/drives/nvme-flash/?q=sn861")
    expect(phone.locator(".chart-speed svg a")).to_have_count(2)
    assert is_row_first()
    phone.goto("/drives/nvme-flash/?q=dataengine")
    expect(phone.locator(".chart-speed svg a")).to_have_count(3)
    assert not is_row_first()
    phone.locator(".filters > .opener summary").click()
    phone.get_by_label("Search", exact=True).and_(phone.locator("main input")).fill("sn861")
    expect(phone.locator(".chart-speed svg a")).to_have_count(2)
    assert is_row_first()


def test_a_button_of_the_filters_counts_the_results_closes_the_filters_and_moves_to_the_first_row(phone):
    phone.goto("/drives/nvme-flash/")
    phone.locator(".filters > .opener summary").click()
    phone.get_by_label("Speed, at least").fill("1.5M")
    button = phone.get_by_role("button", name="Show 2 results")
    button.click()
    expect(button).to_be_hidden()
    expect(phone.locator("#nvme-flash-rows")).to_be_focused()
    expect(phone.locator("#nvme-flash-rows tr:has(td)").first).to_be_in_viewport()


def test_the_button_moves_to_the_reason_if_there_is_no_result(phone):
    phone.goto("/drives/nvme-flash/")
    phone.locator(".filters > .opener summary").click()
    phone.get_by_label("Speed, at least").fill("90M")
    phone.get_by_role("button", name="Show 0 results").click()
    expect(phone.locator("[data-shown]")).to_be_focused()


def test_the_button_sends_the_filters_without_a_script(new_page):
    page = new_page(viewport=PHONE, java_script_enabled=False)
    page.goto("/drives/nvme-flash/")
    page.locator(".filters > .opener summary").click()
    page.get_by_label("Speed, at least").fill("1500000")
    page.get_by_role("button", name="Show results").click()
    page.wait_for_url("**/?*min_tps=1500000*")
    expect(page.get_by_text("2 of 36 shown.")).to_be_visible()
