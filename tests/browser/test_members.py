"""Invitation of a colleague who has no account, and the pages about members and own data, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import DESKTOP, faults_of

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"


def newest_link(staff_page, path):
    """Return the path of the newest link of the stored mail that begins with `path`."""
    staff_page.goto("/accounts/mail/")
    return re.search(rf"http://[^/\s]+({path}\S+)", staff_page.locator("main").inner_text())[1]


def sign_up(page):
    """Create the account of the invited person, whose address the link of the invitation has verified."""
    page.get_by_role("main").get_by_role("link", name="Create an account").click()
    expect(page.get_by_label("Email", exact=True)).to_have_value("cara@example.org")
    for label, value in [("Username", "cara"), ("Password", PASSWORD)]:
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Create account").click()


def check_own_pages(cara):
    """Check the pages of a member. The sign-up was no sign-in with the password, so the last one asks for it."""
    for page in ("organisation/", "organisations/this-lab/members/", "events/", "data/", "close/"):
        cara.goto(f"/accounts/{page}")
        if page == "close/":
            cara.get_by_label("Password").fill(PASSWORD)
            cara.get_by_role("button", name="Continue").click()
            expect(cara.get_by_role("button", name="Close account")).to_be_visible()
        assert faults_of(cara, fits=(320, 1280), accessible=(320, 1280)) == {}, page


def test_an_owner_invites_a_colleague_who_signs_up_and_accepts(staff_page, new_page):
    staff_page.goto("/accounts/organisations/this-lab/members/")
    staff_page.get_by_label("Email address").fill("Cara@example.org")
    staff_page.get_by_label("Role", exact=True).select_option("viewer")
    staff_page.get_by_role("button", name="Invite member").click()
    expect(staff_page.get_by_role("status")).to_contain_text("cara@example.org is invited as viewer.")
    assert faults_of(staff_page, fits=(320, 1280), accessible=(320, 1280)) == {}

    cara = new_page(viewport=DESKTOP)
    cara.goto(newest_link(staff_page, "/accounts/invitation/"))
    cara.wait_for_url("**/accounts/invitation/")
    assert faults_of(cara, fits=(320, 1280), accessible=(320, 1280)) == {}
    cara.set_viewport_size(DESKTOP)
    sign_up(cara)
    cara.wait_for_url("**/accounts/invitation/")
    cara.get_by_role("button", name="Accept invitation").click()
    expect(cara.get_by_role("status").filter(has_text="You are now viewer of This lab.")).to_be_visible()
    check_own_pages(cara)

    staff_page.goto("/accounts/organisations/this-lab/members/")
    staff_page.get_by_text("Remove cara", exact=True).first.click()
    staff_page.get_by_role("button", name="Remove cara").click()
    expect(staff_page.get_by_role("status")).to_contain_text("cara is no longer a member.")
    staff_page.goto("/accounts/organisations/this-lab/events/")
    expect(staff_page.get_by_role("row", name=re.compile("Removed from the organisation"))).to_contain_text("cara")
    assert faults_of(staff_page, fits=(320, 1280), accessible=(320, 1280)) == {}
