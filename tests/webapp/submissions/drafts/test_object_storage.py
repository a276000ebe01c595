"""Uploads on web machines that share only the database and object storage."""

import io

import pytest

from results.evidence.object_storage import object_storage as connect
from results.ingest.queue import sweep
from results.models import Draft, DraftFile, Submission
from tests.register import free_port
from tests.results.builders import log_bytes
from tests.webapp.submissions.drafts.uploads import announce, append, received

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("object storage")]
FACTS = {"vendor": "Exemplar", "model": "EX4", "capacity_gb": "3200", "category": "nvme-flash", "firmware": "1.2"}


@pytest.fixture
def client(as_user, vera, object_storage, settings, tmp_path):
    settings.EVIDENCE_DIR = tmp_path / "a machine"
    return as_user(vera)


def on_another_machine(settings, tmp_path):
    connect.cache_clear()
    settings.EVIDENCE_DIR = tmp_path / "another machine"


def test_an_upload_begun_on_one_machine_continues_on_another_and_is_submitted(client, settings, tmp_path, stand_in):
    content = log_bytes("slow-disk-ms")
    address = announce(client, len(content), slice_length_s="10").headers["Location"]
    assert append(client, address, 0, content[:1000]).status_code == 204
    on_another_machine(settings, tmp_path)
    assert received(client, address) == 1000
    assert append(client, address, 1000, content[1000:]).status_code == 204
    sweep()
    draft = Draft.objects.get()
    assert client.post(f"/submit/{draft.public_id}/", FACTS).status_code == 302
    submission = Submission.objects.get()
    assert submission.runs.count() == 1, "the result of the draft was taken over"
    run = submission.runs.get()
    answer = client.get(f"/runs/{run.public_id}/log")
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == content
    assert list(tmp_path.iterdir()) == [tmp_path / "drivetest"], "no machine has files"


def test_an_upload_waits_while_the_store_does_not_answer(client, settings):
    address = announce(client, 10).headers["Location"]
    append(client, address, 0, b"01234")
    answering = settings.S3_ENDPOINT
    settings.S3_ENDPOINT = f"http://127.0.0.1:{free_port()}"
    answer = append(client, address, 5, b"56789")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert "Nothing that it received is lost." in answer.text
    assert DraftFile.objects.get().received_bytes == 5
    form = client.post("/submit/", {"log": io.BytesIO(b"a log"), "slice_length_s": "10"})
    assert (form.status_code, form.headers["Retry-After"]) == (503, "30")
    assert Draft.objects.count() == 1, "the refused form leaves no draft"
    settings.S3_ENDPOINT = answering
    assert append(client, address, 5, b"56789").status_code == 204
