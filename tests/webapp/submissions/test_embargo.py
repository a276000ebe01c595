"""The embargo in the form, on the submission's page, and in the review."""

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from results.ingest.queue import sweep
from results.models import Event, Submission
from tests.results.builders import link_key, log_bytes
from tests.webapp.submissions.two_steps import submit_in_two_steps
from webapp.notices.models import Notice
from webapp.templatetags import units

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]
FACTS = {"vendor": "Exemplar", "model": "EX4", "capacity_gb": "3200", "category": "nvme-flash", "slice_length_s": "10"}


# One moment for a whole test: with the clock, the minute could change between two of its lines.
NOW = timezone.now().replace(second=0, microsecond=0)


def minute(**ahead):
    return NOW + timedelta(**ahead)


def typed(moment):
    """A moment as a browser sends it."""
    return f"{moment:%Y-%m-%dT%H:%M}"


def send(client, until):
    log = SimpleUploadedFile("load.log", log_bytes("four-us"))
    return submit_in_two_steps(client, FACTS | {"log": log, "embargo_until": until}, follow=True)


@pytest.fixture
def submission(as_user, vera):
    send(as_user(vera), typed(minute(days=1)))
    sweep()
    return Submission.objects.get()


@pytest.fixture
def reviewed(as_user, rita, submission):
    client = as_user(rita)
    client.post(f"/submissions/{submission.public_id}/new-product/", FACTS)
    page = client.get(f"/submissions/{submission.public_id}/").text
    ticks = re.findall(r'name="accepted_warnings" value="([^"]+)" required', page)  # its device is no drive of 3.2 TB
    client.post(f"/submissions/{submission.public_id}/publish/", {"accepted_warnings": ticks})
    return submission


def move(client, submission, until):
    return client.post(f"/submissions/{submission.public_id}/embargo/", {"embargo_until": until}, follow=True)


def test_a_sender_states_the_embargo_with_the_log_and_sees_it_immediately(as_user, vera, submission):
    assert submission.embargo_until == minute(days=1)
    page = as_user(vera).get(f"/submissions/{submission.public_id}/").text
    assert f"No run of this submission is public before {units.moment(submission.embargo_until)}" in page
    assert f'value="{typed(submission.embargo_until)}"' in page
    assert "An empty field ends the embargo at once." in page


def test_the_form_without_an_embargo_does_not_say_how_to_end_it(as_user, vera, submission):
    Submission.objects.update(embargo_until=None)
    page = as_user(vera).get(f"/submissions/{submission.public_id}/").text
    assert "Set an embargo" in page
    assert "ends the embargo" not in page


@pytest.mark.parametrize("is_embargoed", [True, False])
def test_a_virtual_device_has_a_form_only_to_end_its_embargo(as_user, vera, submission, is_embargoed):
    Submission.objects.update(is_virtual=True, **({} if is_embargoed else {"embargo_until": None}))
    page = as_user(vera).get(f"/submissions/{submission.public_id}/").text
    assert (f"/submissions/{submission.public_id}/embargo/" in page) == is_embargoed


@pytest.mark.parametrize("until", ["soon", "2020-01-01T00:00", "9999-01-01T00:00"])
def test_an_invalid_date_keeps_the_form(as_user, vera, until):
    answer = send(as_user(vera), until)
    assert answer.status_code == 400
    assert 'id="id_embargo_until_error"' in answer.text
    assert not Submission.objects.exists()


def test_a_reviewer_publishes_for_a_later_date_and_finds_the_run_in_a_separate_list(as_user, rita, reviewed):
    assert reviewed.runs.get().visibility == "embargoed"
    page = as_user(rita).get("/submissions/review/").text
    assert f"public at {units.moment(reviewed.embargo_until)}" in page
    assert reviewed.public_id in page


def test_its_page_states_the_end_of_the_embargo(as_user, vera, reviewed):
    page = as_user(vera).get(f"/submissions/{reviewed.public_id}/").text
    assert "State: under embargo" in page
    assert "<b>Waits for the end of its embargo</b>" in page


def test_its_owner_moves_and_ends_the_embargo(as_user, vera, reviewed):
    client = as_user(vera)
    move(client, reviewed, typed(minute(days=3)))
    reviewed.refresh_from_db()
    assert reviewed.embargo_until == minute(days=3)
    assert "The embargo has ended." in move(client, reviewed, "").text
    assert reviewed.runs.get().visibility == "public"
    assert "an embargo cannot hide it again" in move(client, reviewed, typed(minute(days=3))).text


def test_a_date_in_the_past_changes_nothing(as_user, vera, reviewed):
    assert "Expected a moment after now" in move(as_user(vera), reviewed, "2020-01-01T00:00").text
    reviewed.refresh_from_db()
    assert reviewed.embargo_until == minute(days=1)


def test_another_user_can_neither_see_nor_move_the_embargo(as_user, otto, reviewed):
    assert move(as_user(otto), reviewed, "").status_code == 404
    assert reviewed.runs.get().visibility == "embargoed"


