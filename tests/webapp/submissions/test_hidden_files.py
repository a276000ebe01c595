"""Hidden files on the page of a submission, in its lists, in the API and on the page of operators."""

import pytest
from django.test import Client

from results.ingest.queue import sweep
from results.lifecycle.hidden_files import end_hiding, hide_file
from results.models import Evidence, HiddenFile, Run
from tests.results.builders import link_key, log_bytes, make_user, send
from tests.webapp.people import enter_password
from webapp.accounts.tokens.rules import issue_token
from webapp.notices.models import Notice

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]
NAME = "smith-laptop.log"
STUB = "hidden on request of Exemplar on "
FORM = {"reason": "confidential", "note": "It has the address of a customer."}


@pytest.fixture
def submission(exemplar, vera):
    sent = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    Evidence.objects.update(filename=NAME)
    sent.log.refresh_from_db()
    return sent


@pytest.fixture
def olga(db):
    return make_user("olga", is_operator=True)


@pytest.fixture
def hidden(submission, vera):
    return hide_file(submission, submission.log_id, vera, HiddenFile.Reason.CONFIDENTIAL, FORM["note"])


def page_of(submission):
    return f"/submissions/{submission.public_id}/"


def operator(as_user, olga):
    client = as_user(olga)
    enter_password(client)
    return client


def secrets_in(answer, log):
    return [each for each in (NAME, log.sha256, log.sha256[:12]) if each in answer.text]


def test_an_owner_hides_a_file_with_reason_and_note(as_user, vera, submission):
    client, page = as_user(vera), page_of(submission)
    assert f'action="{page}hide-file/"' in client.get(page).text
    answer = client.post(f"{page}hide-file/", FORM | {"file": submission.log_id}, follow=True)
    assert "The file is hidden. Only operators see it." in answer.text
    assert STUB in answer.text
    assert ": confidential content" in answer.text
    assert "address of a customer" not in answer.text
    assert f'action="{page}hide-file/"' not in answer.text
    assert "File hidden on request of its sender</b> by its organisation" in answer.text
    assert secrets_in(answer, submission.log) == []
    stored = HiddenFile.objects.get()
    assert (stored.requested_by, stored.reason, stored.note) == (vera, "confidential", FORM["note"])


@pytest.mark.parametrize("missing", ["reason", "note", "file"])
def test_the_form_needs_a_file_a_reason_and_a_note(as_user, vera, submission, missing):
    stated = FORM | {"file": submission.log_id}
    del stated[missing]
    as_user(vera).post(f"{page_of(submission)}hide-file/", stated)
    assert not HiddenFile.objects.exists()


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("submitter", 403), ("owner", 302)])
def test_of_the_members_only_owners_hide_files(as_user, exemplar, submission, role, status):
    user = make_user("nora")
    user.memberships.create(organisation=exemplar, role=role)
    client, page = as_user(user), page_of(submission)
    assert (f'action="{page}hide-file/"' in client.get(page).text) == (role == "owner")
    assert client.post(f"{page}hide-file/", FORM | {"file": submission.log_id}).status_code == status
    assert HiddenFile.objects.exists() == (role == "owner")


def test_a_reviewer_an_operator_and_a_stranger_do_not_hide_files(as_user, rita, otto, olga, submission):
    for user, status in ((rita, 403), (otto, 404), (olga, 404)):
        answer = as_user(user).post(f"{page_of(submission)}hide-file/", FORM | {"file": submission.log_id})
        assert answer.status_code == status
    by_link = Client().post(f"{page_of(submission)}hide-file/?key={link_key(submission)}", FORM)
    assert by_link.headers["Location"].startswith("/accounts/login/")
    assert not HiddenFile.objects.exists()


def test_no_reader_sees_name_or_hash_of_a_hidden_log_or_gets_it(as_user, vera, rita, submission, hidden):
    run, query = Run.objects.get(), f"?key={link_key(submission)}"
    for client, key in ((as_user(vera), ""), (as_user(rita), ""), (Client(), query)):
        for page in (page_of(submission), f"/runs/{run.public_id}/"):
            answer = client.get(f"{page}{key}")
            assert answer.status_code == 200
            assert STUB in answer.text, page
            assert secrets_in(answer, submission.log) == [], page
        for name in ("log", "lines/1/", "histograms.csv", "slices/1/", "again.conf"):
            answer = client.get(f"/runs/{run.public_id}/{name}{key}")
            assert answer.status_code == 404, name
            assert secrets_in(answer, submission.log) == [], name
        answer = client.get(f"/api/v1/runs/{run.public_id}/intervals/{key}")
        assert answer.status_code == 404
    assert STUB in as_user(rita).get(page_of(submission)).text


@pytest.mark.parametrize("path", ["/submissions/", "/submissions/certificate-requests/"])
def test_no_list_names_a_hidden_log(as_user, vera, submission, path):
    client = as_user(vera)
    assert NAME in client.get(path).text
    hide_file(submission, submission.log_id, vera, HiddenFile.Reason.WRONG_FILE)
    text = client.get(path).text
    assert (NAME in text, "hidden file" in text) == (False, True)


