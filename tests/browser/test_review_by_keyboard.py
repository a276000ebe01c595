"""A reviewer's task without a mouse: name the drive of several submissions, read each page, and decide about each."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_checks import faults_of

pytestmark = pytest.mark.browser

REVIEWED = 5
# Under embargo: after the approval nothing is public, so the tables of other tests stay the same. Different bytes, and
# devices that nothing speaks against.
SEND = """
import io
import time
from datetime import timedelta
from pathlib import Path
from django.utils import timezone
from results.ingest.queue import read_one
from results.intake.submissions import SubmissionMetadata, accept_submission
from results.models import Organisation, Run
maker = Organisation.objects.create(slug="keyed", name="Keyed", kind="vendor", confirmed_at=timezone.now())
until = timezone.now().replace(second=0, microsecond=0) + timedelta(days=9)
facts = SubmissionMetadata(vendor="Keyed", model="K1", capacity_gb=960, category="nvme-flash", embargo_until=until)
log = Path("tests/data/act/6.6/four-us.log").read_bytes()
for number in range(%d):
    content = io.BytesIO(log + b"\\n" * number)
    sent = accept_submission(maker, content, f"run-{number}.log", facts, "api", None).submission
    read_one(sent.log.readings.get().pk)
for _ in range(600):  # the worker of the register may have begun one of them, and writes its rows later
    if Run.objects.filter(submission__organisation=maker).count() == %d:
        break
    time.sleep(0.1)
for run in Run.objects.filter(submission__organisation=maker):
    Run.objects.filter(pk=run.pk).update(facts=run.facts | {"devices": [], "is_virtual_device": None})
"""


@pytest.fixture(scope="module")
def waiting(site):
    """Submissions of one drive that is new to the register."""
    sent = site.run_command("shell", "-c", SEND % (REVIEWED, REVIEWED))
    assert sent.returncode == 0, sent.stderr


def press(page, *keys):
    """Press keys, and return their number."""
    for key in keys:
        page.keyboard.press(key)
    return len(keys)


def decide(page, *keys):
    """Press keys of which the last one sends a form, and wait for the page that shows the result."""
    with page.expect_navigation():
        press(page, *keys)
    return len(keys)


@pytest.mark.usefixtures("waiting")
def test_a_reviewer_approves_several_submissions_with_keys_only(staff_page):
    page = staff_page
    page.goto("/submissions/review/?q=Keyed")
    rows = page.locator("[data-queue] tbody tr")
    expect(rows).to_have_count(REVIEWED)
    assert faults_of(page, fits=(320, 1280), accessible=(320, 1280)) == {}

    press(page, "x", "j", "x", "j", "k", "j", "x")  # without a focused row, x chooses nothing
    expect(page.locator("[name=chosen]:checked")).to_have_count(2)
    page.reload()

    pressed = decide(page, "j", "Enter")
    for key, focused in [("d", "[name=reason]"), ("q", "[name=question]"), ("p", "[name=product]"), ("c", "button")]:
        press(page, key)
        expect(page.locator(f"[data-key={key}] {focused}, {focused}[data-key={key}]").first).to_be_focused()
        page.evaluate("document.activeElement.blur()")  # as Tab does for a person; in a text field a key is a letter
    pressed += decide(page, "e", "Tab", "Enter")
    said = page.get_by_role("status")
    expect(said).to_contain_text("is in the register. Also assigned to submissions that state the same name")
    for number in range(1, REVIEWED + 1):
        pressed += decide(page, "a", "Enter")
        expect(said).to_contain_text("Approved. No run of this submission is public before")
        if number < REVIEWED:
            pressed += decide(page, "n")
    assert pressed <= 3 * REVIEWED + 5
    page.goto("/submissions/review/?q=Keyed")
    expect(page.get_by_text("No waiting submission has these words")).to_be_visible()
