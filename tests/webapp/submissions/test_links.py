"""The secret link of a submission: shown once, stored as a hash, renewed, revoked, expired."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from results.access.links import is_opened_by
from results.history import for_everyone
from results.ingest.queue import sweep
from results.models import Event, Submission
from results.models.ids import hash_link_key
from tests.results.builders import link_key, log_bytes, send
from webapp.accounts.models import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(exemplar, vera, evidence_dir, stand_in):
    sent = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    return sent


def address(submission, action=""):
    return f"/submissions/{submission.public_id}/{action}"


def create(client, submission):
    """Return the key of a new link, from the response that shows it."""
    answer = client.post(address(submission, "link/"))
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    return re.search(r"http://testserver(/submissions/[^<]*)\?key=([\w-]{22})<", answer.text)[2]


def opens(client, submission, key):
    pages = [address(submission), f"/runs/{submission.runs.get().public_id}/"]
    return [client.get(page, {"key": key}).status_code == 200 for page in pages]


def test_a_new_submission_has_no_link_and_an_empty_key_opens_nothing(client, submission):
    assert submission.link_digest == ""
    assert opens(client, submission, "") == [False, False]


def test_a_link_opens_the_submission_and_its_runs_and_is_shown_once(as_user, client, vera, submission):
    owner = as_user(vera)
    key = create(owner, submission)
    assert opens(client, submission, key) == [True, True]
    assert f"/runs/{submission.runs.get().public_id}/?key={key}" in client.get(address(submission), {"key": key}).text
    page = owner.get(address(submission)).text
    assert key not in page
    assert "Renew the secret link" in page


def test_the_database_holds_the_hash_only(as_user, vera, submission):
    key = create(as_user(vera), submission)
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(s)::text FROM results_submission s")
        (row,) = cursor.fetchone()
    assert key not in row
    assert hash_link_key(key) in row


def test_a_new_link_replaces_the_old_one(as_user, client, vera, submission):
    first = create(as_user(vera), submission)
    second = create(as_user(vera), submission)
    assert opens(client, submission, first) == [False, False]
    assert opens(client, submission, second) == [True, True]


def test_a_revoked_link_opens_nothing(as_user, client, vera, submission):
    key = create(as_user(vera), submission)
    answer = as_user(vera).post(address(submission, "link/revoke/"), follow=True)
    assert "The secret link no longer opens this submission." in answer.text
    assert "Create a secret link" in answer.text
    assert opens(client, submission, key) == [False, False]


def test_a_link_expires_after_180_days_and_its_page_says_so(as_user, client, vera, submission, settings):
    key = create(as_user(vera), submission)
    submission.refresh_from_db()
    assert abs(submission.link_expires_at - timezone.now() - timedelta(days=180)) < timedelta(minutes=1)
    Submission.objects.update(link_expires_at=timezone.now() + timedelta(minutes=1))
    assert opens(client, submission, key) == [True, True]
    Submission.objects.update(link_expires_at=timezone.now() - timedelta(seconds=1))
    assert opens(client, submission, key) == [False, False]
    assert "expired" in as_user(vera).get(address(submission)).text


def test_the_history_records_links_without_their_keys_and_only_members_read_it(as_user, vera, submission):
    key = create(as_user(vera), submission)
    as_user(vera).post(address(submission, "link/revoke/"))
    as_user(vera).post(address(submission, "link/revoke/"))
    events = Event.objects.filter(kind__startswith="submission-link")
    assert [event.kind for event in events] == ["submission-link-renewed", "submission-link-revoked"]
    assert key not in str(list(events.values()))
    assert hash_link_key(key) not in str(list(events.values()))
    assert "ecret link created" in as_user(vera).get(address(submission)).text
    assert not for_everyone(events).exists()


@pytest.mark.parametrize("action", ["link/", "link/revoke/"])
def test_who_cannot_change_a_submission_cannot_change_its_link(as_user, client, vera, otto, submission, action):
    key = link_key(submission)
    vera.memberships.update(role=Role.VIEWER)
    assert as_user(vera).post(address(submission, action)).status_code == 403
    assert as_user(otto).post(address(submission, action)).status_code == 404
    by_link = client.post(f"{address(submission, action)}?key={key}")
    assert by_link.headers["Location"].startswith("/accounts/login/")
    submission.refresh_from_db()
    assert is_opened_by(submission, key)


def test_a_link_does_not_change_by_get(as_user, vera, submission):
    assert as_user(vera).get(address(submission, "link/")).status_code == 405
