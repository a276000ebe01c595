"""One submission of a log, however often it is sent: at the same moment, and again after a lost response."""

import os
import secrets
import threading
from urllib.parse import urlencode

import pytest
from django.conf import settings as project
from django.test import Client

from results.ingest.queue import read_draft
from results.models import Draft, DraftFile, DraftReading, Evidence, Reading, Run, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, wait_for
from tests.web_server import read_until, web_server
from tests.webapp.submissions.drafts.uploads import upload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# The full measure sends 50 at the same moment, and 200 whose response is lost.
AT_ONCE = int(os.environ.get("SUBMIT_MEASURE_AT_ONCE", "50"))
LOST = int(os.environ.get("SUBMIT_MEASURE_LOST", "40"))
FACTS = {"vendor": "Exemplar", "model": "EX4", "capacity_gb": "3200", "category": "nvme-flash"}


@pytest.fixture
def server(tmp_path, settings, stand_in):
    settings.EVIDENCE_DIR = tmp_path / "var" / "evidence"
    with web_server(tmp_path, DRIVETEST=str(stand_in)) as server:
        yield server


@pytest.fixture
def client(server):
    client = Client()
    client.force_login(make_user("vera", make_organisation()))
    return client


def read_log(client):
    """Upload a log, read it, and return its draft."""
    draft = Draft.objects.get(public_id=upload(client, log_bytes("slow-disk-ms")))
    DraftReading.objects.update_or_create(draft=draft, defaults={"state": "pending"})
    assert read_draft(DraftReading.objects.get(draft=draft).pk)
    return draft


def request_of(client, draft):
    """Return the request of the button, as a browser sends it."""
    token = secrets.token_hex(16)
    body = urlencode(FACTS | {"csrfmiddlewaretoken": token})
    cookies = f"{project.SESSION_COOKIE_NAME}={client.cookies[project.SESSION_COOKIE_NAME].value}; csrftoken={token}"
    head = [
        f"POST /submit/{draft.public_id}/ HTTP/1.1", "Host: 127.0.0.1", f"Cookie: {cookies}", "Connection: close",
        "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}",
    ]  # fmt: skip
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


def location(server, request):
    with server.connect() as connection:
        connection.sendall(request)
        head = read_until(connection, "\r\n\r\n").lower()
    assert " 302 " in head.partition("\r\n")[0], head
    return head.partition("location: ")[2].partition("\r\n")[0]


def assert_one_submission(logs=1):
    assert [Submission.objects.count(), Evidence.objects.count(), Reading.objects.count()] == [logs] * 3
    wait_for(lambda: Run.objects.count() == logs)
    assert set(Reading.objects.values_list("state", flat=True)) == {"done"}


def test_submissions_at_the_same_moment_are_one(server, client):
    # Half of them click the button of one draft, and the others that of a draft with the same bytes.
    drafts = [read_log(client) for _ in range(2)]
    requests = [request_of(client, draft) for draft in drafts]
    found, barrier = [], threading.Barrier(AT_ONCE)

    def click(number):
        barrier.wait()
        found.append(location(server, requests[number % 2]))

    threads = [threading.Thread(target=click, args=(number,)) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {f"/submissions/{Submission.objects.get().public_id}/"}
    assert len(found) == AT_ONCE
    assert_one_submission()


def test_submissions_whose_responses_are_lost_and_that_are_repeated_are_one(server, client):
    request = request_of(client, read_log(client))
    for _ in range(LOST):
        with server.connect() as connection:
            connection.sendall(request)  # and the connection ends before the response
    assert location(server, request) == f"/submissions/{Submission.objects.get().public_id}/"
    assert_one_submission()
    wait_for(lambda: not DraftFile.objects.exists())
