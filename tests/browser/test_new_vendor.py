"""The way of a new vendor in a real browser: from the sign-up to a public result, an objection, and the leaving."""

import re

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.conf import settings
from playwright.sync_api import expect

from tests.browser.page_checks import DESKTOP, PATIENCE_MS, faults_of
from tests.browser.test_members import newest_link
from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"
LOG = settings.BASE_DIR / "tests/data/act/6.6/four-us.log"
WIDTHS = {"fits": (320, 1280), "accessible": (320, 1280)}
CREATE_USERS = f"""
from allauth.account.models import EmailAddress
from webapp.accounts.models import User
roles = {{"olga": ["is_operator"], "rita": ["is_reviewer"], "rolf": ["is_reviewer"], "fred": []}}
for name, columns in roles.items():
    user = User.objects.create_user(name, password={PASSWORD!r}, **dict.fromkeys(columns, True))
    EmailAddress.objects.create(user=user, email=f"{{name}}@example.org", verified=True, primary=True)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A register in which two reviewers approve each result."""
    register = Register(tmp_path_factory.mktemp("vendor") / "var", **WITHOUT_SNAPSHOTS, REVIEWS_NEEDED="2")
    copy_prepared_data(tmp_path_factory, register.data_dir)
    register.start_and_wait()
    created = register.run_command("shell", "-c", CREATE_USERS)
    assert created.returncode == 0, created.stderr
    yield register
    register.end()


@pytest.fixture
def sign_in(new_page):
    """Return a function that signs a user in, in a browser of their own."""

    def sign_in(name):
        page = new_page(viewport=DESKTOP)
        page.goto("/accounts/login/")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("main").get_by_role("button", name=re.compile("^Sign in$")).click()
        page.get_by_role("button", name="Sign out").first.wait_for()
        return page

    return sign_in


def press(page, name):
    page.get_by_role("main").get_by_role("button", name=name, exact=True).click()


def check(page):
    """Check the page at each width, and return to that of a desktop."""
    assert faults_of(page, **WIDTHS) == {}, page.url
    page.set_viewport_size(DESKTOP)


def status(page, words):
    expect(page.get_by_role("status").filter(has_text=words).first).to_be_visible(timeout=PATIENCE_MS)


def sign_up(vendor, olga):
    vendor.goto("/accounts/login/")
    vendor.get_by_role("main").get_by_role("link", name="Create an account").click()
    for label, value in [("Username", "vera"), ("Email", "vera@example.org"), ("Password", PASSWORD)]:
        vendor.get_by_label(label, exact=True).fill(value)
    check(vendor)
    press(vendor, "Create account")
    expect(vendor.get_by_role("heading", level=1)).to_be_visible()
    check(vendor)
    vendor.goto(newest_link(olga, "/accounts/confirm-email/"))
    check(vendor)
    vendor.get_by_role("main").get_by_role("button").first.click()


def set_up_second_factor(vendor):
    vendor.goto("/accounts/2fa/")
    vendor.get_by_role("link", name="Set up app").click()
    if vendor.get_by_role("heading", level=1).inner_text() != "Set up an authenticator app":
        vendor.get_by_label("Password").fill(PASSWORD)
        press(vendor, "Continue")
    secret = vendor.locator("main .mono").first.inner_text().replace(" ", "")
    counter = list(yield_hotp_counters_from_time())[1]
    check(vendor)
    vendor.locator("[name=code]").fill(format_hotp_value(hotp_value(secret, counter)))
    press(vendor, "Set up app")
    expect(vendor.get_by_role("heading", name="Recovery codes")).to_be_visible()
    vendor.get_by_role("link", name="Continue").click()


def create_organisation(vendor):
    vendor.goto("/accounts/organisation/")
    vendor.get_by_role("main").get_by_role("link", name="Create organisation").click()
    vendor.get_by_label("Name", exact=True).fill("Acme Drives")
    vendor.locator("[name=kind]").select_option("vendor")
    vendor.get_by_label("Web address").fill("https://acme.example")
    check(vendor)
    press(vendor, "Create organisation")
    status(vendor, "Acme Drives")


