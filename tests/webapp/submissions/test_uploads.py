"""Request bodies with files: at addresses without uploads, from strangers, and too many."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import StopUpload
from django.test import Client

from results.models import Submission
from webapp.accounts.tokens.rules import issue_token
from webapp.submissions.uploads import UploadLimitHandler

pytestmark = pytest.mark.django_db

COOKIE = "c" * 32  # invented: any 32 letters pass for a token until it is compared


@pytest.fixture
def stranger():
    """Send a cookie of one's own making: the body is then searched for the token that belongs to it."""
    client = Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = COOKIE
    return client


def send_file(client, path, *names):
    return client.post(path, {name: SimpleUploadedFile(f"{name}.log", b"x" * 100) for name in names or ["log"]})


@pytest.mark.parametrize("path", ["/", "/submit/", "/nothing/", "/accounts/login/", "/lab/"])
def test_a_file_of_a_stranger_is_not_stored_temporarily(stranger, path):
    answer = send_file(stranger, path)
    assert answer.status_code in {403, 404, 405}
    assert answer.wsgi_request.FILES == {}


def test_a_file_sent_to_an_address_without_uploads_is_not_stored(stranger, vera):
    stranger.force_login(vera)
    assert send_file(stranger, "/accounts/login/").wsgi_request.FILES == {}
    assert send_file(stranger, "/submit/").wsgi_request.FILES != {}


@pytest.mark.parametrize("path", ["/api/v1/validate/", "/api/v1/submissions/"])
def test_an_invalid_token_uploads_nothing(path, vera, exemplar):
    client = Client(headers={"Authorization": "Bearer dc_invented"})
    answer = send_file(client, path)
    assert answer.status_code == 401
    assert answer.wsgi_request.FILES == {}


def test_two_files_in_one_request_are_refused(as_user, vera, evidence_dir):
    _, secret = issue_token(vera, vera.memberships.get().organisation, "script")
    script = Client(headers={"Authorization": f"Bearer {secret}"})
    assert send_file(as_user(vera), "/submit/", "log", "other").status_code == 400
    answer = send_file(script, "/api/v1/submissions/", "log", "other")
    assert answer.status_code == 400
    assert "each log in a request of its own" in answer.json()["detail"]
    assert Submission.objects.count() == 0


def test_the_limit_applies_to_all_files_together(as_user, vera, evidence_dir, settings):
    settings.UPLOAD_MAX_BYTES, settings.DATA_UPLOAD_MAX_NUMBER_FILES = 199, 2
    answer = send_file(as_user(vera), "/submit/", "log", "other")
    assert answer.status_code == 413
    settings.UPLOAD_MAX_BYTES = 200
    assert send_file(as_user(vera), "/submit/", "log", "other").status_code == 400


def test_a_handler_without_a_request_accepts_nothing():
    handler = UploadLimitHandler()
    with pytest.raises(StopUpload):
        handler.new_file("log", "load.log", "text/plain", 1)
