"""Passkeys, with Chromium's virtual authenticator, at localhost: an IP address is no domain of a passkey."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import DESKTOP, faults_of

pytestmark = pytest.mark.browser

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
WIDTHS = ([320, 1280], [320, 1280])  # of pages that must fit, and that must be accessible
PAGES = (
    *("", "sessions/", "email/", "password/change/"),
    *("2fa/", "2fa/webauthn/", "2fa/webauthn/add/", "2fa/totp/activate/", "2fa/recovery-codes/"),
)


@pytest.fixture(scope="module")
def password(site):
    """The password of the user paula."""
    options = ["--organisation", "this-lab", "--email", "paula@example.org"]
    return site.run_command("add_user", "paula", *options).stdout.split("password ")[1].split()[0]


@pytest.fixture
def local(site):
    """Return the address of a page at the host name for which the register offers passkeys."""
    return lambda path: f"http://localhost:{site.port}{path}"


@pytest.fixture
def device(new_page):
    """A browser whose device stores passkeys, without a login."""
    page = new_page(viewport=DESKTOP)
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    return page


def enter_password(page, password):
    page.get_by_label("Username").fill("paula")
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


def test_a_passkey_signs_in_alone_and_after_the_password(device, local, password):
    device.goto(local("/accounts/login/"))
    assert faults_of(device, *WIDTHS) == {}
    enter_password(device, password)
    device.wait_for_url("**/submissions/")
    device.goto(local("/accounts/2fa/webauthn/add/"))
    device.get_by_role("button", name="Add passkey").click()
    device.wait_for_url("**/recovery-codes/")
    for page in PAGES:
        device.goto(local(f"/accounts/{page}"))
        assert faults_of(device, *WIDTHS) == {}, page

    device.get_by_role("button", name="Sign out").click()
    device.goto(local("/accounts/login/?next=/submit/"))
    device.get_by_role("button", name="Use a passkey").click()
    device.wait_for_url("**/submit/")

    device.get_by_role("button", name="Sign out").click()
    device.goto(local("/accounts/login/"))
    enter_password(device, password)
    device.wait_for_url("**/2fa/authenticate/")
    assert faults_of(device, *WIDTHS) == {}
    device.get_by_role("button", name="Use a passkey").click()
    device.wait_for_url("**/submissions/")


def test_a_page_says_that_the_browser_used_no_passkey_as_on_an_ip_address(page):
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("The browser used no passkey")
