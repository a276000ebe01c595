"""Selection of columns and runs in tables of drives: with the script, with a form, and with the keyboard only."""

import re

import pytest

from tests.browser.page_checks import faults_of

pytestmark = pytest.mark.browser

# Returns the differences between the shown table and the server's answer to the address of the page.
DIFFERENCES = r"""async () => {
  while (document.querySelector('[aria-busy=true]')) await new Promise(done => setTimeout(done, 5));
  const answer = await fetch(location.href);
  const server = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const tight = element => element.innerHTML.replace(/>\s+</g, '><').replace(/ checked=""/g, '').trim();
  const all = (page, name, read) => [...page.querySelectorAll(name)].map(read).join('\n');
  const parts = {
    heads: page => all(page, 'table.runs thead th', head => `${head.className.trim()} ${tight(head)}`),
    rows: page => all(page, 'table.runs tbody', tight),
    groups: page => all(page, '.choose', tight),
    boxes: page => all(page, '[data-section]', box => `${box.className} ${box.tabIndex} ${box.getAttribute('role')}`),
    ticked: page => all(page, 'input[name=columns]:checked', field => field.value),
  };
  return Object.keys(parts).filter(name => parts[name](document) !== parts[name](server))
    .map(name => `${name}: browser ${parts[name](document).slice(0, 900)} SERVER ${parts[name](server).slice(0, 900)}`);
}"""


def codes(page):
    return page.locator("table.runs thead th").evaluate_all("heads => heads.map(head => head.dataset.column)")


def open_columns(page):
    page.locator("details.pick", has_text="Columns").locator("summary").click()


def test_a_ticked_column_is_shown_immediately_and_stays_in_the_address(page):
    page.goto("/drives/nvme-flash/")
    open_columns(page)
    page.get_by_label("Speed needs (computed)").check()
    page.locator("th[data-column=needed_dwpd]").wait_for()
    assert "24" in page.locator("table.runs tbody tr:has(td)").first.inner_text()
    assert "columns=" in page.url
    assert "needed_dwpd" in page.url
    assert not page.locator("[data-apply]").is_visible()
    assert page.evaluate(DIFFERENCES) == []


def test_a_column_removed_and_added_again_restores_the_short_address(page):
    page.goto("/drives/nvme-flash/")
    open_columns(page)
    endurance = page.locator("input[name=columns][value=endurance_dwpd]")
    endurance.uncheck()
    page.locator("th[data-column=endurance_dwpd]").wait_for(state="detached")
    assert page.evaluate(DIFFERENCES) == []
    endurance.check()
    page.locator("th[data-column=endurance_dwpd]").wait_for()
    assert page.url.endswith("/drives/nvme-flash/")


@pytest.mark.parametrize(
    "path",
    ["/drives/cloud/?columns=tps~region~zone~tier", "/drives/historical/?columns=tps~storage", "/drives/networked/"],
)
def test_selected_columns_have_the_order_of_the_server(page, path):
    page.goto(path)
    open_columns(page)
    boxes = page.locator("input[name=columns]")
    for place in range(boxes.count()):
        boxes.nth(place).set_checked(place % 2 == 0)
    for _ in range(500):
        if page.evaluate(DIFFERENCES) == []:
            break
        page.wait_for_timeout(50)
    assert page.evaluate(DIFFERENCES) == []
    assert len(codes(page)) > 2


def test_every_column_makes_a_table_that_scrolls_in_its_own_box(page):
    page.goto("/drives/nvme-flash/")
    open_columns(page)
    for box in page.locator("input[name=columns]").all():
        box.check()
    page.locator("th[data-column=firmware]").wait_for()
    assert page.locator("#nvme-flash-table").get_attribute("role") == "region"
    assert page.evaluate(DIFFERENCES) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_default_columns_are_shown_if_none_is_ticked(page):
    page.goto("/drives/m2-flash/")
    usual = codes(page)
    open_columns(page)
    boxes = page.locator("input[name=columns]:checked")
    boxes.evaluate_all("boxes => boxes.forEach(box => box.click())")
    page.wait_for_function("count => document.querySelectorAll('table.runs thead th').length === count", arg=len(usual))
    assert (codes(page), page.url.endswith("/drives/m2-flash/")) == (usual, True)