@pytest.mark.parametrize("path", ["/submissions/", "/submissions/review/"])
def test_no_list_finds_a_hidden_log_by_its_name(as_user, vera, rita, submission, path):
    client, address = as_user(rita if "review" in path else vera), f"{path}?q=smith-laptop"
    assert submission.public_id in client.get(address).text
    hide_file(submission, submission.log_id, vera, HiddenFile.Reason.WRONG_FILE)
    assert submission.public_id not in client.get(address).text


def test_the_api_has_neither_name_nor_hash_of_a_hidden_log(client, exemplar, vera, submission, hidden):
    bearer = {"Authorization": f"Bearer {issue_token(vera, exemplar, 'script')[1]}"}
    answer = client.get(f"/api/v1{page_of(submission)}", headers=bearer)
    log = answer.json()["log"]
    assert (log["is_hidden"], log["filename"], log["sha256"], log["content_sha256"]) == (True, "", "", "")
    assert answer.json()["reading"]["members"] == []
    assert secrets_in(answer, submission.log) == []


def test_the_members_of_a_hidden_archive_are_not_shown(client, as_user, exemplar, vera, submission):
    member = {"name": "smith/notes.log", "role": "log", "size_bytes": 1, "sha256": "d" * 64}
    submission.log.readings.update(members=[member])
    Run.objects.update(member=member["name"])
    bearer = {"Authorization": f"Bearer {issue_token(vera, exemplar, 'script')[1]}"}
    paths = (page_of(submission), f"/runs/{Run.objects.get().public_id}/")

    def texts():
        return [as_user(vera).get(path).text for path in paths] + [
            client.get(f"/api/v1{page_of(submission)}", headers=bearer).text
        ]

    assert all("smith/notes.log" in text for text in texts())
    hide_file(submission, submission.log_id, vera, HiddenFile.Reason.WRONG_FILE)
    assert not any("smith/notes.log" in text or "d" * 64 in text for text in texts())


def test_the_error_of_a_hidden_log_quotes_nothing(client, as_user, exemplar, vera, submission):
    error = {"id": "no-report", "line": 3, "expected": "a report", "got": "Dear Ms Smith", "remedy": "Send the log."}
    submission.log.readings.update(state="failed", error=error)
    bearer = {"Authorization": f"Bearer {issue_token(vera, exemplar, 'script')[1]}"}

    def texts():
        return [
            as_user(vera).get(page_of(submission)).text,
            client.get(f"/api/v1{page_of(submission)}", headers=bearer).text,
        ]

    assert all("Dear Ms Smith" in text for text in texts())
    hide_file(submission, submission.log_id, vera, HiddenFile.Reason.PERSONAL_DATA)
    assert not any("Dear Ms Smith" in text for text in texts())
    assert "no-report" in texts()[0]


def test_a_reviewer_reads_why_a_hidden_log_is_not_approved(as_user, rita, submission, hidden):
    text = as_user(rita).get(page_of(submission)).text
    assert "The log is hidden on request of Exemplar, so it cannot be approved." in text
    assert "legal reasons" not in text


def test_only_operators_see_the_list_and_the_file(as_user, vera, rita, olga, submission, hidden):
    for user in (vera, rita):
        for path in ("/hidden-files/", f"/hidden-files/{hidden.pk}/file/"):
            assert as_user(user).get(path).status_code == 403, path
        assert as_user(user).post(f"/hidden-files/{hidden.pk}/end/", {"reason": "x"}).status_code == 403
    client = operator(as_user, olga)
    answer = client.get("/hidden-files/")
    assert NAME in answer.text
    assert FORM["note"] in answer.text
    assert submission.log.sha256[:8] in answer.text
    file = client.get(f"/hidden-files/{hidden.pk}/file/")
    assert b"".join(file.streaming_content) == log_bytes("four-us")
    assert file.headers["Content-Security-Policy"] == "sandbox"


def test_an_operator_ends_a_hiding_with_a_reason(as_user, vera, olga, submission, hidden):
    client = operator(as_user, olga)
    answer = client.post(f"/hidden-files/{hidden.pk}/end/", {"reason": ""}, follow=True)
    assert "Enter a reason." in answer.text
    answer = client.post(f"/hidden-files/{hidden.pk}/end/", {"reason": "It has no such data."}, follow=True)
    assert "is no longer hidden" in answer.text
    assert "No file is hidden." in answer.text
    text = as_user(vera).get(page_of(submission)).text
    assert NAME in text
    assert "File no longer hidden</b> by an operator: <bdi>It has no such data.</bdi>" in text
    assert client.get(f"/hidden-files/{hidden.pk}/file/").status_code == 404


def test_members_reviewers_and_operators_are_notified(exemplar, vera, rita, olga, submission):
    viv = make_user("viv")
    viv.memberships.create(organisation=exemplar, role="viewer")
    Notice.objects.all().delete()
    hidden = hide_file(submission, submission.log_id, vera, HiddenFile.Reason.CONFIDENTIAL, FORM["note"])
    rows = {(each.recipient.username, each.kind, each.subject_type) for each in Notice.objects.all()}
    assert rows == {
        ("viv", "file-hidden", "submission"),
        ("rita", "file-hidden", "submission"),
        ("olga", "file-hidden", "hidden-file"),
    }
    Notice.objects.all().delete()
    end_hiding(hidden, olga, "It has no such data.")
    rows = set(Notice.objects.values_list("recipient__username", "kind"))
    assert rows == {("viv", "file-shown"), ("vera", "file-shown"), ("rita", "file-shown")}
