"""Uploads, drafts and readings on a full disk of evidence: each sender gets a message, and nothing is lost."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from results.evidence.base import StoreFullError
from results.ingest.queue import sweep
from results.models import Draft, DraftFile, DraftReading, Evidence, Reading, Submission
from tests.results.builders import log_bytes
from tests.results.stored_files import files_below
from tests.webapp.submissions.drafts.uploads import announce, append, received, upload
from webapp.accounts.tokens.rules import issue_token
from webapp.register.http.store_unavailable import StoreUnavailableMiddleware

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stand_in")]
FACTS = {"vendor": "Exemplar", "model": "EX4", "capacity_gb": "3200", "category": "nvme-flash", "firmware": "1.2"}
AGAIN = {"status": 507, "Retry-After": "30"}
LOG = log_bytes("slow-disk-ms")


@pytest.fixture
def client(as_user, vera):
    return as_user(vera)


@pytest.fixture
def script(vera, exemplar):
    _, secret = issue_token(vera, exemplar, "script")
    return Client(headers={"Authorization": f"Bearer {secret}"})


def response_of(answer):
    assert "no space" in answer.text
    return {"status": answer.status_code, "Retry-After": answer.headers["Retry-After"]}


def form(*companions):
    files = [SimpleUploadedFile(name, content) for name, content in companions]
    return {"log": SimpleUploadedFile("load.log", LOG), "companions": files, "slice_length_s": "10"}


def test_an_upload_in_pieces_waits_and_continues(client, small_disk):
    begun = announce(client, len(LOG), slice_length_s="10").headers["Location"]
    new = announce(client, len(LOG), slice_length_s="10").headers["Location"]
    append(client, begun, 0, LOG[:100])
    with small_disk.filled():
        assert response_of(append(client, begun, 100, LOG[100:])) == AGAIN
        assert response_of(append(client, new, 0, LOG)) == AGAIN
        assert [received(client, address) for address in (begun, new)] == [100, 0]
    assert append(client, begun, 100, LOG[100:]).status_code == 204
    assert append(client, new, 0, LOG).status_code == 204
    sweep()
    assert {each.state for each in DraftReading.objects.all()} == {"done"}


def test_a_refused_form_stores_nothing(client, small_disk):
    with small_disk.filled():
        assert response_of(client.post("/submit/", form())) == AGAIN
    assert (Draft.objects.count(), DraftFile.objects.count()) == (0, 0)
    assert files_below(small_disk.directory) == []


def test_a_refused_request_of_a_script_stores_nothing(script, small_disk):
    facts = {"log": SimpleUploadedFile("load.log", LOG), "slice_length_s": "10"} | FACTS
    with small_disk.filled():
        assert response_of(script.post("/api/v1/submissions/", facts)) == AGAIN
    assert (Submission.objects.count(), Evidence.objects.count()) == (0, 0)
    assert files_below(small_disk.directory) == []
    facts["log"].seek(0)
    assert script.post("/api/v1/submissions/", facts).status_code == 201


def test_a_draft_can_be_read_and_is_submitted_later(client, script, small_disk):
    draft = upload(client, LOG, slice_length_s="10")
    with small_disk.filled():
        sweep()
        assert "Submit this result" in client.get(f"/submit/{draft}/").text
        assert response_of(client.post(f"/submit/{draft}/", FACTS)) == AGAIN
        assert response_of(script.post(f"/api/v1/drafts/{draft}/submit/", FACTS, "application/json")) == AGAIN
        assert Submission.objects.count() == 0
    assert client.post(f"/submit/{draft}/", FACTS).status_code == 302
    sweep()
    assert Reading.objects.get().state == "done"


def test_a_reading_that_needs_room_waits_and_uses_no_attempt(client, small_disk):
    draft = client.post("/submit/", form(("run.stderr", b"said"))).headers["Location"]
    reading = DraftReading.objects
    with small_disk.filled():
        for attempt in range(1, 6):
            sweep()
            assert (reading.get().state, reading.get().attempts, reading.get().counted_attempts) == (
                "pending", attempt, 0,
            )  # fmt: skip
            reading.update(next_attempt_at=None)
    sweep()
    assert reading.get().state == "done"
    assert "Submit this result" in client.get(draft).text


def test_any_other_page_says_that_there_is_no_room(rf):
    answer = StoreUnavailableMiddleware(lambda _: None).process_exception(rf.get("/"), StoreFullError("full"))
    assert {"status": answer.status_code, "Retry-After": answer.headers["Retry-After"]} == AGAIN
    assert "no space" in answer.content.decode()
