"""The upload server: the protocol, its senders, its limits, and what is on disk."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from results.intake.drafts import remove_expired
from results.models import Draft, DraftFile, DraftReading
from tests.results.builders import make_organisation, make_user, sha256
from tests.results.stored_files import staged_path
from tests.webapp.submissions.drafts.uploads import announce, append, received, upload
from webapp.accounts.models import Role
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db
TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
def client(as_user, vera, evidence_dir):
    return as_user(vera)


@pytest.fixture
def address(client):
    """Return the address of a file of ten bytes."""
    return announce(client, 10).headers["Location"]


def script(user, organisation):
    _, secret = issue_token(user, organisation, "script")
    return Client(headers={"Authorization": f"Bearer {secret}"})


def test_the_server_reports_its_version_extensions_and_largest_file(client, settings):
    settings.UPLOAD_MAX_BYTES = 1000
    answer = Client().options("/uploads/")
    assert (answer.status_code, answer.headers["Tus-Version"], answer.headers["Tus-Max-Size"]) == (204, "1.0.0", "1000")
    assert answer.headers["Tus-Extension"] == "creation,termination,expiration"


def test_a_file_arrives_in_pieces_and_has_its_hash(client, address):
    assert append(client, address, 0, b"01234").headers["Upload-Offset"] == "5"
    assert received(client, address) == 5
    assert append(client, address, 5, b"56789").headers["Upload-Offset"] == "10"
    file = DraftFile.objects.get()
    assert (file.sha256, staged_path(file.key).read_bytes()) == (sha256(b"0123456789"), b"0123456789")


def test_a_wrong_offset_is_refused_and_the_right_one_is_reported(client, address):
    append(client, address, 0, b"01234")
    for offset in (4, 6):
        answer = append(client, address, offset, b"x")
        assert (answer.status_code, answer.headers["Upload-Offset"]) == (409, "5")
    assert staged_path(DraftFile.objects.get().key).read_bytes() == b"01234"


def test_more_bytes_than_announced_are_refused(client, address):
    assert append(client, address, 0, b"01234567890").status_code == 400
    assert received(client, address) == 0


def test_bytes_after_the_offset_are_cut_off_when_the_upload_continues(client, address):
    append(client, address, 0, b"01234")
    path = staged_path(DraftFile.objects.get().key)
    with path.open("ab") as file:
        file.write(b"written, and never committed")
    append(client, address, 5, b"56789")
    assert path.read_bytes() == b"0123456789"


def test_an_upload_whose_bytes_are_lost_is_gone(client, address):
    append(client, address, 0, b"01234")
    staged_path(DraftFile.objects.get().key).write_bytes(b"012")
    answer = append(client, address, 5, b"56789")
    assert (answer.status_code, "lost bytes" in answer.text) == (410, True)


def test_the_offset_is_stored_after_the_bytes_are_on_disk(client, address, monkeypatch):
    steps = []
    monkeypatch.setattr("os.fsync", lambda _: steps.append(DraftFile.objects.get().received_bytes))
    append(client, address, 0, b"01234")
    assert steps
    assert set(steps) == {0}


def test_a_request_of_another_version_is_refused(client):
    answer = client.post("/uploads/", headers={"Tus-Resumable": "0.2.2", "Upload-Length": "1"})
    assert (answer.status_code, answer.headers["Tus-Version"]) == (412, "1.0.0")


@pytest.mark.parametrize("length", ["", "-1", "1e3", "9" * 16])
def test_a_length_that_is_no_number_is_refused(client, length):
    assert client.post("/uploads/", headers=TUS | {"Upload-Length": length}).status_code == 400


def test_metadata_that_is_not_base64_is_refused(client):
    headers = TUS | {"Upload-Length": "1", "Upload-Metadata": "filename load.log"}
    assert client.post("/uploads/", headers=headers).status_code == 400


def test_a_body_of_another_type_is_refused(client, address):
    headers = TUS | {"Upload-Offset": "0"}
    assert client.patch(address, b"x", content_type="text/plain", headers=headers).status_code == 415


def test_a_method_may_be_in_a_header(client, address):
    answer = client.post(address, headers=TUS | {"X-HTTP-Method-Override": "DELETE"})
    assert (answer.status_code, Draft.objects.count()) == (204, 0)


def test_a_stranger_and_a_viewer_upload_nothing(client, vera):
    assert announce(Client(), 1).status_code == 401
    assert announce(Client(headers={"Authorization": "Bearer dc_invented"}), 1).status_code == 401
    vera.memberships.update(role=Role.VIEWER)
    assert announce(client, 1).status_code == 403


def test_a_session_needs_the_csrf_token_and_an_api_token_does_not(vera, exemplar, evidence_dir):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(vera)
    assert announce(browser, 1).status_code == 403
    _, secret = issue_token(vera, exemplar, "script")
    assert (
        announce(Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"}), 1).status_code == 201
    )


def test_another_organisation_finds_neither_file_nor_draft(client, address, as_user, otto):
    stranger, draft = as_user(otto), Draft.objects.get().public_id
    assert stranger.head(address, headers=TUS).status_code == 410
    assert append(stranger, address, 0, b"x").status_code == 410
    assert stranger.delete(address, headers=TUS).status_code == 410
    assert announce(stranger, 1, draft=draft).status_code == 410
    assert DraftFile.objects.get().received_bytes == 0


def test_a_colleague_continues_an_upload(client, address, exemplar, as_user):
    assert append(as_user(make_user("carl", exemplar)), address, 0, b"0").status_code == 204


def test_a_token_uploads_for_its_own_organisation(vera, exemplar, evidence_dir):
    two = make_organisation("two")
    vera.memberships.create(organisation=two, role=Role.OWNER)
    upload(script(vera, two), b"log")
    assert Draft.objects.get().organisation == two
    assert announce(script(vera, two), 1, organisation="exemplar").status_code == 403


def test_the_first_file_is_the_log_and_the_next_ones_belong_to_it(client):
    draft = upload(client, b"log")
    upload(client, b"said", "run.stderr", draft=draft)
    assert list(DraftFile.objects.values_list("filename", "role")) == [("load.log", "log"), ("run.stderr", "companion")]


def test_a_second_log_and_an_empty_log_are_refused(client):
    draft = upload(client, b"log")
    assert announce(client, 1, draft=draft, role="log").status_code == 400
    assert announce(client, 0).status_code == 400
    assert announce(client, 1, role="video").status_code == 400
    assert Draft.objects.count() == 1


def test_an_empty_companion_is_complete_at_once(client):
    draft = upload(client, b"", "run.stderr", role="companion")
    assert DraftFile.objects.get().sha256 == sha256(b"")
    assert not DraftReading.objects.exists()
    upload(client, b"log", draft=draft)
    assert DraftReading.objects.get().state == "pending"


def test_a_draft_is_queued_when_its_last_file_has_arrived(client):
    first = announce(client, 3)
    second = announce(client, 2, "run.stderr", draft=first.headers["Drivecert-Draft"])
    append(client, first.headers["Location"], 0, b"log")
    assert not DraftReading.objects.exists()
    append(client, second.headers["Location"], 0, b"ok")
    assert DraftReading.objects.get().state == "pending"


def test_a_file_of_the_maximum_size_is_accepted_and_a_larger_one_is_refused(client, settings):
    settings.UPLOAD_MAX_BYTES = 1000
    assert announce(client, 1000).status_code == 201
    answer = announce(client, 1001)
    assert (answer.status_code, "at most 1,000 bytes" in answer.text) == (413, True)


def test_the_quota_of_bytes_counts_announced_files_of_the_organisation(client, settings, as_user, otto):
    settings.DRAFT_BYTES_MAX = 100
    assert announce(client, 60).status_code == 201
    answer = announce(client, 41)
    assert (answer.status_code, "Submit or delete a draft" in answer.text) == (507, True)
    assert announce(client, 40).status_code == 201
    assert announce(as_user(otto), 100).status_code == 201


def test_the_quota_of_files_ends_with_a_deleted_file(client, settings):
    settings.DRAFT_FILES_MAX = 1
    address = announce(client, 1).headers["Location"]
    assert announce(client, 1).status_code == 507
    client.delete(address, headers=TUS)
    assert announce(client, 1).status_code == 201


def test_a_full_disk_keeps_what_arrived(client, address, monkeypatch):
    append(client, address, 0, b"01234")

    def is_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("results.evidence.directory.os.write", is_full)
    assert append(client, address, 5, b"56789").status_code == 507
    assert received(client, address) == 5


def test_a_deleted_file_leaves_the_disk(client, address, django_capture_on_commit_callbacks):
    append(client, address, 0, b"01234")
    path = staged_path(DraftFile.objects.get().key)
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(address, headers=TUS).status_code == 204
    assert (path.parent.exists(), Draft.objects.count()) == (False, 0)
    assert client.head(address, headers=TUS).status_code == 410


def test_a_draft_expires_after_seven_days(client, address, django_capture_on_commit_callbacks):
    append(client, address, 0, b"01234")
    draft, path = Draft.objects.get(), staged_path(DraftFile.objects.get().key)
    assert timedelta(days=6, hours=23) < draft.expires_at - timezone.now() <= timedelta(days=7)
    assert remove_expired() == 0
    Draft.objects.update(expires_at=timezone.now())
    assert client.head(address, headers=TUS).status_code == 410
    with django_capture_on_commit_callbacks(execute=True):
        assert remove_expired() == 1
    assert (path.parent.exists(), Draft.objects.exists(), DraftFile.objects.exists()) == (False, False, False)


def test_a_new_draft_may_state_its_slice_length(client):
    assert announce(client, 1, slice_length_s="86401").status_code == 400
    assert announce(client, 1, slice_length_s="60").status_code == 201
    assert Draft.objects.get().slice_length_s == 60
