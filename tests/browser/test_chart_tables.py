"""The tables behind the charts of a run in a real browser: made of the points of the charts when they are opened."""

import pytest

from tests.browser.page_checks import faults_of
from tests.browser.test_short_log import TWO_SLICES
from tests.browser.test_submit_a_log import shown_rows, upload

pytestmark = pytest.mark.browser

# Opens a fold with these points, and returns the texts of its table, its markup and its links.
TABLE = """async cell => {
  const {tableBehind} = await import('/static/js/charts/chart-table.js');
  const fold = document.createElement('details');
  fold.innerHTML = '<summary>Table: rate</summary>';
  document.querySelector('main').append(fold);
  const heads = [{text: 'From', unit: 's', meaning: 'elapsed'}, {text: 'Least', unit: '', meaning: 'rate'}];
  let requests = 0;
  tableBehind(fold, '/explain/', async () => {
    requests += 1;
    return {name: 'Rate', heads, rows: [['0', cell], ['60', 'not known']], sentence: '2 lines'};
  });
  for (const isOpen of [true, false, true]) {
    fold.open = isOpen;
    await new Promise(done => setTimeout(done, 60));
  }
  return {
    asked: requests, cells: [...fold.querySelectorAll('tbody td')].map(each => each.textContent),
    rows: [...fold.querySelectorAll('tbody th[scope=row]')].map(each => each.textContent),
    links: [...fold.querySelectorAll('thead a')].map(each => each.getAttribute('href')),
    region: fold.querySelector('[role=region]').getAttribute('aria-label'), said: fold.querySelector('p').textContent,
    markup: fold.querySelectorAll('script, img, b').length,
  };
}"""
REDUCED = """async ([lines, pieces, what]) =>
  (await import('/static/js/charts/chart-table.js')).reducedSentence(lines, pieces, what)"""
FAILS = """async () => {
  const {tableBehind} = await import('/static/js/charts/chart-table.js');
  const fold = document.createElement('details');
  document.querySelector('main').append(fold);
  tableBehind(fold, '/explain/', async () => { throw new Error('The figures of the chart did not load (503)'); });
  fold.open = true;
  await new Promise(done => setTimeout(done, 60));
  return fold.textContent;
}"""


@pytest.mark.parametrize("cell", ["100 to 101", "<b>x</b><img src=x onerror=alert(1)>"])
def test_a_fold_is_filled_once_with_texts_and_links_to_meanings(page, cell):
    page.goto("/explain/")
    result = page.evaluate(TABLE, cell)
    assert (result["asked"], result["markup"], result["said"], result["region"]) == (1, 0, "2 lines", "Rate")
    assert (result["rows"], result["cells"]) == (["0", "60"], [cell, "not known"])
    assert result["links"] == ["/explain/#elapsed", "/explain/#rate"]


OPEN_BEFORE = """async () => {
  const {tableBehind} = await import('/static/js/charts/chart-table.js');
  const fold = document.createElement('details');
  document.querySelector('main').append(fold);
  fold.open = true;
  await new Promise(done => setTimeout(done, 60));
  let requests = 0;
  tableBehind(fold, '/explain/', async () => {
    requests += 1;
    return {name: 'Rate', heads: [{text: 'From', meaning: 'elapsed'}], rows: [['0']], sentence: '1 line'};
  });
  await new Promise(done => setTimeout(done, 60));
  return [requests, fold.querySelectorAll('tbody tr').length];
}"""


def test_a_fold_that_was_opened_before_the_script_came_is_filled_too(page):
    page.goto("/explain/")
    assert page.evaluate(OPEN_BEFORE) == [1, 1]


def test_a_failure_to_load_figures_is_reported(page):
    page.goto("/explain/")
    assert page.evaluate(FAILS) == "The figures of the chart did not load (503)."


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ((288, 1440, "minutes"), "each has the least and the greatest of up to 5 minutes"),
        ((24, 24, "slices"), "one for each of 24 slices"),
        ((288, 86_400, "intervals"), "each has the least and the greatest of up to 300 intervals"),
    ],
)
def test_the_table_states_how_far_it_is_reduced(page, numbers, sentence):
    page.goto("/explain/")
    result = page.evaluate(REDUCED, [*numbers])
    assert result == f"{numbers[0]} lines, the points of the chart: {sentence}. The CSV file has all {numbers[2]}."


def test_the_rates_of_a_run_are_in_a_table_behind_its_chart_that_keys_open(staff_page):
    upload(staff_page, TWO_SLICES, slice_length_s="10")
    shown_rows(staff_page)
    staff_page.locator("a[href^='/runs/']").first.click()
    summary = staff_page.locator("#rate-table summary")
    summary.wait_for()  # a script of the page unfolds the part around it; what is folded takes no focus
    summary.focus()
    staff_page.keyboard.press("Enter")
    rows = staff_page.locator("#rate-table tbody tr")
    rows.first.wait_for()
    assert rows.count() == 2
    assert staff_page.locator("#rate-table thead th").all_inner_texts()[0].split() == ["From", "s"]
    assert staff_page.get_by_text("2 lines, the points of the chart: one for each of 2 slices.").count() == 1
    assert faults_of(staff_page, fits=(320, 1280), accessible=(320, 1280)) == {}
