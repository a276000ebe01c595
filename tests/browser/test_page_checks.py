"""The checks of a page: a fault is found even among many elements of the same kind."""

import pytest

from tests.browser.page_checks import broken_rules, faults_of, print_faults_of

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


def test_a_broken_word_is_found_and_a_break_after_a_space_or_a_hyphen_is_none(page):
    style = "style='width: 7em; overflow-wrap: anywhere'"
    show(page, after=f"<p {style}>DataEngine-solid state <code>0123<wbr>4567<wbr>89ab<wbr>cdef</code></p>")
    assert "390 px: broken words" not in faults_of(page, fits=(390,), accessible=())
    show(page, after=f"<p {style}>Unbreakabledata</p>")
    assert faults_of(page, fits=(390,), accessible=())["390 px: broken words"] == ["Unbreakabledata"]


LINK = "<a href='/' style='line-height: 1'>rules</a>"


@pytest.mark.parametrize(
    ("html", "is_small"),
    [
        (f"<p>Read what {LINK} say of it.</p>", False),
        (f"<p>See {LINK}</p>", True),
        (f"<table><tr><td>Read what {LINK} say of it.</td></tr></table>", True),
        ("<p><a href='/' style='display: inline-block; width: 23px; height: 24px'></a></p>", True),
        ("<p><a href='/' style='display: inline-block; width: 24px; height: 24px'></a></p>", False),
        ("<label style='display: block; height: 24px'><input type=checkbox style='height: 9px'> a</label>", False),
        ("<input type=checkbox style='height: 9px'>", True),
        (f"<p style='clip-path: inset(50%)'>{LINK}</p>", False),
        (f"<svg width=9 height=9>{LINK}</svg>", False),
    ],
)
def test_a_target_that_a_finger_misses_is_found_unless_it_is_in_a_sentence(page, html, is_small):
    show(page, after=html)
    assert ("390 px: small targets" in faults_of(page, fits=(390,), accessible=())) is is_small


def test_what_is_wider_than_its_sheet_or_folded_on_paper_is_found(page):
    show(
        page,
        after="<details><summary>a</summary><p style='width: 900px'>b</p></details>"
        "<style>summary {display: none}</style><p class=printed>State of the data: 1 May 2026 (UTC). blank</p>",
    )
    assert sorted(print_faults_of(page, 703, "auto")) == ["print: folded"]
    page.locator("details").evaluate("each => { each.open = true }")
    assert sorted(print_faults_of(page, 703, "auto")) == ["print: cut", "print: wide"]
