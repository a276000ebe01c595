"""An objection in a real browser: filed by one person, admitted by another one, and read by everyone."""

import re

import pytest

from tests.browser.page_checks import DESKTOP, PHONE, faults_of, print_faults_of

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"
TEXT = "The drive was over-provisioned by 20 %, and the page does not say so."
CREATE_FIONA = f"""
from allauth.account.models import EmailAddress
from webapp.accounts.models import User
user = User.objects.create_user("fiona", password={PASSWORD!r})
EmailAddress.objects.create(user=user, email="fiona@example.org", verified=True, primary=True)
"""
WIDTHS = {"fits": (320, 390), "accessible": (320, 1280)}


@pytest.fixture
def filer(site, new_page):
    """A browser of a user without an organisation."""
    site.run_command("shell", "-c", CREATE_FIONA)
    page = new_page(viewport=PHONE)
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill("fiona")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name=re.compile("^Sign in$")).click()
    page.get_by_role("button", name="Sign out").wait_for()
    return page


def test_an_objection_is_filed_admitted_and_read(filer, staff_page, new_page):
    filer.goto("/drives/m2-flash/")
    run = filer.locator("a[href^='/runs/']").first.get_attribute("href")
    filer.goto(run)
    filer.get_by_role("link", name="Object to this result").click()
    filer.get_by_label("What is wrong, and what shows it").fill(TEXT)
    filer.get_by_label("Attachments").set_input_files(
        {"name": "proof.html", "mimeType": "text/html", "buffer": b"<script>document.title = 'run'</script>"}
    )
    assert faults_of(filer, **WIDTHS) == {}
    filer.get_by_role("button", name="File objection").click()
    filer.get_by_text("Filed as o-").wait_for()
    assert faults_of(filer, **WIDTHS) == {}
    address = filer.url
    staff_page.goto("/submissions/review/")
    staff_page.get_by_role("link", name=re.compile("^o-")).click()
    staff_page.get_by_role("button", name="Admit objection").wait_for()
    assert faults_of(staff_page, **WIDTHS) == {}
    staff_page.set_viewport_size(DESKTOP)
    staff_page.get_by_role("button", name="Admit objection").click()
    staff_page.get_by_role("button", name="Store decision").wait_for()
    assert faults_of(staff_page, **WIDTHS) == {}
    visitor = new_page(viewport=PHONE, java_script_enabled=True)
    for path in (address, run, "/objections/"):
        visitor.goto(path)
        assert faults_of(visitor, **WIDTHS) == {}, path
    visitor.goto(address)
    assert TEXT in visitor.locator("main").inner_text()
    assert print_faults_of(visitor, 700, "auto") == {}
    with visitor.expect_download() as download:
        visitor.get_by_role("link", name="proof.html").click()
    assert download.value.suggested_filename == "proof.html"
