"""The checks of a page: a fault is found even among many elements of the same kind."""

import pytest

from tests.browser.page_checks import broken_rules, faults_of

pytestmark = pytest.mark.browser

STYLE = """body {color: #222; background: #fff} .pale {color: #aaa} td {position: relative}
@media (prefers-color-scheme: dark) {body {color: #eee; background: #111} .dim {color: #444}}"""
CELL, ROWS_COUNT = "<td>1.00</td>", 40


def show(page, row="", after=""):
    rows = [CELL * 5] * (ROWS_COUNT // 2) + [row or CELL] + [CELL * 5] * (ROWS_COUNT // 2)
    body = "".join(f"<tr><th scope=row>{number}</th>{row}</tr>" for number, row in enumerate(rows))
    table = f"<table><tr>{'<th scope=col>a</th>' * 6}</tr>{body}</table>"
    page.set_content(
        f"<!doctype html><html lang=en><title>t</title><style>{STYLE}</style><main><h1>t</h1>{table}{after}</main>"
    )


@pytest.mark.parametrize(
    ("row", "broken"),
    [
        ("", []),
        ("<td class=pale>1.00</td>", ["color-contrast"]),
        ("<td style='color: #999'>1.00</td>", ["color-contrast"]),
        ("<td style='background: #444'>1.00</td>", ["color-contrast"]),
        ("<td style='background: #444'><span>1.00</span></td>", ["color-contrast"]),
        ("<td style='opacity: .4'>1.00</td>", ["color-contrast"]),
        ("<td><span class=pale>1.00</span></td>", ["color-contrast"]),
        ("<td><b><i class=pale>1.00</i></b></td>", ["color-contrast"]),
        ("<td><img src='data:,'></td>", ["image-alt"]),
    ],
)
def test_one_cell_among_many_that_differ_from_it_is_found(page, row, broken):
    show(page, row)
    assert [rule for rule, _ in broken_rules(page)] == broken


def test_two_of_many_identical_cells_are_listed(page):
    show(page, "<td class=pale>1.00</td>" * 5)
    assert [len(elements) for _, elements in broken_rules(page)] == [2]


def test_a_kind_of_element_whose_first_is_not_visible_is_checked_too(page):
    show(
        page,
        after="<details><summary>More</summary><p class=pale>Out of sight.</p></details><p class=pale>In sight.</p>",
    )
    assert [rule for rule, _ in broken_rules(page)] == ["color-contrast"]


def test_a_colour_fault_of_one_theme_is_listed_for_it_and_other_faults_once(page):
    show(page, "<td class=dim>1.00</td>", after="<img src='data:,'>")
    faults = faults_of(page, fits=(1280,), accessible=(320, 1280))
    found = {look: [rule for rule, _ in broken] for look, broken in faults.items()}
    widths = (320, 1280)
    assert found == {f"light, {width} px: broken": ["image-alt"] for width in widths} | {
        f"dark, {width} px: broken": ["color-contrast"] for width in widths
    }


def test_a_link_recognisable_only_by_its_colour_is_listed_for_the_theme_that_shows_it(page):
    look = "<style>p a {text-decoration: none; color: #005fcc}@media (prefers-color-scheme: dark) {p a {color: #ccc}}"
    show(page, after=f"{look}</style><p>Read what <a href='/'>the rules</a> say of it before you send a log.</p>")
    faults = faults_of(page, fits=(), accessible=(1280,))
    assert [rule for rule, _ in faults.get("dark, 1280 px: broken", [])] == ["link-in-text-block"]
