"""The tables of drives in a real browser: the script answers as the server does, and each user task can be done."""

import json

import pytest
from django.conf import settings

from tests.browser.page_checks import PHONE, SHOWN_WIDTH, faults_of, open_context

pytestmark = pytest.mark.browser

# Applies a query with the script of the page and on the server, and returns the differences of the two pages.
DIFFERENCES = r"""async query => {
  const find = (name, page = document) => page.querySelector(name);
  const anchor = document.createElement('a');
  anchor.href = query;
  find('thead th').append(anchor);
  anchor.click();
  anchor.remove();
  const answer = await fetch(location.pathname + query);
  const server = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const link = page => find('[data-form=html]', page)?.getAttribute('href');
  if (!link(server)) return [`${answer.status}: ${find('.lede', server).textContent}`];
  for (let polls = 0; polls < 4500 && link(document) !== link(server); polls += 1) {
    await new Promise(done => setTimeout(done, 20));
  }
  await new Promise(done => setTimeout(done, 30));
  while (document.querySelector('[aria-busy=true]')) await new Promise(done => setTimeout(done, 5));
  const all = (page, name, read) => [...page.querySelectorAll(name)].map(read).join('\n');
  const tight = element => element.innerHTML.replace(/>\s+</g, '><').trim();
  const parts = {
    address: link,
    'other forms': page => all(page, '[data-form]', line => line.getAttribute('href')),
    shown: page => tight(find('[data-shown]', page)),
    limits: page => find('[data-changes]', page).textContent,
    'what limits do': page => all(page, '[data-over]', said => [said.dataset.over, said.hidden].join()),
    headline: page => find('.lede', page).textContent,
    'nearest result': page => tight(find('[data-nearest]', page)),
    devices: page => all(page, '[data-devices] tbody', tight),
    pages: page => all(page, '[data-pages]', tight),
    picked: page => all(page, '[data-picked]', line => line.textContent),
    'what is hidden': page => all(page, '[data-section], section:not(.prices), [data-empty]', part => part.hidden),
    heads: page => all(page, 'thead th', head => [head.textContent, head.ariaSort].join()),
    'links of heads': page => all(page, 'thead a', head => head.getAttribute('href')),
    rows: page => all(page, 'table.runs tbody', tight),
    'charts shown': page => all(page, '.charted', part => 'noResults' in part.dataset)
      + all(page, '[data-figure]', part => part.hidden),
    charts: page => all(page, '.charted:not([data-no-results]) [data-plot]', tight),
    'words of charts': page => all(page, '.charted:not([data-no-results]) :is(figcaption, .axis-name)', tight),
  };
  return Object.entries(parts).filter(([, read]) => read(document) !== read(server))
    .map(([name, read]) => `${name}: browser ${read(document).slice(0, 900)} SERVER ${read(server).slice(0, 900)}`);
}"""
SORTS = [
    *("drive", "-drive", "tps", "capacity_gb", "-capacity_gb", "pct_over_1ms", "-pct_over_8ms", "pct_over_64ms"),
    *("-endurance_dwpd", "sustained_tps", "-sustained_tps", "needed_dwpd", "-tps_per_tb", "-act_version", "tier"),
]
QUESTIONS = {
    "/drives/nvme-flash/": [
        "?",
        *(f"?sort={sort}" for sort in SORTS),
        *(f"?limit_1ms={limit}" for limit in ("0", "0.6", "4.5", "5.00", "100", "4.999999999")),
        *(
            f"?q={query}"
            for query in (
                "wd",
                "P4610",
                "p4611",
                "p4x10",
                "o4610",
                "optane",
                "westren+sn640",
                "6.4+tb",
                "zzzz",
                "%3Cb%3E",
            )
        ),
        *(f"?compressible={choice}" for choice in ("yes", "no", "unstated", "yes~unstated")),
        *(f"?capacity={band}" for band in ("to-1tb", "1-to-2tb", "2-to-4tb~over-8tb", "unstated")),
        "?vendor=intel~micron&min_tps=300000",
        "?min_tps=500000&max_1ms=3",
        "?min_tps=300,000&min_dwpd=1.3",
        "?act=5~6&tier=published&historical=include&sort=-act_version",
        "?limit_1ms=4.5&limit_64ms=0.001&within=only",
        "?within=only&limit_8ms=0&q=wd&vendor=western-digital",
        *("?min_tps=500000&limit_1ms=3&within=only", "?within=only", "?limit_1ms=0&limit_8ms=0&limit_64ms=0"),
        "?over_provisioned=yes",
        *(f"?over_rating={choice}" for choice in ("yes", "no~unstated")),
        *("?min_tb=6&max_tb=8", "?min_tb=6.4&max_tb=6.4&sort=capacity_gb", "?max_tb=0.001", "?min_tb=800%20GB"),
        *("?min_tps=2M&max_1ms=1", "?min_tps=2M&vendor=intel", "?min_tb=20", "?min_dwpd=20&max_1ms=0.1", "?q=7400"),
        *("?min_tps=1M", "?min_tps=0500k&max_1ms=3%25", "?pcie=unstated", "?limit_1ms=4.50%25"),
        "?min_tps=99999999",
        "?withdrawn=include&superseded=include",
        *("?threshold=8ms", "?threshold=64ms&limit_64ms=0.01&min_tps=300000", "?statistic=worst-slice"),
        *(
            "?columns=tps~firmware",
            "?columns=tps~firmware&sort=-tps",
            "?columns=needed_dwpd&limit_1ms=2",
            "?sort=drive",
        ),
    ],
    "/drives/cloud/": [
        *("?", "?provider=gcp", "?sole_tenant=yes~unstated", "?devices=1~24&sort=drive", "?sort=sole_tenant"),
        *("?historical=include&limit_1ms=13", "?q=amazon&sort=-storage", "?provider=aws~azure&devices=1&max_8ms=0"),
        *("?limit_1ms=13&within=only", "?limit_1ms=0.5&within=only&devices=1"),
        *("?sort=-device_tps", "?min_device_tps=177000", "?min_tb=0.6&max_tb=0.6", "?columns=device_tps~storage"),
        *(
            "?provider=aws",
            "?provider=aws&sort=-device_tps",
            "?provider=aws&sort=-device_tps&limit_1ms=4",
            "?devices=1~4&limit_1ms=13",
            "?q=n2-standard-16",
        ),
        *("?provider=aws&min_tps=600000", "?provider=azure&devices=2", "?max_1ms=0.001", "?sole_tenant=yes&max_8ms=0"),
    ],
    "/drives/": [
        *("?", "?sort=-tps", "?sort=-device_tps", "?sort=device_count", "?sort=drive&historical=include"),
        "?devices=1~24~unstated",
        *("?min_device_tps=500000&limit_1ms=3&within=only", "?category=cloud~networked&sort=device_tps", "?q=nosuch"),
        "?category=nvme-3dxpoint~nvme-flash~sata-sas-flash~m2-flash&min_device_tps=500000&limit_1ms=3&within=only",
        "?columns=category~storage~device_tps~tier&limit_1ms=0.5&superseded=include",
        *(
            "?min_dwpd=3",
            "?min_dwpd=3&columns=tps",
            "?sort=-total_gb",
            "?min_tb=3.6&max_tb=3.6",
            "?columns=total_gb~tps",
        ),
    ],
    "/drives/historical/": [
        *("?", "?vendor=intel", "?q=p3700", "?sort=drive&limit_1ms=2", "?min_tps=9999999", "?capacity=unstated"),
    ],
    "/drives/networked/": ["?protocol=rocev2~nvme-of", "?sort=-backing_device", "?q=kumoscale"],
    "/drives/nvme-3dxpoint/": ["?sort=pct_over_256us", "?sort=-pct_over_512us", "?pcie=4.0", "?limit_1ms=0.05"],
}


