"""The measures of accounts in a small form, on one register; `make measure-accounts` runs them in full."""

import pytest
from account_measures import (
    cut_uploads,
    database_dump,
    hostile_files,
    one_submission,
    response_times,
    sign_in,
    verdict_time,
)
from account_measures.site import Site
from playwright.sync_api import sync_playwright

from tests.chromium import CHROMIUM
from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data
from tests.results.builders import LOGS

pytestmark = [pytest.mark.browser, pytest.mark.long]
MB = 1_000_000


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    register = Register(tmp_path_factory.mktemp("measured") / "var", UPLOAD_MAX_BYTES=str(32 * MB), **WITHOUT_SNAPSHOTS)
    copy_prepared_data(tmp_path_factory, register.data_dir)
    register.start_and_wait()
    yield Site(register)
    register.end()


@pytest.fixture
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, site):
    """A page in which vera is signed in; the script of tus-js-client may run there."""
    context = browser.new_context(bypass_csp=True)
    cookies = site.browser_of("vera").session.cookies
    context.add_cookies([{"name": each.name, "value": each.value, "url": site.url} for each in cookies])
    return context.new_page()


def missed(rows):
    return [f"{row.measure}: {row.found}" for row in rows if not row.is_met]


def test_a_log_is_one_submission_however_often_it_is_sent(site):
    assert missed(one_submission.measure(site, at_once=50, lost=20)) == []


def test_an_upload_over_a_connection_that_is_cut_arrives_complete_and_once(site, page, tmp_path):
    log = cut_uploads.write_log(tmp_path / "load.log", 12 * MB)
    assert missed(cut_uploads.measure(site, page, log, 4 * MB)) == []


def test_the_time_to_the_verdict_of_a_log_is_measured(site, page):
    (row,) = verdict_time.measure(site, page, [LOGS / "slow-disk-ms.log"])
    assert "1 times" in row.found


def test_hostile_files_are_refused_or_read_within_little_memory(site, page):
    assert missed(hostile_files.measure(site, page, bomb_bytes=150 * MB, flood_bytes=40 * MB)) == []


def test_response_times_reveal_nothing(site):
    # Few pairs on a busy machine prove no equality, but a difference beyond what is allowed would show.
    found = list(response_times.measure(site, pairs=16))
    assert [row.measure for row, difference in found if "delay" not in row.measure and difference.is_outside] == []
    assert len(found) > 10


def test_the_interval_of_the_median_is_that_of_order_statistics():
    differences = [(number / 100, 0.0) for number in range(1, 101)]
    assert response_times.difference_of(differences) == response_times.Difference(370.0, 640.0, 5.0)


def test_a_planted_delay_is_detected():
    pairs = [(0.010 + number % 7 / 10_000, 0.010) for number in range(400)]
    assert response_times.difference_of(pairs).is_within
    delayed = response_times.difference_of([(known + response_times.PLANTED_S, other) for known, other in pairs])
    assert delayed.is_detected
    assert delayed.is_outside


def test_wrong_passwords_sessions_and_tokens_end(site, browser):
    assert missed(sign_in.measure(site, browser.new_page())) == []


def test_a_dump_of_the_database_has_no_usable_secret(site):
    assert missed(database_dump.measure(site)) == []