def send_log(vendor):
    vendor.get_by_role("link", name="Submit a result").first.click()
    check(vendor)
    vendor.locator("[name=log]").set_input_files(LOG)
    press(vendor, "Upload and read the log")
    vendor.get_by_role("heading", name="Check the result, then submit it").wait_for(timeout=PATIENCE_MS)
    assert "undecided" in vendor.locator("main").inner_text()
    check(vendor)
    for name, value in {"vendor": "Acme", "model": "A-9", "capacity_gb": "960"}.items():
        vendor.locator(f"[name={name}]").fill(value)
    vendor.locator("[name=category]").select_option("nvme-flash")
    press(vendor, "Submit this result")
    vendor.get_by_role("heading", name="Progress").wait_for(timeout=PATIENCE_MS)
    expect(vendor.locator("[data-reading]")).to_have_count(0, timeout=PATIENCE_MS)  # it is read
    check(vendor)
    return vendor.url


def confirm_organisation(olga):
    olga.goto("/accounts/organisations/")
    check(olga)
    olga.get_by_role("button", name="Confirm organisation Acme Drives").click()
    status(olga, "Acme Drives")


def ask(rita, submission):
    rita.goto(submission)
    rita.get_by_text("Add a new product", exact=True).click()
    press(rita, "Add product")
    rita.get_by_text("Ask the submitter a question", exact=True).click()
    rita.locator("[name=question]").fill("In which slot was the drive?")
    press(rita, "Ask")
    rita.get_by_text("Waits for the answer of Acme Drives.", exact=True).wait_for()
    check(rita)


def answer(vendor, submission):
    vendor.goto(submission)
    check(vendor)
    vendor.locator("[name=answer]").fill("In slot 1.")
    press(vendor, "Answer")
    vendor.get_by_text("In slot 1.").first.wait_for()


def approve(reviewer, submission, button):
    reviewer.goto(submission)
    reviewer.get_by_text("In slot 1.").first.wait_for()
    for warning in reviewer.locator("[name=accepted_warnings]").all():
        warning.check()
    press(reviewer, button)
    status(reviewer, "")


def test_a_new_vendor_comes_publishes_and_leaves(new_page, sign_in):
    olga, vendor = sign_in("olga"), new_page(viewport=DESKTOP)
    sign_up(vendor, olga)
    set_up_second_factor(vendor)
    create_organisation(vendor)
    submission = send_log(vendor)
    confirm_organisation(olga)
    rita, rolf = sign_in("rita"), sign_in("rolf")
    ask(rita, submission)
    answer(vendor, submission)
    approve(rita, submission, "Approve")
    approve(rolf, submission, "Publish")
    vendor.goto(submission)
    vendor.get_by_role("link", name=re.compile("^run r-")).first.click()
    run = vendor.url
    check(vendor)
    object_and_reply(sign_in("fred"), rita, vendor, run, submission)
    invite_and_leave(vendor, olga, new_page)


def object_and_reply(fred, rita, vendor, run, submission):
    fred.goto(run)
    fred.get_by_role("link", name="Object to this result").click()
    fred.get_by_label("What is wrong, and what shows it").fill("The firmware is a beta.")
    press(fred, "File objection")
    objection = fred.url
    identifier = objection.rstrip("/").rsplit("/", 1)[-1]
    rita.goto(f"/review/objections/{identifier}/")
    press(rita, "Admit objection")
    vendor.goto(submission)
    vendor.get_by_label("Public reply").fill("It is not.")
    check(vendor)
    vendor.get_by_role("button", name=re.compile("^Publish reply")).click()
    fred.goto(objection)
    fred.get_by_text("It is not.").first.wait_for()


def invite_and_leave(vendor, olga, new_page):
    vendor.goto("/accounts/organisation/")
    vendor.get_by_role("link", name="Show members of Acme Drives").click()
    vendor.get_by_label("Email address").fill("cora@example.org")
    vendor.get_by_label("Role", exact=True).select_option("owner")
    press(vendor, "Invite member")
    status(vendor, "cora@example.org is invited as owner.")
    cora = new_page(viewport=DESKTOP)
    cora.goto(newest_link(olga, "/accounts/invitation/"))
    cora.get_by_role("main").get_by_role("link", name="Create an account").click()
    for label, value in [("Username", "cora"), ("Password", PASSWORD)]:
        cora.get_by_label(label, exact=True).fill(value)
    press(cora, "Create account")
    cora.wait_for_url("**/accounts/invitation/")
    cora.get_by_role("button", name="Accept invitation").click()
    status(cora, "You are now owner of Acme Drives.")
    vendor.reload()
    vendor.get_by_text("Leave Acme Drives", exact=True).click()
    press(vendor, "Leave organisation")
    status(vendor, "Acme Drives")
    vendor.goto("/submissions/")
    assert "four-us" not in vendor.locator("main").inner_text()
