"""The page of a log of an old version that is shorter than a slice, at every width and in both themes."""

import pytest
from django.conf import settings

from tests.browser.page_checks import faults_of
from tests.browser.test_submit_a_log import READ_WITHIN_MS, shown_rows, upload, wait_until_read

pytestmark = pytest.mark.browser

OLD_LOG = settings.BASE_DIR / "tests/data/act/5.3/commit-us.log"
TWO_SLICES = settings.BASE_DIR / "tests/data/act/6.5/commit-us.log"


def assert_fits(page):
    wait_until_read(page)
    assert faults_of(page, fits=(320, 390, 1280), accessible=(320,)) == {}


def test_a_log_shorter_than_a_slice_is_read_again_in_other_slices_from_its_page(staff_page):
    upload(staff_page, OLD_LOG, slice_length_s="3600")
    staff_page.get_by_text("shorter than one slice").wait_for(timeout=READ_WITHIN_MS)
    assert_fits(staff_page)
    staff_page.get_by_label("Slice length, s").fill("10")
    staff_page.get_by_role("button", name="Read with this slice length").click()
    staff_page.get_by_text("The log was read in slices of 10").wait_for()
    assert_fits(staff_page)


def test_the_page_of_an_old_run_explains_its_times_at_every_width(staff_page):
    upload(staff_page, OLD_LOG, slice_length_s="3600")
    link = staff_page.locator("a[href^='/runs/']").first
    link.wait_for(timeout=READ_WITHIN_MS)
    wait_until_read(staff_page)
    link.click()
    staff_page.wait_for_url("**/runs/**")
    assert staff_page.get_by_text("time in queue and service").count() > 1
    assert_fits(staff_page)


def test_the_chart_of_few_slices_numbers_each_slice_once(staff_page):
    upload(staff_page, TWO_SLICES, slice_length_s="10")
    shown_rows(staff_page)
    staff_page.locator("a[href^='/runs/']").first.click()
    staff_page.get_by_role("heading", name="Slow reads").scroll_into_view_if_needed()
    assert staff_page.locator(".slice-bars").first.locator(".tick.along").all_text_contents() == ["1", "2"]
    staff_page.get_by_role("button", name="Explore").first.click()
    ticks = staff_page.locator(".js-plotly-plot").first.locator(".xtick")
    ticks.first.wait_for()
    assert ticks.all_text_contents() == ["1", "2"]
