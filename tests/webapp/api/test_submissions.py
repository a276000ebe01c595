import threading

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from results.ingest.queue import sweep
from results.intake.submissions import COMPANIONS_MAX
from results.models import Evidence, Product, Submission, SubmissionKey
from results.models.ids import hash_link_key
from tests.results.builders import link_key, log_bytes, send, sha256

pytestmark = pytest.mark.django_db

FACTS = {"vendor": "Exemplar", "model": "EX4", "category": "nvme-flash", "slice_length_s": "10"}


def post(client, content=b"log", key=None, **facts):
    headers = {"Idempotency-Key": key} if key else {}
    log = SimpleUploadedFile("load.log", content)
    return client.post("/api/v1/submissions/", FACTS | facts | {"log": log}, headers=headers)


def test_a_log_is_submitted_and_followed_to_its_verdict(script, stand_in, evidence_dir):
    created = post(script, log_bytes("slow-disk-ms"))
    assert (created.status_code, created.json()["state"]) == (201, "received")
    sweep()

    answer = script.get(created.headers["Location"]).json()
    assert (answer["state"], answer["reading"]["state"]) == ("awaiting-identity", "done")
    assert answer["log"]["sha256"] == sha256(log_bytes("slow-disk-ms"))
    verdict = answer["runs"][0]["verdict"]
    assert verdict["outcome"] == "fail"
    assert verdict["document"]["violations"][0]["share_pct"] == "0.33"


def test_the_same_bytes_return_200_with_the_same_submission(script, evidence_dir):
    first, again = post(script), post(script, model="other")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["model"] == "EX4"


def test_only_a_log_is_needed(script, evidence_dir):
    answer = script.post("/api/v1/submissions/", {"log": SimpleUploadedFile("load.log", b"log")})
    assert answer.status_code == 201
    assert (answer.json()["slice_length_s"], answer.json()["model"]) == (3600, "")


def test_a_key_with_the_same_bytes_is_the_same_request(script, evidence_dir):
    assert post(script, key="k1").status_code == 201
    assert post(script, key="k1").status_code == 200


def test_a_key_with_other_bytes_is_refused_and_nothing_is_recorded(script, evidence_dir):
    post(script, key="k1")
    answer = post(script, b"other log", key="k1")
    assert answer.status_code == 409
    assert "new key" in answer.json()["detail"]
    assert Submission.objects.count() == Evidence.objects.count() == 1
    assert post(script, b"other log", key="k2").status_code == 201


def test_every_key_of_a_log_is_stored(script, evidence_dir):
    assert post(script, b"A", key="k1").status_code == 201
    assert post(script, b"A", key="k2").status_code == 200
    assert post(script, b"B", key="k2").status_code == 409
    assert post(script, b"B", key="k1").status_code == 409
    assert Submission.objects.count() == 1


def test_another_organisation_may_use_the_same_key(script, otto, evidence_dir):
    post(script, key="k1")
    other = send(otto.memberships.get().organisation, b"theirs")
    SubmissionKey.objects.create(submission=other, organisation=other.organisation, key="k1")
    assert SubmissionKey.objects.filter(key="k1").count() == 2


def test_a_key_may_have_200_characters_and_no_more(script, evidence_dir):
    assert post(script, key="k" * 201).status_code == 400
    assert post(script, key="k" * 200).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_with_one_key_accept_one_of_two_logs(script, evidence_dir):
    answers, together = [], threading.Barrier(2)

    def submit(content):
        together.wait()
        answers.append(post(script, content, key="k1").status_code)
        connection.close()

    threads = [threading.Thread(target=submit, args=[content]) for content in (b"one", b"two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201, 409]
    assert Submission.objects.count() == 1


def test_submissions_of_others_are_not_found(script, otto, evidence_dir):
    foreign = send(otto.memberships.get().organisation, b"theirs")
    assert script.get(f"/api/v1/submissions/{foreign.public_id}/").status_code == 404
    assert script.get("/api/v1/submissions/").json()["results"] == []


def test_the_link_key_is_not_in_the_answer(script, evidence_dir):
    submission_id = post(script).json()["id"]
    key = link_key(Submission.objects.get())
    answer = script.get(f"/api/v1/submissions/{submission_id}/").text
    assert key not in answer
    assert hash_link_key(key) not in answer


def test_the_list_needs_as_many_queries_for_50_rows_as_for_one(script, exemplar, evidence_dir, connection_queries):
    product = Product.objects.create(slug="ex4", category="nvme-flash", vendor="Exemplar", model="EX4")

    def add_row(content):
        submission = send(exemplar, content)
        run = submission.runs.create(product=product, tier="vendor-reported", statistic="worst-slice")
        run.shares.create(statistic="worst-slice", threshold_us=1000, share_pct=1, printed="1.00")

    add_row(b"log")
    script.get("/api/v1/submissions/")  # notes the use of the token, once a minute
    with connection_queries() as one:
        script.get("/api/v1/submissions/")
    for number in range(49):
        add_row(f"log {number}".encode())
    with connection_queries() as fifty:
        assert len(script.get("/api/v1/submissions/").json()["results"]) == 50
    assert len(one) == len(fifty)


def post_with(client, *companions, log=b"log"):
    files = [SimpleUploadedFile(name, content) for name, content in companions]
    sent = {"log": SimpleUploadedFile("load.log", log), "companions": files}
    return client.post("/api/v1/submissions/", FACTS | sent)


def test_attachments_of_a_log_are_listed_with_their_hashes(script, evidence_dir):
    answer = post_with(script, ("run.stderr", b"said"), ("empty.cmd", b"")).json()
    assert answer["companions"] == [
        {"filename": "empty.cmd", "role": "", "sha256": sha256(b""), "size_bytes": 0, "is_hidden": False},
        {"filename": "run.stderr", "role": "", "sha256": sha256(b"said"), "size_bytes": 4, "is_hidden": False},
    ]


def test_new_attachments_of_a_read_log_return_409_and_known_ones_200(script, stand_in, evidence_dir):
    log = log_bytes("four-us")
    post_with(script, ("run.stderr", b"said"), log=log)
    sweep()
    late = post_with(script, ("other.stderr", b"more"), log=log)
    assert (late.status_code, "other.stderr" in late.json()["detail"]) == (409, True)
    assert post_with(script, ("run.stderr", b"said"), log=log).status_code == 200


@pytest.mark.parametrize(("number", "status"), [(COMPANIONS_MAX, 201), (COMPANIONS_MAX + 1, 400)])
def test_the_number_of_attachments_is_limited(script, evidence_dir, number, status):
    assert post_with(script, *[(f"{each}.hdr", b"%d" % each) for each in range(number)]).status_code == status


def test_region_and_zone_are_stored_and_returned_with_the_run(script, stand_in, evidence_dir):
    created = post(script, log_bytes("slow-disk-ms"), region="us-east-1", zone="us-east-1a")
    assert (created.json()["region"], created.json()["zone"]) == ("us-east-1", "us-east-1a")
    sweep()
    (run,) = script.get(created.headers["Location"]).json()["runs"]
    assert (run["region"], run["zone"], run["started_at"]) == ("us-east-1", "us-east-1a", None)


def test_a_missing_region_is_empty_and_a_long_one_is_refused(script, evidence_dir):
    assert post(script).json()["region"] == ""
    answer = post(script, b"other", region="r" * 61)
    assert (answer.status_code, "region" in answer.text) == (400, True)
