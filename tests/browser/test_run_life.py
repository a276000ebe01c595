"""Annotations of a published result in a real browser: a reviewer adds one, and every visitor sees it."""

import pytest

from tests.browser.page_checks import PHONE, faults_of

pytestmark = pytest.mark.browser

NOTE = "The maker has since replaced this firmware."
PURGED_WITHIN_S = 60


@pytest.fixture
def reviewer(new_page, signed_in):
    return new_page(viewport=PHONE, storage_state=signed_in)


@pytest.fixture
def marked_run(reviewer):
    """A published run with an annotation, which is retracted at the end: the other tests see the table as it was."""
    reviewer.goto("/drives/m2-flash/")
    run = reviewer.locator("a[href^='/runs/']").first.get_attribute("href")
    review = f"/review{run}"
    reviewer.goto(review)
    reviewer.get_by_label("Annotation").fill(NOTE)
    reviewer.get_by_role("button", name="Annotate").click()
    reviewer.get_by_text("Retract", exact=True).wait_for()
    yield run
    reviewer.goto(review)
    reviewer.get_by_text("Retract", exact=True).click()
    form = reviewer.locator("form[action$='/retract/']")
    form.get_by_label("Reason").fill("The firmware was not replaced.")
    form.get_by_role("button").click()
    reviewer.get_by_text("The annotation is retracted").wait_for()


def is_read(page, path):
    """Whether the note is on a page; a snapshot of before may answer for up to a minute."""
    for _ in range(PURGED_WITHIN_S):
        page.goto(path)
        if page.get_by_text(NOTE).first.is_visible():
            return True
        page.wait_for_timeout(1000)
    return False


def test_an_annotation_is_shown_on_every_page_of_its_run(phone_page, marked_run):
    for path in (marked_run, "/drives/m2-flash/"):
        assert is_read(phone_page, path)
        assert faults_of(phone_page, fits=(320,), accessible=(320,)) == {}, path


def test_the_review_page_of_a_run_fits_a_phone(reviewer, marked_run):
    reviewer.goto(f"/review{marked_run}")
    assert faults_of(reviewer, fits=(320,), accessible=(320,)) == {}
