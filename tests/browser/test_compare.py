"""Two drives side by side in a real browser: found from their pages, read with the keyboard, at every width."""

import pytest

pytestmark = pytest.mark.browser


def test_two_drives_are_compared_without_script_or_mouse(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/compare/")
    for number, slug in ((1, "gcp-n2-standard-80"), (2, "aws-m5d-24xlarge")):
        page.get_by_label(f"Drive {number}", exact=True).focus()
        page.keyboard.type(slug)
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/?drive=gcp-n2-standard-80&drive=aws-m5d-24xlarge*")
    assert page.get_by_role("heading", level=1).inner_text() in {"Side by side", "Weak comparison", "Not comparable"}


def test_rungs_of_a_ladder_are_chosen_and_compared(page):
    page.goto("/drive/gcp-n2-standard-80/")
    boxes = page.locator("#ladder ~ form input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.locator("#ladder ~ form").first.get_by_role("button", name="Compare selected").click()
    page.wait_for_url("**/compare/?run=*&run=*")
    # Google's rows differ in the number of devices, which is a condition.
    assert "devices" in page.locator(".verdict").inner_text()


def test_a_relaxed_limit_stays_in_the_address(page):
    page.goto("/drive/aws-m5d-24xlarge/")
    over = page.locator(".runs .over").count()
    page.get_by_label("Percent over 1").first.fill("100")
    assert page.locator(".runs .over").count() < over
    assert "limit_1ms=100" in page.url
    page.reload()
    assert page.locator(".runs .over").count() < over


def test_the_ladder_is_drawn_and_read_with_the_keyboard(page):
    page.goto("/drive/gcp-n2-standard-80/")
    plot = page.locator("[data-ladder] .plot").first
    plot.scroll_into_view_if_needed()
    plot.locator("svg.main-svg").first.wait_for()
    plot.focus()
    page.keyboard.press("ArrowRight")
    assert "%" in plot.evaluate("plot => plot.nextElementSibling.textContent")
