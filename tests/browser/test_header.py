"""The header of every page: its search, its navigation, the menu of narrow screens, and how high links are."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import DESKTOP, SHOWN_WIDTH, faults_of

pytestmark = pytest.mark.browser

NARROW = {"width": 390, "height": 844}
MAIN = "nav[aria-label=Main]"
LOW_LINKS = """() => [...document.querySelectorAll(
  '.mast :is(a, summary, button), .foot a, .ways a, .found-texts a, .also-found a, .categories a, .opener summary')]
  .filter(each => each.checkVisibility() && each.getBoundingClientRect().height < 24).map(each => each.textContent)"""


def header_height(page):
    return page.locator(".mast").bounding_box()["height"]


OTHERS = [
    *("Cloud", "News", "Fleet check", "YCSB", "Try your log", "Submit", "Explain", "Rules", "About", "Lab", "Sign in")
]
ONLY_IN_MENU = {"YCSB", "Rules", "Lab"}  # and in the footer


def names_in(page, group):
    links = page.locator(MAIN).get_by_role("group", name=group).get_by_role("link")
    return [link.inner_text() for link in links.all()]


def test_the_navigation_names_the_tasks_first_and_then_every_other_part_of_the_site(page):
    page.goto("/")
    assert names_in(page, "Tasks") == ["Drives", "Compare", "Sizing", "Claims"]
    assert names_in(page, "Other pages") == [name for name in OTHERS if name not in ONLY_IN_MENU]
    footer = page.locator(".foot").get_by_role("link")
    assert {"Try your log", *ONLY_IN_MENU} <= set(footer.all_inner_texts())


@pytest.mark.parametrize("width", [1024, 1099, 1100, 1280])
def test_the_link_to_try_a_log_is_on_every_screen(new_page, width):
    page = new_page(viewport={"width": width, "height": 844})
    page.goto("/about/")
    menu = page.locator(".menu summary")
    if menu.is_visible():
        menu.click()
    page.locator(MAIN).get_by_role("link", name="Try your log").click()
    page.wait_for_url("**/try/")


def test_the_navigation_leads_from_home_to_the_table_of_all_drives(page):
    page.goto("/")
    page.locator(MAIN).get_by_role("link", name="Drives").click()
    page.wait_for_url("**/drives/")


CURRENT = "[aria-current=page]"
SECTIONS = {
    "/": "Drivecert", "/drives/": "Drives", "/drives/nvme-flash/": "Drives", "/check/": "Fleet check",
    "/try/": "Try your log", "/sizing/": "Sizing",
}  # fmt: skip


@pytest.mark.parametrize("path", SECTIONS)
def test_the_header_marks_the_current_page(page, path):
    page.goto(path)
    expect(page.locator(f".mast {CURRENT}")).to_have_text(SECTIONS[path])


def test_the_tasks_look_more_important_than_the_other_pages(page):
    page.goto("/compare/")
    style = "each => [parseFloat(getComputedStyle(each).fontSize), Number(getComputedStyle(each).fontWeight)]"
    task, other = (page.locator(MAIN).get_by_role("link", name=name).evaluate(style) for name in ("Sizing", "News"))
    assert all(figure > smaller for figure, smaller in zip(task, other, strict=True))


def test_the_menu_of_a_phone_has_the_tasks_above_all_other_pages(new_page):
    page = new_page(viewport=NARROW)
    page.goto("/about/")
    page.locator(".menu summary").click()
    assert names_in(page, "Tasks") == ["Drives", "Compare", "Sizing", "Claims"]
    assert names_in(page, "Other pages") == OTHERS
    assert "Cloud" in names_in(page, "Other pages")  # the row of a wide screen has no room for it
    groups = [page.locator(MAIN).get_by_role("group", name=name) for name in ("Tasks", "Other pages")]
    tasks, others = (group.bounding_box() for group in groups)
    assert tasks["y"] + tasks["height"] <= others["y"]


def test_a_search_begins_in_the_header(page):
    page.goto("/about/")
    field = page.get_by_label("Search the site")
    field.fill("dwpd")
    field.press("Enter")
    page.wait_for_url("**/search/?q=dwpd")
    page.locator(".found-texts").get_by_role("link", name="DWPD", exact=True).click()
    page.wait_for_url("**/explain/glossary/#what-is-rated-dwpd")


def test_a_narrow_screen_links_to_the_search(new_page):
    page = new_page(viewport=NARROW)
    page.goto("/")
    expect(page.get_by_label("Search the site")).to_be_hidden()
    page.get_by_role("banner").get_by_role("link", name="Search").click()
    page.wait_for_url("**/search/")
    expect(page.get_by_label("Search the register")).to_be_focused()


@pytest.mark.parametrize("has_script", [True, False])
def test_the_theme_is_offered_only_with_the_script_that_changes_it(new_page, has_script):
    page = new_page(viewport=DESKTOP, java_script_enabled=has_script)
    page.goto("/about/")
    expect(page.get_by_role("button", name="Dark")).to_be_visible(visible=has_script)


@pytest.mark.parametrize("width", [320, 360, 390, 768, 1024, 1099, 1100, 1239, 1240, 1280])
@pytest.mark.parametrize("is_touched", [True, False])
def test_the_header_is_one_line(new_page, width, is_touched):
    page = new_page(viewport={"width": width, "height": 844}, has_touch=is_touched, is_mobile=is_touched)
    for path in ("/about/", "/try/"):  # the second one marks the longest name
        page.goto(path)
        assert header_height(page) < 60
        assert page.evaluate(SHOWN_WIDTH) <= width


@pytest.mark.parametrize("has_script", [True, False])
def test_the_menu_opens_and_closes_by_keyboard(new_page, has_script):
    page = new_page(viewport=NARROW, java_script_enabled=has_script)
    page.goto("/")
    link = page.locator(MAIN).get_by_role("link", name="Sizing")
    expect(link).to_be_hidden()
    page.locator(".menu summary").focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Drives"
    if has_script:
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.textContent") == "Menu"
    else:
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
    expect(link).to_be_hidden()


def test_escape_in_the_page_leaves_the_menu_open(new_page):
    page = new_page(viewport=NARROW)
    page.goto("/search/")
    page.locator(".menu summary").click()
    page.locator("main input[type=search]").focus()
    page.keyboard.press("Escape")
    expect(page.locator(".menu")).to_have_attribute("open", "")


def test_a_wide_screen_has_no_menu(page):
    page.goto("/")
    expect(page.locator(".menu")).to_be_hidden()
    expect(page.locator(MAIN)).to_be_visible()


def test_an_open_menu_fits_and_breaks_no_rule_of_accessibility(phone_page):
    phone_page.goto("/about/")
    phone_page.locator(".menu summary").click()
    assert faults_of(phone_page, fits=(320, 390), accessible=(320,)) == {}


@pytest.mark.parametrize(
    "path", ["/", "/drives/nvme-flash/", "/search/?q=micron", "/search/?q=worst+slice", "/sizing/"]
)
def test_links_of_a_phone_are_24_px_high(new_page, path):
    page = new_page(viewport=NARROW)
    page.goto(path)
    page.locator(".menu summary").click()
    assert page.evaluate(LOW_LINKS) == []


@pytest.mark.parametrize("path", ["/search/", "/search/?q=micron", "/search/?q=dwpd"])
def test_the_search_fits_and_breaks_no_rule_of_accessibility(new_page, path):
    page = new_page(viewport=DESKTOP)
    page.goto(path)
    assert faults_of(page, fits=(320, 390, 1280), accessible=(320, 1280)) == {}


NAMES_OF = "field => [...field.list.options].map(option => option.value)"
CHOOSE = """(field, name) => {
  field.value = name;
  field.dispatchEvent(new InputEvent('input', {inputType: 'insertReplacementText', bubbles: true}));
}"""  # what a browser sends when a reader chooses a name of the list


def test_a_search_field_offers_names_and_a_chosen_one_opens_its_page(page):
    page.goto("/about/")
    field = page.locator("#find-q")
    with page.expect_response("**/search/names.json?q=sn861"):
        field.press_sequentially("sn861")
    page.wait_for_function(f"() => ({NAMES_OF})(document.querySelector('#find-q')).length > 0")
    names = field.evaluate(NAMES_OF)
    assert all("SN861" in name for name in names)
    field.evaluate(CHOOSE, names[0])
    page.wait_for_url("**/drive/sandisk-dc-sn861-*/")


def test_a_name_that_was_typed_in_full_is_searched_for_only_on_request(page):
    page.goto("/search/")
    field = page.locator("#search-q")
    with page.expect_response("**/search/names.json?q=glossary"):
        field.press_sequentially("glossary")
    page.wait_for_function(f"() => ({NAMES_OF})(document.querySelector('#search-q')).includes('Glossary')")
    with page.expect_response("**/search/names.json?q=Glossary"):
        field.fill("Glossary")
    assert page.url.endswith("/search/")
    field.press("Enter")
    page.wait_for_url("**/search/?q=Glossary")
