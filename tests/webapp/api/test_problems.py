"""Errors of the API in one format (RFC 9457): the status gives the class, the detail the remedy."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from results.models import Submission
from webapp.access_limits.shared_limits import SharedLimit
from webapp.accounts.models import APIToken
from webapp.accounts.tokens.rules import issue_token
from webapp.api.authentication import ReadThrottle, ValidateThrottle

pytestmark = pytest.mark.django_db


def is_problem(answer, status):
    problem = answer.json()
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (answer.status_code, problem["status"]) == (status, status)
    assert problem["title"]
    assert problem["detail"]
    return problem


def log_file(content=b"log"):
    return {"log": SimpleUploadedFile("load.log", content)}


def test_401_without_a_token_names_the_scheme(client):
    for answer in [client.get("/api/v1/submissions/"), client.post("/api/v1/submissions/", log_file())]:
        is_problem(answer, 401)
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="drivecert"'
    assert Submission.objects.count() == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda token: APIToken.objects.update(revoked_at=timezone.now()),
        lambda token: APIToken.objects.update(expires_at=timezone.now()),
        lambda token: APIToken.objects.update(digest="0" * 64),
        lambda token: type(token.user).objects.update(is_active=False),
    ],
)
def test_401_for_an_invalid_token_has_the_same_text_for_every_reason(script, change):
    assert script.get("/api/v1/submissions/").status_code == 200
    change(APIToken.objects.get())
    problem = is_problem(script.get("/api/v1/submissions/"), 401)
    assert problem["detail"].startswith("The token is unknown, revoked or expired, or its owner has left")


def test_404_for_unknown_rows_and_addresses(script, client):
    is_problem(script.get("/api/v1/submissions/s-nothing/"), 404)
    is_problem(client.get("/api/v1/runs/r-nothing/"), 404)
    for path in ["/api/v1/nothing/", "/api/v1/", "/api/v1/submissions/a/b/"]:
        assert path in is_problem(client.post(path), 404)["detail"]


def test_405_and_415_for_requests_of_another_kind(script):
    is_problem(script.delete("/api/v1/submissions/"), 405)
    is_problem(script.post("/api/v1/submissions/", {"log": "text"}, content_type="application/json"), 415)


def test_400_lists_the_failing_fields(script):
    answer = script.post("/api/v1/submissions/", log_file(b"") | {"slice_length_s": "0", "category": "tape"})
    problem = is_problem(answer, 400)
    assert {error["field"] for error in problem["errors"]} == {"log", "slice_length_s", "category"}
    assert "The file is empty" in problem["detail"]


def test_400_names_an_item_of_a_list_by_its_place(script):
    body = {"uploads": ["/uploads/a/", "/uploads/\0/"]}
    problem = is_problem(script.post("/api/v1/drafts/", body, content_type="application/json"), 400)
    assert problem["errors"] == [{"field": "uploads[1]", "detail": "Null characters are not allowed."}]
    assert problem["detail"] == "Null characters are not allowed."


def test_413_for_a_log_beyond_the_limit_only(script, settings, evidence_dir):
    settings.UPLOAD_MAX_BYTES = 1000
    assert script.post("/api/v1/submissions/", log_file(bytes(1000))).status_code == 201
    assert "1,000 bytes" in is_problem(script.post("/api/v1/submissions/", log_file(bytes(1001))), 413)["detail"]


def test_429_states_when_to_retry(script, monkeypatch, stand_in):
    monkeypatch.setattr(ValidateThrottle, "rate", "1/min")
    assert script.post("/api/v1/validate/", log_file()).status_code == 422
    answer = script.post("/api/v1/validate/", log_file())
    is_problem(answer, 429)
    assert 0 < int(answer.headers["Retry-After"]) <= 60


def test_the_throttle_counts_each_token_separately(script, otto, monkeypatch, stand_in):
    monkeypatch.setattr(ValidateThrottle, "rate", "1/min")
    script.post("/api/v1/validate/", log_file())
    _, secret = issue_token(otto, otto.memberships.get().organisation, "theirs")
    other = Client(headers={"Authorization": f"Bearer {secret}"})
    assert other.post("/api/v1/validate/", log_file()).status_code == 422


def test_all_processes_count_together(client, monkeypatch):
    monkeypatch.setattr(ReadThrottle, "rate", "2/min")
    SharedLimit("api-read", 2, 60).take("127.0.0.1")  # as another process of the register does
    assert client.get("/api/v1/products/").status_code == 200
    assert client.get("/api/v1/products/").status_code == 429


def statuses(client, *forwarded):
    return [client.get("/api/v1/products/", headers={"X-Forwarded-For": each}).status_code for each in forwarded]


def test_a_forged_header_does_not_bypass_the_throttle(client, monkeypatch, settings):
    monkeypatch.setattr(ReadThrottle, "rate", "1/min")
    assert statuses(client, "203.0.113.1", "203.0.113.2", "") == [200, 429, 429]


def test_behind_a_trusted_proxy_each_client_is_counted_alone(client, monkeypatch, settings):
    monkeypatch.setattr(ReadThrottle, "rate", "1/min")
    settings.TRUSTED_PROXY_COUNT = 1
    assert statuses(client, "203.0.113.1", "203.0.113.2", "198.51.100.9, 203.0.113.2") == [200, 200, 429]


def test_a_64_network_of_ipv6_is_one_client(client, monkeypatch):
    monkeypatch.setattr(ReadThrottle, "rate", "1/min")
    peers = ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"]
    assert [client.get("/api/v1/products/", REMOTE_ADDR=peer).status_code for peer in peers] == [200, 429, 200]


def test_without_redis_each_process_counts_alone(client, monkeypatch, no_broker):
    monkeypatch.setattr(ReadThrottle, "rate", "2/min")
    assert [client.get("/api/v1/products/").status_code for _ in range(3)] == [200, 200, 429]
    assert 0 < int(client.get("/api/v1/products/").headers["Retry-After"]) <= 60
