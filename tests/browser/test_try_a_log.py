"""A log tried without an account in a real browser. The register reads at most 10 an hour, and these tests send 10."""

import socket
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from playwright.sync_api import expect

from results.evidence.scratch import PREFIX
from tests.browser.page_checks import PHONE, faults_of, open_context, print_faults_of
from tests.results.builders import wait_for

pytestmark = pytest.mark.browser

LOGS = settings.BASE_DIR / "tests/data/act/6.6"
SLOW, TWO_RUNS = LOGS / "slow-disk-ms.log", LOGS / "two-runs-appended.log"
PORTRAIT = 703  # px of A4 between margins of 12 mm
KIND = "multipart/form-data; boundary=b"
HEAD = f"POST /try/ HTTP/1.1\r\nHost: {{host}}\r\nContent-Type: {KIND}\r\nContent-Length: {{length}}\r\n"
PART = '\r\n--b\r\nContent-Disposition: form-data; name="log"; filename="a.log"\r\n\r\n'


def send(page, path, slice_length_s="10"):
    page.goto("/try/")
    page.get_by_label("Log file").set_input_files(path)
    page.get_by_label("Slice length, s").fill(slice_length_s)
    page.get_by_role("button", name="Read the log").click()


@pytest.mark.parametrize("path", [SLOW, TWO_RUNS], ids=lambda path: path.name)
def test_the_result_fits_is_accessible_and_prints(phone_page, path):
    send(phone_page, path)
    phone_page.get_by_role("heading", name="Result of your log").wait_for()
    assert phone_page.get_by_text("Not stored.").is_visible()
    faults = faults_of(phone_page, fits=(320, 390, 768, 1280), accessible=(320, 1280))
    assert faults | print_faults_of(phone_page, PORTRAIT, kind="auto") == {}
    assert phone_page.locator("svg.slice-bars").first.is_visible()  # also in print


def test_a_log_is_read_without_javascript(new_page):
    page = new_page(java_script_enabled=False, viewport=PHONE)
    send(page, SLOW)
    page.get_by_role("heading", name="Result of your log").wait_for()
    assert page.get_by_text("slice 2 (10-20").count() >= 1
    assert page.locator("svg.slice-bars").count() == 3


def test_the_example_log_is_read_with_one_click(page):
    page.goto("/try/")
    page.get_by_role("button", name="Try the example log").click()
    page.get_by_role("heading", name="Result of your log").wait_for()
    expect(page.locator(".verdict").first).to_contain_text("the test is too short (20 minutes of 24 hours).")


@pytest.fixture
def refused_page(browser, site):
    """A page whose response is an error of the sender, which a browser reports as an error of the page."""
    context = open_context(browser, base_url=site.url)
    yield context.new_page()
    context.close()


def test_a_file_that_is_no_log_leads_back_to_the_form(refused_page, tmp_path):
    page = refused_page
    (tmp_path / "notes.txt").write_text("hello\n")
    send(page, tmp_path / "notes.txt")
    alert = page.get_by_role("alert")
    assert "Reading stopped at line 1. The register stored nothing." in alert.inner_text()
    assert faults_of(page, fits=(320,), accessible=(320, 1280)) == {}
    page.get_by_label("Log file").set_input_files(SLOW)
    page.get_by_label("Slice length, s").fill("10")
    page.get_by_role("button", name="Read the log").click()
    page.get_by_role("heading", name="Result of your log").wait_for()
    page.get_by_label("Slice length, s").fill("20")  # the file is still chosen
    page.get_by_role("button", name="Read the log").click()
    page.get_by_text("Fails in slices of 20 seconds").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Result of your log"


def test_a_broken_connection_is_explained_and_nothing_is_sent_again(refused_page):
    page, uploads = refused_page, []
    page.goto("/try/")
    page.route("**/try/", lambda route: (uploads.append(route.request.method), route.abort("connectionreset")))
    page.get_by_label("Log file").set_input_files(SLOW)
    page.get_by_role("button", name="Read the log").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The connection broke before the result came.")
    expect(page.get_by_role("button", name="Read the log")).to_be_enabled()
    assert uploads == ["POST"]
    page.unroute("**/try/")
    page.route("**/try/", lambda route: route.fulfill(status=502, body="Bad gateway"))
    page.get_by_role("button", name="Read the log").click()
    expect(alert).to_contain_text("The server responded with status 502 and without a result.")
    page.unroute("**/try/")
    page.get_by_label("Slice length, s").fill("10")
    page.get_by_role("button", name="Read the log").click()  # the file is still chosen
    page.get_by_role("heading", name="Result of your log").wait_for()
    expect(alert).to_have_count(0)


def test_a_short_log_without_a_slice_length_has_a_table_and_a_chart(page):
    send(page, SLOW, slice_length_s="")
    page.get_by_text("Choose another slice length").wait_for()
    assert page.locator("table.slices").is_visible()
    assert page.locator("svg.slice-bars").count() == 3


def test_a_file_that_is_too_large_gives_a_page_and_no_broken_connection(refused_page, tmp_path):
    with (tmp_path / "large.log").open("wb") as file:
        file.truncate(90 * 1024**2)
    send(refused_page, tmp_path / "large.log")
    assert "larger than 64" in refused_page.get_by_role("alert").inner_text()


def leftovers():
    return list(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))


def test_nothing_is_left_of_an_upload_whose_connection_is_lost(site):
    address = urlsplit(site.url)
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(f"{HEAD.format(host=address.netloc, length=10_000_000)}{PART}".encode() + b"x" * 1_000_000)
        wait_for(leftovers)
    wait_for(lambda: not leftovers())