@pytest.mark.parametrize("path", QUESTIONS)
def test_the_script_answers_every_query_as_the_server_does(page, path):
    page.goto(path)
    answers = {query: page.evaluate(DIFFERENCES, query) for query in QUESTIONS[path]}
    assert {query: difference for query, difference in answers.items() if difference} == {}


def names(page):
    return page.locator("table.runs tbody th[scope=row] a").all_inner_texts()


def test_a_drive_for_500000_tps_under_3_percent_over_1_ms_is_found_by_the_form(page):
    page.goto("/drives/nvme-flash/")
    page.get_by_label("Speed, at least").fill("500000")
    page.get_by_label("Over 1 ms, at most").fill("3")
    page.get_by_text("5 of 36 shown.").wait_for()
    assert names(page) == ["DC SN861", "DC SN861", "DataEngine", "Ultrastar DC SN840", "DataEngine"]
    assert page.url.endswith("/drives/nvme-flash/?min_tps=500000&max_1ms=3")
    page.reload()
    assert len(names(page)) == 5


def test_the_same_drive_is_found_without_javascript(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/drives/nvme-flash/")
    page.get_by_label("Speed, at least").fill("500000")
    page.get_by_label("Over 1 ms, at most").fill("3")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**/?*min_tps=500000*")
    assert len(names(page)) == 5
    assert page.locator("input[name=min_tps]").input_value() == "500000"


def test_a_relaxed_limit_judges_every_row_again(page):
    page.goto("/drives/cloud/")
    assert page.locator("table.runs .over").count() == 5
    page.get_by_label("Percent over 1 ms").fill("13")
    page.get_by_text("With your limits, 40 of 40 pass; 5 that fail the profile pass").wait_for()
    assert page.locator("table.runs .over").count() == 0
    assert page.url.endswith("?limit_1ms=13")


def test_the_effect_of_limits_is_stated_before_and_after_they_hide_rows(page):
    page.goto("/drives/cloud/?limit_1ms=13")
    assert page.get_by_text("(results over them are flagged):").is_visible()
    page.get_by_text("More filters").click()
    page.get_by_label("only within the limits").check()
    page.get_by_text("(results over them are hidden):").wait_for()
    assert not page.get_by_text("(results over them are flagged):").is_visible()
    page.get_by_text("With your limits, 40 of 40 pass; 5 that fail the profile pass").wait_for()
    said = page.locator(".lede").inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "0 of 40 results are over one of your limits: at most 13 % over 1 ms" in said


def test_a_limit_typed_in_the_list_of_all_categories_is_applied_immediately(page):
    page.goto("/drives/")
    page.get_by_label("Percent over 1 ms").fill("4")
    page.get_by_text("With your limits").wait_for()
    assert (
        page.locator("th[data-column=pct_over_1ms] .u").inner_text().replace("\N{NO-BREAK SPACE}", " ") == "limit 4 %"
    )
    assert page.url.endswith("/drives/?limit_1ms=4")


def test_a_limit_that_is_not_a_percentage_is_marked_and_changes_nothing(page):
    page.goto("/drives/cloud/")
    page.get_by_label("Percent over 1 ms").fill("much")
    assert page.get_by_label("Percent over 1 ms").get_attribute("aria-invalid") == "true"
    assert page.locator("table.runs .over").count() == 5


def test_a_filter_is_set_with_the_keyboard_only(page):
    page.goto("/drives/nvme-flash/")
    page.locator("[data-pick=vendor] summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.get_by_text("hidden for 2 reasons").wait_for()
    assert "vendor=" in page.url
    page.get_by_role("link", name="Show all").focus()
    page.keyboard.press("Enter")
    page.get_by_text("36 of 36 shown.").wait_for()
    assert page.evaluate("document.activeElement.hasAttribute('data-shown')")


def test_a_head_sorts_with_the_keyboard_and_keeps_the_focus(page):
    page.goto("/drives/nvme-flash/")
    page.locator("table.runs thead a", has_text="Speed per TB").focus()
    page.keyboard.press("Enter")
    page.locator("th[data-column=tps_per_tb][aria-sort=descending]").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Speed per TB"


@pytest.mark.parametrize(
    "address", ["/drives/nvme-flash/?vendor=intel&limit_1ms=3", "/search/?q=p4611", "/drive/nosuch/"]
)
def test_a_filtered_page_breaks_no_rule_of_accessibility(browser, site, address):
    context = open_context(browser, base_url=site.url)
    page = context.new_page()
    page.goto(address)
    assert faults_of(page, fits=(), accessible=(1280,)) == {}
    context.close()


@pytest.mark.parametrize(
    "address", ["/drives/nvme-flash/?q=wd&min_tps=1&limit_1ms=3", "/search/?q=wd", "/drive/nosuch/"]
)
def test_a_filtered_page_fits_a_phone(browser, site, address):
    context = open_context(browser, base_url=site.url, viewport=PHONE)
    page = context.new_page()
    page.goto(address)
    assert page.evaluate(SHOWN_WIDTH) <= PHONE["width"]
    context.close()


@pytest.mark.parametrize("query", ["?min_tps=500000&max_1ms=3", "?vendor=intel&sort=drive", "?min_tps=99999999"])
def test_a_large_register_shows_the_servers_answer_before_its_data_file_is_loaded(page, query):
    held = []
    page.route("**/drives/rows.json", lambda route: held.append(route))  # noqa: PLW0108 - a method cannot be marked
    page.goto("/drives/nvme-flash/")
    page.evaluate("() => { document.querySelector('form[data-drives]').dataset.queriesServer = ''; }")
    with page.expect_request("**/drives/rows.json"):
        assert page.evaluate(DIFFERENCES, query) == []
    with page.expect_response("**/drives/rows.json"):
        held.pop().continue_()
    assert page.evaluate(DIFFERENCES, "?limit_1ms=0.6") == []


HOSTILE = """async text => {
  const {decode} = await import('/static/js/drives/column-store.js');
  const {bodies} = await import('/static/js/drives/rows.js');
  const said = {words: [text], codes: [0]}, nothing = {words: [], codes: [-1], values: []};
  const names = ['vendor', 'model', 'outcome', 'source', 'notes', 'tier', 'tps'];
  const columns = Object.fromEntries(names.map(name => [name, said])), query = {limits: new Map(), ownLimits: []};
  Object.assign(columns, {endurance_dwpd: nothing, device_count: nothing, device_gb: nothing, statistic: said});
  Object.assign(columns, {capacity_gb: nothing, storage: said, historical: nothing});
  Object.assign(columns, {visibility: {words: ['public'], codes: [0]}});
  const shelf = decode({count: 1, run: ['r-1'], product: ['x'], remarks: {0: [['annotation', text, '']]}, columns});
  const kinds = {drive: 'drive', source: 'text', notes: 'notes', tier: 'tier', tps: 'speed'};
  const shown = Object.entries(kinds).map(([code, kind]) => ({code, kind, group: 'ev'}));
  const table = document.createElement('table');
  table.innerHTML = bodies(shelf, shown, [{title: [text, text], rows: [0]}], query, true);
  return [table.querySelectorAll('script, img, i').length, table.textContent.split(text).length - 1];
}"""


@pytest.mark.parametrize(
    "text", ['"><script>alert(1)</script>', "<img src=x onerror=alert(1)>", "<i>a</i>'&amp;", "\u202eabc"]
)
def test_no_text_of_the_data_file_is_rendered_as_markup(page, text):
    page.goto("/drives/m2-flash/")
    assert page.evaluate(HOSTILE, text) == [0, 11]


GOLDEN = """async ([{data, groups, columns, limits}, golden]) => {
  const {decode} = await import('/static/js/drives/column-store.js');
  const {bodies} = await import('/static/js/drives/rows.js');
  const {sections} = JSON.parse(document.getElementById('drives-page').textContent);
  const category = {code: 'category', kind: 'category', group: 'size', labels: {'nvme-flash': 'NVMe flash'}};
  const known = [...sections[0].columns, category];
  const shown = columns.map(code => known.find(column => column.code === code));
  const ownLimits = Object.entries(limits).map(([us, percent]) => [`limit_${us / 1000}ms`, percent]);
  const query = {limits: new Map(Object.entries(limits)), ownLimits};
  const [written, wanted] = [bodies(decode(data), shown, groups, query, true), golden].map(text => {
    const table = document.createElement('table');
    table.innerHTML = text;
    return table.innerHTML.replace(/>\\s+</g, '><');
  });
  return [written, wanted];
}"""


LINES_OF_NAMES = """() => [...document.querySelectorAll('.runs tbody th[scope=row]')].map(cell => {
  const range = document.createRange();
  const bottoms = () => [...range.getClientRects()].filter(box => box.width > 4).map(box => box.bottom);
  const count = () => bottoms().sort((a, b) => a - b)
    .filter((bottom, place, all) => !place || bottom - all[place - 1] > 8).length;
  const lines = each => { range.selectNodeContents(each); return count(); };
  const words = [...cell.querySelectorAll('.nowrap')].map(lines);
  const link = cell.querySelector('a'), vendor = cell.querySelector('.vendor');
  range.setStart(vendor, 0); range.setEnd(link, link.childNodes.length);
  return [cell.innerText, count(), Math.max(1, ...words)];
}).filter(([, name, word]) => name > 2 || word > 1)"""


@pytest.mark.parametrize("path", ["/drives/", "/drives/cloud/", "/drives/nvme-flash/", "/drives/nvme-3dxpoint/"])
@pytest.mark.parametrize("width", [1280, 1366])
def test_a_name_takes_at_most_two_lines_and_breaks_at_blanks(new_page, path, width):
    page = new_page(viewport={"width": width, "height": 900})
    page.goto(path)
    assert page.evaluate(LINES_OF_NAMES) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_script_writes_rows_as_in_the_golden_file_that_the_server_is_tested_with(page):
    page.goto("/drives/nvme-flash/")
    case, golden = (settings.BASE_DIR / f"tests/data/drive_rows.{ending}" for ending in ("json", "html"))
    written, wanted = page.evaluate(GOLDEN, [json.loads(case.read_text()), golden.read_text()])
    assert written == wanted
