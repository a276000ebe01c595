"""Reviews by API: approvals, declines, questions and answers with the tokens of reviewers and submitters."""

import threading

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client

from results.ingest.queue import sweep
from results.lifecycle.review import create_product
from results.models import Approval, Event, Question, Run, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, send
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture(autouse=True)
def two_needed(settings):
    settings.REVIEWS_NEEDED = 2


def script_of(user, organisation):
    scopes = ["submit", "read-own", *(["review"] if user.is_reviewer else [])]
    _, secret = issue_token(user, organisation, "script of " + user.username, scopes)
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def lab(db):
    return make_organisation("lab")


@pytest.fixture
def rolf(lab):
    return make_user("rolf", lab, is_reviewer=True)


@pytest.fixture
def first(lab):
    return script_of(make_user("rhea", lab, is_reviewer=True), lab)


@pytest.fixture
def second(rolf, lab):
    return script_of(rolf, lab)


@pytest.fixture
def submission(evidence_dir, stand_in, exemplar, vera, rita):
    submission = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    create_product(submission, rita)
    return submission


def address_of(submission, end=""):
    return f"/api/v1/submissions/{submission.public_id}/{end}"


def approve(script, submission, accepted=None):
    if accepted is None:
        accepted = script.get(address_of(submission, "review/")).json()["warnings"]
    return script.post(address_of(submission, "approval/"), {"accepted_warnings": accepted}, JSON)


def test_the_second_of_two_reviewers_publishes(submission, first, second):
    answer = approve(first, submission)
    assert answer.status_code == 200, answer.text
    approvals = answer.json()["approvals"]
    assert (approvals["given"], approvals["needed"], approvals["is_given"]) == (1, 2, True)
    assert Run.objects.get().visibility == "unreviewed"
    published = approve(second, submission).json()
    assert (published["state"], published["runs"][0]["visibility"], published["approvals"]) == (
        "published", "public", None,
    )  # fmt: skip


def test_each_warning_has_to_be_accepted(submission, first):
    warnings = first.get(address_of(submission, "review/")).json()["warnings"]
    assert warnings
    refused = approve(first, submission, warnings[:-1])
    assert (refused.status_code, refused.json()["code"]) == (409, "warnings-not-accepted")
    assert refused.json()["warnings"] == warnings[-1:]
    assert not Approval.objects.exists()
    assert approve(first, submission, warnings).status_code == 200


def test_of_parallel_requests_of_a_reviewer_one_is_stored(submission, first):
    assert approve(first, submission).status_code == 200
    again = approve(first, submission)
    assert (again.status_code, again.json()["code"]) == (409, "already-approved")
    assert Approval.objects.count() == 1


def test_an_approval_is_taken_back(submission, first):
    approve(first, submission)
    assert first.delete(address_of(submission, "approval/")).json()["approvals"]["given"] == 0
    refused = first.delete(address_of(submission, "approval/"))
    assert (refused.status_code, refused.json()["code"]) == (409, "no-approval")


def test_nobody_approves_for_their_own_organisation(submission, exemplar):
    member = script_of(make_user("mia", exemplar, is_reviewer=True), exemplar)
    refused = approve(member, submission)
    assert (refused.status_code, refused.json()["code"]) == (409, "barred-organisation")
    assert not Approval.objects.exists()


def test_a_submission_without_a_product_is_not_approved(submission, first):
    Submission.objects.update(product=None)
    Run.objects.update(product=None)
    assert approve(first, submission).json()["code"] == "no-product"


def test_a_decline_has_a_reason_that_the_organisation_reads(submission, first, script):
    refused = first.post(address_of(submission, "decline/"), {"reason": " "}, JSON)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "reason")
    assert first.post(address_of(submission, "decline/"), {"reason": "not steady"}, JSON).json()["state"] == "declined"
    assert Event.objects.get(kind="submission-declined").reason == "not steady"
    assert script.get(address_of(submission, "review/")).json()["state"] == "declined"


def test_a_published_submission_is_not_declined(submission, first, second):
    approve(first, submission)
    approve(second, submission)
    refused = first.post(address_of(submission, "decline/"), {"reason": "late"}, JSON)
    assert (refused.status_code, refused.json()["code"]) == (409, "past-review")