def test_a_column_is_selected_with_the_keyboard_only(page):
    page.goto("/drives/nvme-flash/")
    page.locator("details.pick", has_text="Columns").locator("summary").focus()
    page.keyboard.press("Enter")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.value") == "firmware":
            break
    page.keyboard.press("Space")
    page.locator("th[data-column=firmware]").wait_for()
    assert page.evaluate("document.activeElement.value") == "firmware"  # the focus stays where it was
    assert "firmware" in page.url


def test_sorting_and_filtering_keep_the_selected_columns(page):
    page.goto("/drives/nvme-flash/?columns=tps~needed_dwpd")
    page.locator("table.runs thead a", has_text="Speed needs").click()
    page.locator("th[data-column=needed_dwpd][aria-sort=descending]").wait_for()
    page.get_by_label("Speed, at least").fill("500000")
    page.wait_for_url("**/?*min_tps=500000*")
    assert codes(page) == ["drive", "tps", "needed_dwpd"]
    assert page.evaluate(DIFFERENCES) == []


def test_columns_are_selected_by_the_button_without_javascript(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/drives/nvme-flash/")
    open_columns(page)
    page.get_by_label("Speed needs (computed)").check()
    page.get_by_role("button", name="Apply").click()
    page.locator("th[data-column=needed_dwpd]").wait_for()


def boxes_of(page):
    return page.locator("table.runs tbody input[name=run]")


def test_three_ticked_runs_are_compared(page):
    page.goto("/drives/nvme-flash/")
    runs = [boxes_of(page).nth(place).get_attribute("value") for place in range(3)]
    for place in range(3):
        boxes_of(page).nth(place).check()
    page.get_by_role("button", name="Compare 3").click()
    page.wait_for_url("**/compare/?*")
    assert re.findall(r"run=([\w-]+)", page.url) == runs
    assert page.locator("h1").inner_text().startswith("SanDisk DC SN861 6.4\N{NO-BREAK SPACE}TB")


def test_a_seventh_run_is_refused_and_the_limit_shown(page):
    page.goto("/drives/nvme-flash/")
    for place in range(6):
        boxes_of(page).nth(place).check()
    boxes_of(page).nth(6).click()
    assert not boxes_of(page).nth(6).is_checked()
    assert page.get_by_text("At most 6 runs can be compared. Clear one first.").count() == 1
    assert page.get_by_role("button", name="Compare 6").count() == 1
    boxes_of(page).nth(0).uncheck()
    boxes_of(page).nth(6).check()
    assert page.get_by_role("button", name="Compare 6").count() == 1


def test_a_single_run_is_not_compared(page):
    page.goto("/drives/nvme-flash/")
    boxes_of(page).first.check()
    page.get_by_role("button", name="Compare selected").click()
    assert page.get_by_text("One run is selected. Tick 2 to 6 runs in the table, then press Compare.").count() == 1
    assert page.url.endswith("/drives/nvme-flash/")


def test_comparing_without_a_selection_says_what_to_do(page):
    page.goto("/drives/nvme-flash/")
    page.get_by_role("button", name="Compare selected").click()
    assert page.get_by_text("No run is selected. Tick 2 to 6 runs in the table, then press Compare.").count() == 1


def test_the_selection_is_kept_when_a_filter_hides_it(page):
    page.goto("/drives/nvme-flash/")
    first = boxes_of(page).first.get_attribute("value")
    boxes_of(page).first.check()
    page.get_by_label("Search", exact=True).fill("intel")
    page.wait_for_url("**/?q=intel")
    second = boxes_of(page).first.get_attribute("value")
    boxes_of(page).first.check()
    page.get_by_label("Search", exact=True).fill("")
    page.locator(f"input[name=run][value={first}]").wait_for()
    assert page.locator(f"input[name=run][value={first}]").is_checked()
    page.get_by_role("button", name="Compare 2").click()
    page.wait_for_url("**/compare/?*")
    assert re.findall(r"run=([\w-]+)", page.url) == [first, second]


def test_all_runs_are_unticked_with_one_button(page):
    page.goto("/drives/nvme-flash/")
    boxes_of(page).nth(0).check()
    boxes_of(page).nth(1).check()
    page.get_by_role("button", name="Clear selection").click()
    assert page.locator("input[name=run]:checked").count() == 0
    assert page.evaluate("document.activeElement.textContent") == "Compare selected"


def test_two_runs_are_compared_with_the_keyboard_only(page):
    page.goto("/drives/nvme-flash/")
    for place in range(2):
        boxes_of(page).nth(place).focus()
        page.keyboard.press("Space")
    page.keyboard.press("Tab")  # the link right after the box
    assert page.evaluate("document.activeElement.textContent") == "Compare 2"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") > 0
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/?run=*&run=*")


def test_ticked_runs_are_compared_without_javascript(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/drives/nvme-flash/")
    for place in range(2):
        boxes_of(page).nth(place).check()
    assert page.get_by_text("Select 2 to 6 runs in the table.").count() == 1
    page.get_by_role("button", name="Compare selected").click()
    page.wait_for_url("**/compare/?*")
    assert len(re.findall(r"run=([\w-]+)", page.url)) == 2
    assert page.locator("h1").inner_text().startswith("SanDisk DC SN861 6.4\N{NO-BREAK SPACE}TB")


def test_runs_of_one_drive_are_ticked_on_its_page(page):
    page.goto("/drive/gcp-n2-standard-80/")
    assert boxes_of(page).count() > 2
    boxes_of(page).nth(0).check()
    boxes_of(page).nth(1).check()
    page.get_by_role("button", name="Compare 2").click()
    page.wait_for_url("**/compare/?run=*&run=*")


@pytest.mark.parametrize("path", ["/drives/nvme-flash/", "/drives/cloud/", "/drives/historical/"])
def test_a_table_with_selected_runs_fits_a_phone(phone_page, path):
    phone_page.goto(path)
    for place in range(2):
        boxes_of(phone_page).nth(place).check()
    phone_page.get_by_role("button", name="Compare 2").wait_for()
    assert faults_of(phone_page, fits=(320,), accessible=(320,)) == {}


def test_the_meaning_of_a_head_is_reached_with_the_keyboard(page):
    page.goto("/drives/nvme-flash/")
    page.locator("table.runs thead a", has_text="Speed per TB").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "What Speed per TB means"
    page.keyboard.press("Enter")
    page.wait_for_url("**/explain/#tps_per_tb")


SMALL_TARGETS = """() => [...document.querySelectorAll('table.runs thead a, table.runs tbody input')]
  .filter(each => each.offsetParent && each.getBoundingClientRect().height < 23.5).map(each => each.outerHTML)"""


@pytest.mark.parametrize("width", [320, 1280])
def test_links_of_heads_and_boxes_are_tall_enough_to_tap(new_page, width):
    page = new_page(viewport={"width": width, "height": 800})
    page.goto("/drives/nvme-flash/")
    assert page.evaluate(SMALL_TARGETS) == []


PAGED = """async () => {
  const {pageOf} = await import('/static/js/drives/order.js');
  const rows = (first, count) => Array.from({length: count}, (_, place) => first + place);
  const tables = [[{title: ['', ''], rows: rows(0, 130)}], [{title: ['', ''], rows: rows(130, 20)}]];
  const count = groups => groups.flatMap(group => group.rows).length;
  const shown = page => tables.map((groups, place) => count(pageOf(groups, page, place ? 130 : 0)));
  return [shown(1), shown(2)];
}"""


def test_the_script_pages_through_tables_as_the_server_does(page):
    page.goto("/drives/historical/")
    assert page.evaluate(PAGED) == [[100, 0], [30, 20]]
