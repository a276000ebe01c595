"""What became of a published result, in a real browser: a reviewer marks it, and every visitor sees the mark."""

import pytest

pytestmark = pytest.mark.browser

PHONE = {"width": 320, "height": 640}
NOTE = "The maker has since replaced this firmware."


@pytest.fixture
def reviewer(new_page, credentials):
    page = new_page()
    page.goto("/submissions/review/")
    page.get_by_label("Username").fill(credentials["login"])
    page.get_by_label("Password").fill(credentials["password"])
    page.get_by_role("main").get_by_role("button").click()
    page.wait_for_url("**/submissions/review/")
    return page


@pytest.fixture
def marked_run(reviewer):
    """A published run with an annotation, which is retracted at the end: the other tests see the table as it was."""
    reviewer.goto("/drives/m2-flash/")
    run = reviewer.locator("a[href^='/runs/']").first.get_attribute("href")
    review = f"/review{run}"
    reviewer.goto(review)
    reviewer.get_by_label("Annotation").fill(NOTE)
    reviewer.get_by_role("button", name="Annotate").click()
    yield run
    reviewer.goto(review)
    reviewer.get_by_text("Retract", exact=True).click()
    form = reviewer.locator("form[action$='/retract/']")
    form.get_by_label("Reason").fill("The firmware was not replaced.")
    form.get_by_role("button").click()
    assert reviewer.get_by_text("The annotation is retracted").count() == 1


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_an_annotation_is_read_on_every_page_of_its_run(new_page, assert_accessible, marked_run, colour_scheme):
    page = new_page(viewport=PHONE, color_scheme=colour_scheme)
    for path in (marked_run, "/drives/m2-flash/"):
        page.goto(path)
        assert page.get_by_text(NOTE).first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert_accessible(page)


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_a_reviewers_page_of_a_run_fits_a_phone(reviewer, assert_accessible, marked_run, colour_scheme):
    reviewer.emulate_media(color_scheme=colour_scheme)
    reviewer.set_viewport_size(PHONE)
    reviewer.goto(f"/review{marked_run}")
    assert reviewer.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert_accessible(reviewer)
