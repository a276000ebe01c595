"""Uploads in a real browser: broken connections, a reload, dropped files, and no script."""

import re

import pytest
from django.conf import settings

from tests.browser.page_checks import DESKTOP, PATIENCE_MS, broken_rules, open_context

pytestmark = pytest.mark.browser

LOGS = settings.BASE_DIR / "tests/data/act/6.6"
UPLOAD = re.compile(r"/uploads/\w+/$")
HEADING = "Check the result, then submit it"


@pytest.fixture
def flaky_page(browser, site, signed_in):
    """A page whose requests may fail: new_page() would report them."""
    context = open_context(browser, base_url=site.url, viewport=DESKTOP, storage_state=signed_in)
    yield context.new_page()
    context.close()


def long_log(tmp_path, name):
    """Write a log of 20 MB: a short one, and many lines that are none of ACT."""
    path = tmp_path / name
    path.write_bytes((LOGS / "four-us.log").read_bytes() + name.encode() + b"\n" * 20_000_000)
    return path


def send(page, path):
    page.locator("[name=log]").set_input_files(path)
    page.get_by_role("button", name="Upload and read the log").click()


def test_an_upload_continues_after_broken_connections(flaky_page, tmp_path):
    page, pieces = flaky_page, []

    def break_some(route):
        if route.request.method == "PATCH":
            pieces.append(route.request.headers["upload-offset"])
            if len(pieces) in {2, 4}:
                route.abort()
                return
        route.continue_()

    page.route(UPLOAD, break_some)
    page.goto("/submit/")
    send(page, long_log(tmp_path, "broken.log"))
    page.get_by_role("heading", name=HEADING).wait_for(timeout=PATIENCE_MS)
    assert pieces == ["0", "8388608", "8388608", "16777216", "16777216"]


def test_an_upload_continues_after_a_reload(flaky_page, tmp_path):
    page, path = flaky_page, long_log(tmp_path, "reloaded.log")
    page.goto("/submit/")
    page.route(
        UPLOAD,
        lambda route: route.abort() if route.request.headers.get("upload-offset") == "8388608" else route.continue_(),
    )
    send(page, path)
    page.get_by_text("The connection is broken.").wait_for(timeout=PATIENCE_MS)
    page.reload()
    page.unroute(UPLOAD)  # not before: the page would try again, and the reload break that off
    offsets = []
    page.on(
        "request",
        lambda request: offsets.append(request.headers.get("upload-offset")) if request.method == "PATCH" else None,
    )
    send(page, path)
    page.get_by_role("heading", name=HEADING).wait_for(timeout=PATIENCE_MS)
    assert offsets == ["8388608", "16777216"]


DROP = """files => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  const event = new DragEvent('drop', {dataTransfer: transfer, bubbles: true, cancelable: true});
  document.querySelector('.drop').dispatchEvent(event);
  const {log, companions} = document.querySelector('[data-uploads]').elements;
  return [log, companions].map(field => [...field.files].map(file => file.name));
}"""


def test_dropped_files_fill_the_fields_by_their_names_and_sizes(staff_page):
    staff_page.goto("/submit/")
    files = [
        ["load.jsonl", "x" * 99],
        ["nvme0n1.log", "x" * 50],
        ["act.conf", "x"],
        ["smart.txt", "x"],
        ["notes.txt", "x"],
    ]
    assert staff_page.evaluate(DROP, files) == [["nvme0n1.log"], ["load.jsonl", "act.conf", "smart.txt", "notes.txt"]]


def test_a_refused_upload_shows_the_reason_and_the_form_stays(flaky_page, tmp_path):
    page, empty = flaky_page, tmp_path / "empty.log"
    empty.touch()
    page.goto("/submit/")
    with page.expect_response("**/uploads/") as response:
        send(page, empty)
    assert response.value.status == 400
    assert "The log is empty." in page.get_by_role("alert").inner_text()
    assert page.get_by_role("button", name="Upload and read the log").is_enabled()


def test_without_script_the_form_has_two_steps(new_page, signed_in):
    page = new_page(viewport=DESKTOP, storage_state=signed_in, java_script_enabled=False)
    page.goto("/submit/")
    page.locator("[name=slice_length_s]").fill("10")
    send(page, LOGS / "slow-disk-ms.log")
    page.get_by_role("heading", name=HEADING).wait_for(timeout=PATIENCE_MS)
    for name, value in {"vendor": "Exemplar", "model": "EX4"}.items():
        page.locator(f"[name={name}]").fill(value)
    page.locator("[name=category]").select_option("nvme-flash")
    page.get_by_role("button", name="Submit this result").click()
    page.get_by_role("heading", name="Progress").wait_for(timeout=PATIENCE_MS)


def test_a_preview_breaks_no_rule_of_accessibility(staff_page):
    staff_page.goto("/submit/")
    staff_page.locator("[name=slice_length_s]").fill("10")
    assert broken_rules(staff_page) == []
    send(staff_page, LOGS / "slow-disk-ms.log")
    staff_page.get_by_role("heading", name=HEADING).wait_for(timeout=PATIENCE_MS)
    assert broken_rules(staff_page) == []
    staff_page.set_viewport_size({"width": 320, "height": 800})
    assert staff_page.evaluate("document.documentElement.scrollWidth") <= 320