def test_a_holder_of_the_link_reads_the_end_of_the_embargo_and_has_no_form(client, reviewed):
    page = client.get(f"/submissions/{reviewed.public_id}/?key={link_key(reviewed)}").text
    assert "No run of this submission is public before" in page
    assert f"/submissions/{reviewed.public_id}/embargo/" not in page


def test_the_same_log_with_another_date_moves_the_embargo_and_states_so(as_user, vera, submission):
    answer = send(as_user(vera), typed(minute(days=2)))
    submission.refresh_from_db()
    assert submission.embargo_until == minute(days=2)
    assert "The embargo of the submission was changed as stated." in answer.text
    assert "The embargo of the submission was changed as stated." not in send(as_user(vera), typed(minute(days=2))).text


def test_the_same_log_with_its_past_date_is_accepted(as_user, vera, submission):
    passed = minute(minutes=-5)
    Submission.objects.update(embargo_until=passed)
    answer = send(as_user(vera), typed(passed))
    assert (answer.status_code, "This log was submitted before." in answer.text) == (200, True)
    assert "Expected a moment after now" in send(as_user(vera), typed(passed - timedelta(minutes=1))).text


def test_an_ended_embargo_is_mentioned_only_for_runs_that_it_delays(as_user, vera, reviewed):
    client, said = as_user(vera), "No run of this submission is public before"
    Submission.objects.update(embargo_until=minute(minutes=-5))
    assert said in client.get(f"/submissions/{reviewed.public_id}/").text  # reviewed, and not disclosed yet
    reviewed.runs.update(visibility="unreviewed")
    assert said not in client.get(f"/submissions/{reviewed.public_id}/").text


def test_a_date_for_a_log_that_was_public_keeps_the_form_with_the_reason(as_user, vera, reviewed):
    move(as_user(vera), reviewed, "")
    answer = send(as_user(vera), typed(minute(days=2)))
    assert answer.status_code == 409
    assert f"These bytes are submission {reviewed.public_id} already. A run of the submission was public" in answer.text
    reviewed.refresh_from_db()
    assert reviewed.embargo_until is None


def test_only_owners_read_every_date_in_the_history(as_user, client, vera, reviewed):
    later = minute(days=3)
    move(as_user(vera), reviewed, typed(later))
    page = as_user(vera).get(f"/submissions/{reviewed.public_id}/").text
    moved = f"{units.moment(reviewed.embargo_until)} -> {units.moment(later)}"
    changed = f"<b>Submission embargo changed</b> by its organisation, <bdi>{moved}</bdi>"
    assert changed in page.replace("&gt;", ">")
    assert f"Run {reviewed.runs.get().public_id} reviewed, under embargo" in page
    by_link = client.get(f"/submissions/{reviewed.public_id}/?key={link_key(reviewed)}").text
    assert ('id="history"' in page, 'id="history"' in by_link) == (True, False)


def test_a_reviewer_recalls_a_waiting_run(as_user, rita, reviewed):
    run = reviewed.runs.get()
    answer = as_user(rita).post(f"/review/runs/{run.public_id}/recall/", {"reason": "another drive"}, follow=True)
    assert "Returned to review." in answer.text
    assert Event.objects.get(kind="run-recalled").reason == "another drive"


def lengthen(client, submission, until, reason):
    stated = {"embargo_until": typed(until), "reason": reason}
    return client.post(f"/submissions/{submission.public_id}/embargo/", stated, follow=True).text


def test_a_reviewer_lets_an_embargo_end_later_with_a_reason_that_the_organisation_reads(as_user, vera, rita, reviewed):
    client, later = as_user(rita), minute(days=1, minutes=1)
    assert "Enter a reason." in lengthen(client, reviewed, later, "")
    assert "No run of this submission is public before" in lengthen(client, reviewed, later, "the vendor asked by mail")
    reviewed.refresh_from_db()
    assert reviewed.embargo_until == later
    assert "the vendor asked by mail" in as_user(vera).get(f"/submissions/{reviewed.public_id}/").text
    mail = Notice.objects.get(kind="embargo-changed")
    assert (mail.recipient, mail.audience, mail.details["reason"]) == (vera, "members", "the vendor asked by mail")


def test_a_reviewer_neither_ends_nor_shortens_an_embargo(as_user, rita, reviewed):
    client, sooner = as_user(rita), reviewed.embargo_until - timedelta(minutes=1)
    assert "Only the organisation that submitted the log shortens" in lengthen(client, reviewed, sooner, "sooner")
    assert "Only the organisation that submitted" in lengthen(client, reviewed, reviewed.embargo_until, "the same")
    assert "Enter the end of the embargo." in move(client, reviewed, "").text
    page = client.get(f"/submissions/{reviewed.public_id}/").text
    assert ("Lengthen the embargo" in page, "Change or end the embargo" in page) == (True, False)
    reviewed.refresh_from_db()
    assert reviewed.embargo_until == minute(days=1)


def test_a_reviewer_who_submits_for_the_organisation_ends_its_embargo(as_user, rita, reviewed):
    rita.memberships.create(organisation=reviewed.organisation, role="submitter")
    assert "The embargo has ended." in move(as_user(rita), reviewed, "").text
