"""Headless Chromium of this machine with a whole register that has servers of its own."""

import os

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.page_checks import DESKTOP, PATIENCE_MS, PHONE, open_context
from tests.chromium import CHROMIUM
from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data

QUIET_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Only this machine can be reached, so a request to any other address fails and is reported.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")
def site(tmp_path_factory):
    """A register as `make run` starts it, without snapshots and with fewer garbage collections (tests/startup).

    With snapshots, its worker would regenerate hundreds of pages after each change of a test, and a test could get
    either a page or its snapshot. tests/webapp/register/snapshots compares the bytes of both.
    """
    register = Register(tmp_path_factory.mktemp("site") / "var", **WITHOUT_SNAPSHOTS)
    copy_prepared_data(tmp_path_factory, register.data_dir)
    register.start_and_wait()
    yield register
    register.end()


# Ended with the package: while Playwright runs, Django takes the thread for an asynchronous one and refuses queries.
@pytest.fixture(scope="package")
def browser():
    flags = QUIET_FLAGS + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=PATIENCE_MS)
        yield browser
        browser.close()


def failure_messages(request):
    """Return the requests that failed, except those that the browser aborted to open the next page."""
    return [] if "ERR_ABORTED" in request.failure else [f"not loaded: {request.url} {request.failure}"]


@pytest.fixture
def new_page(browser, site):
    """Open pages with the given browser options; an error in any of them fails the test at its end."""
    contexts, troubles = [], []

    def open_page(**properties):
        context = open_context(browser, base_url=site.url, **properties)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"script failed: {error}"))
        page.on("requestfailed", lambda request: troubles.extend(failure_messages(request)))
        page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def page(new_page):
    """A desktop browser with JavaScript, without a login."""
    return new_page(viewport=DESKTOP)


@pytest.fixture
def phone_page(new_page):
    """A browser with the smallest supported width, without a login."""
    return new_page(viewport=PHONE)


@pytest.fixture(scope="package")
def credentials(site):
    """Login and password of the first staff user."""
    lines = (site.data_dir / "first-login.txt").read_text().splitlines()
    return dict(line.split(": ") for line in lines)


@pytest.fixture(scope="package")
def signed_in(browser, site, credentials):
    """The stored session of a browser that has signed in as the first staff user; each test can continue from it."""
    context = open_context(browser, base_url=site.url)
    page = context.new_page()
    page.goto("/accounts/login/?next=/lab/")
    page.get_by_label("Username").fill(credentials["login"])
    page.get_by_label("Password").fill(credentials["password"])
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/lab/")
    kept = context.storage_state()
    context.close()
    return kept


@pytest.fixture
def staff_page(new_page, signed_in):
    """A desktop browser, signed in as the first staff user."""
    return new_page(viewport=DESKTOP, storage_state=signed_in)