def test_a_reviewer_asks_and_the_organisation_answers(submission, first, script):
    asked = first.post(address_of(submission, "questions/"), {"question": "Which slot?"}, JSON)
    assert (asked.status_code, asked.json()["waits_for"]["step"]) == (201, "answer")
    assert asked.json()["waits_for"]["party"] == "submitter"
    assert (
        first.post(address_of(submission, "questions/"), {"question": "And?"}, JSON).json()["code"] == "question-open"
    )
    assert approve(first, submission).json()["code"] == "question-open"
    (question,) = script.get(address_of(submission, "review/")).json()["questions"]
    assert (question["text"], question["answered_at"]) == ("Which slot?", None)
    answered = script.post(address_of(submission, "answer/"), {"answer": "Slot 1."}, JSON)
    assert answered.status_code == 200
    assert answered.json()["questions"][0]["answer"] == "Slot 1."
    assert Question.objects.get().answered_by.username == "vera"
    again = script.post(address_of(submission, "answer/"), {"answer": "Slot 2."}, JSON)
    assert (again.status_code, again.json()["code"]) == (409, "no-open-question")
    assert approve(first, submission).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_answers_at_once_one_is_stored(submission, first, script):
    first.post(address_of(submission, "questions/"), {"question": "Which slot?"}, JSON)
    answers, together = [], threading.Barrier(2)

    def request(text):
        client = Client()
        client.defaults.update(script.defaults)
        together.wait()
        answers.append(client.post(address_of(submission, "answer/"), {"answer": text}, JSON).status_code)
        connection.close()

    threads = [threading.Thread(target=request, args=[text]) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, 409]


DECISIONS = [("post", "approval/"), ("delete", "approval/"), ("post", "decline/"), ("post", "questions/")]


def test_only_reviewers_decide(submission, script, otto):
    other = script_of(otto, otto.memberships.get().organisation)
    for client in (script, other):
        for method, end in DECISIONS:
            refused = getattr(client, method)(address_of(submission, end), {}, JSON)
            assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing")
        assert client.get("/api/v1/review/").status_code == 403
    assert Client().post(address_of(submission, "approval/")).status_code == 401
    assert other.get(address_of(submission, "review/")).status_code == 404
    assert other.post(address_of(submission, "answer/"), {"answer": "Mine."}, JSON).status_code == 404
    assert not Event.objects.filter(kind__startswith="submission-declined").exists()


def test_a_submitter_reads_no_warnings_and_no_approvals(submission, script, first):
    approve(first, submission)
    found = script.get(address_of(submission, "review/")).json()
    assert (found["warnings"], found["approvals"], found["waits_for"]["step"]) == (None, None, "review")
    assert "rhea" not in script.get(address_of(submission, "review/")).text


def test_a_reviewer_answers_no_question_of_another_organisation(submission, first):
    first.post(address_of(submission, "questions/"), {"question": "Which slot?"}, JSON)
    assert first.post(address_of(submission, "answer/"), {"answer": "Mine."}, JSON).status_code == 404


def test_the_queue_names_what_is_missing(submission, first):
    (row,) = first.get("/api/v1/review/").json()["results"]
    assert (row["id"], row["missing"], row["approvals"]) == (submission.public_id, "approval", None)
    approve(first, submission)
    (row,) = first.get("/api/v1/review/").json()["results"]
    assert (row["missing"], row["approvals"]) == ("second-approval", 1)


def test_on_a_public_register_a_reviewer_without_a_second_factor_decides_nothing(submission, rolf, second, settings):
    settings.PRODUCTION = True
    for method, end in DECISIONS:
        refused = getattr(second, method)(address_of(submission, end), {}, JSON)
        assert (refused.status_code, refused.json()["code"]) == (403, "second-factor-missing")
    patched = second.patch("/api/v1/products/exemplar-ex4/facts/", {"pcie_gen": "4", "reason": "x"}, JSON)
    assert patched.json()["code"] == "second-factor-missing"
    assert second.get(address_of(submission, "review/")).status_code == 404  # the rights of a member of the lab
    Authenticator.objects.create(user=rolf, type=Authenticator.Type.RECOVERY_CODES, data={})
    assert second.get("/api/v1/review/").status_code == 403
    Authenticator.objects.create(user=rolf, type=Authenticator.Type.TOTP, data={})
    assert approve(second, submission).status_code == 200


def test_an_unknown_submission_is_not_found(first, script):
    for client in (first, script):
        assert client.get("/api/v1/submissions/s-unknown/review/").status_code == 404
    assert first.post("/api/v1/submissions/s-unknown/approval/", {}, JSON).status_code == 404
