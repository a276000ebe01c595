"""Headless Chromium of this machine before a whole register with servers of its own."""

import os

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from tests.chromium import CHROMIUM
from tests.register import Register

QUIET_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Nothing but this machine has an address, so a page that asks for anything else shows it.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@pytest.fixture(scope="package")
def site(tmp_path_factory):
    """A register as `make run` starts it."""
    register = Register(tmp_path_factory.mktemp("site") / "var")
    register.start_and_wait()
    yield register
    register.end()


# Ended with the package: while Playwright runs, Django takes the thread for an asynchronous one and refuses queries.
@pytest.fixture(scope="package")
def browser():
    flags = QUIET_FLAGS + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


def tell_failure(request):
    """Return what failed to load; a request that the browser gave up itself, for the next page, failed at nothing."""
    return [] if "ERR_ABORTED" in request.failure else [f"not loaded: {request.url} {request.failure}"]


@pytest.fixture
def new_page(browser, site):
    """Open pages with chosen properties of the browser; what went wrong in any of them fails the test at its end."""
    contexts, troubles = [], []

    def open_page(**properties):
        context = browser.new_context(base_url=site.url, **properties)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"script failed: {error}"))
        page.on("requestfailed", lambda request: troubles.extend(tell_failure(request)))
        page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def page(new_page):
    """A desktop browser with JavaScript, signed in nowhere."""
    return new_page(viewport={"width": 1280, "height": 900})


@pytest.fixture
def credentials(site):
    """Login and password of the first staff user."""
    lines = (site.data_dir / "first-login.txt").read_text().splitlines()
    return dict(line.split(": ") for line in lines)


@pytest.fixture
def staff_page(page, credentials):
    """A desktop browser, signed in as the first staff user."""
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill(credentials["login"])
    page.get_by_label("Password").fill(credentials["password"])
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_load_state()
    return page


@pytest.fixture
def assert_accessible():
    """Fail on any rule of axe that a page breaks, naming rule and element."""

    def check(page):
        found = Axe().run(page).response["violations"]
        assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == []

    return check
