"""Drafts by API: from uploaded files to a submission, with the refusals of the pages."""

import threading

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from results.ingest.queue import sweep
from results.models import Draft, DraftFile, DraftReading, Event, Evidence, Product, Submission
from tests.results.builders import log_bytes, make_user, send
from tests.results.documents import act_run, answer_with, document_of
from tests.results.stored_files import staged_path
from tests.webapp.submissions.drafts.uploads import announce, append, upload
from webapp.accounts.models import Role
from webapp.accounts.tokens.rules import issue_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]

FACTS = {"vendor": "Exemplar", "model": "EX4", "category": "nvme-flash", "capacity_gb": 3200, "firmware": "1.2"}
JSON = "application/json"


def script_of(user, organisation):
    _, secret = issue_token(user, organisation, "another script")
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def other_script(otto):
    return script_of(otto, otto.memberships.get().organisation)


def read_draft(script, **metadata):
    """Upload a log that fails, have it read, and return the address of its draft."""
    draft = upload(script, log_bytes("slow-disk-ms"), slice_length_s="10", **metadata)
    sweep()
    return f"/api/v1/drafts/{draft}/"


def submit(script, address, **facts):
    return script.post(f"{address}submit/", FACTS | facts, JSON)


def put(script, content, name):
    """Upload a file into a draft of its own, and return its address, as tuspy knows it."""
    address = announce(script, len(content), name).headers["Location"]
    if content:
        append(script, address, 0, content)
    return address


def test_a_draft_is_read_and_submitted_with_one_more_call(script, stand_in):
    address = read_draft(script)
    preview = script.get(address).json()
    assert (preview["state"], preview["reading"]["state"], preview["submission"]) == ("read", "done", None)
    (run,) = preview["document"]["runs"]
    assert (run["verdict"]["outcome"], "slices" in run, "histograms" in run) == ("fail", False, False)
    missing = preview["certificate"]["attempts"][0]["missing"]
    assert all(each["id"] and each["sentence"] for each in missing)

    answer = submit(script, address)
    assert answer.status_code == 201, answer.text
    submission = Submission.objects.get()
    assert answer.headers["Location"] == f"/api/v1/submissions/{submission.public_id}/"
    assert (answer.json()["submission"]["model"], answer.json()["notes"]) == ("EX4", [])
    assert (submission.origin, submission.slice_length_s, submission.capacity_gb) == ("api", 10, 3200)
    after = script.get(address).json()
    assert (after["state"], after["submission"]) == ("submitted", submission.public_id)
    assert "document" not in after


def test_a_draft_before_its_reading_says_what_it_waits_for_and_is_not_submitted(script, stand_in):
    location = announce(script, 4, "load.log").headers["Location"]
    draft = Draft.objects.get()
    address = f"/api/v1/drafts/{draft.public_id}/"
    assert script.get(address).json()["state"] == "arriving"
    append(script, location, 0, b"text")
    assert script.get(address).json()["state"] == "reading"
    refused = submit(script, address)
    assert (refused.status_code, refused.json()["code"]) == (409, "draft-unread")
    assert "until its state is read or failed" in refused.json()["detail"]
    assert not Submission.objects.exists()


def test_a_draft_with_a_file_that_has_not_arrived_is_not_submitted(script, stand_in):
    address = read_draft(script)
    location = announce(script, 4, "run.stderr", draft=address.split("/")[-2]).headers["Location"]
    assert submit(script, address).json()["code"] == "draft-unread"
    append(script, location, 0, b"said")
    sweep()
    assert submit(script, address).status_code == 201
    assert [each.filename for each in Submission.objects.get().companions.all()] == ["run.stderr"]


def test_a_repeated_submit_returns_the_first_submission_with_its_facts(script, stand_in):
    address = read_draft(script)
    first, again = submit(script, address), submit(script, address, model="EX5")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["submission"]["id"] == first.json()["submission"]["id"]
    assert again.json()["submission"]["model"] == "EX4"
    assert [note["code"] for note in again.json()["notes"]] == ["known-log"]


@pytest.mark.django_db(transaction=True)
def test_fifty_parallel_submits_give_one_submission(script, stand_in):
    address = read_draft(script)
    answers, together = [], threading.Barrier(50)

    def request():
        client = Client()
        client.defaults.update(script.defaults)
        together.wait()
        answers.append(submit(client, address))
        connection.close()

    threads = [threading.Thread(target=request) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200] * 49 + [201]
    assert len({answer.json()["submission"]["id"] for answer in answers}) == 1
    assert Submission.objects.count() == 1
    assert Event.objects.filter(kind="submission-received").count() == 1


@pytest.mark.parametrize(("facts", "field", "words"), [
    ({"model": ""}, "model", "required"),
    ({"category": "tape"}, "category", "tape"),
    ({"capacity_gb": 0}, "capacity_gb", "greater than or equal to 1"),
    ({"modell": "EX4"}, "modell", "Expected one of firmware"),
    ({"embargo_until": "2001-01-01T00:00Z"}, "embargo_until", ""),
])  # fmt: skip
def test_facts_are_refused_as_on_the_page_and_the_draft_stays(script, stand_in, facts, field, words):
    address = read_draft(script)
    refused = submit(script, address, **facts)
    assert (refused.status_code, [error["field"] for error in refused.json()["errors"]]) == (400, [field])
    assert words in refused.json()["detail"]
    assert script.get(address).json()["state"] == "read"
    assert not Submission.objects.exists()


def test_null_means_not_stated_and_an_embargo_is_a_moment(script, stand_in):
    until = timezone.now().replace(second=0, microsecond=0) + timezone.timedelta(days=3)
    answer = submit(script, read_draft(script), capacity_gb=None, embargo_until=until.isoformat())
    assert answer.status_code == 201
    submission = Submission.objects.get()
    assert (submission.capacity_gb, submission.embargo_until) == (None, until)


def test_facts_and_names_for_the_form_are_in_the_preview(script, program, tmp_path, exemplar):
    product = Product.objects.create(slug="acme-a-9", vendor="Acme", model="A-9", category="nvme-flash")
    Submission.objects.filter(pk=send(exemplar, b"earlier").pk).update(product=product)
    Product.objects.create(slug="secret", vendor="Secret", model="A-8", category="nvme-flash")
    drive = {"name": "/dev/nvme0n1", "kind": "nvme", "model": "A-9", "firmware": "F7", "size_bytes": 3_200_631_791_616}
    answer_with(program, tmp_path, document_of(b"log", runs=[act_run() | {"side_file": {"drives": [drive]}}]))
    draft = upload(script, b"log")
    sweep()
    preview = script.get(f"/api/v1/drafts/{draft}/").json()
    assert preview["facts"] == {
        "vendor": "Acme", "model": "A-9", "firmware": "F7", "capacity_gb": 3201, "category": "nvme-flash",
    }  # fmt: skip
    assert preview["facts_origin"]["code"] == "side-file"
    assert (preview["makers"], preview["models"]) == (["Acme"], ["A-9"])


def test_a_log_that_cannot_be_read_has_its_error_and_can_be_submitted(script, stand_in):
    draft = upload(script, b"Dear register")
    sweep()
    address = f"/api/v1/drafts/{draft}/"
    preview = script.get(address).json()
    assert (preview["state"], preview["reading"]["error"]["id"], preview["document"]) == ("failed", "no-act-log", None)
    assert submit(script, address).status_code == 201


def test_files_that_were_uploaded_one_by_one_become_one_draft(script, stand_in, django_capture_on_commit_callbacks):
    log, stderr = put(script, log_bytes("slow-disk-ms"), "load.log"), put(script, b"said", "run.stderr")
    command = put(script, b"ycsb", "run.cmd")
    assert Draft.objects.count() == 3
    body = {"uploads": [f"https://register.example{log}", stderr, command.rsplit("/", 2)[1]], "slice_length_s": 10}
    first = script.post("/api/v1/drafts/", body, JSON)
    assert first.status_code == 200, first.text
    assert [(file["filename"], file["role"]) for file in first.json()["files"]] == [
        ("load.log", "log"), ("run.stderr", "companion"), ("run.cmd", "companion"),
    ]  # fmt: skip
    assert Draft.objects.count() == 1
    assert script.post("/api/v1/drafts/", body, JSON).json()["id"] == first.json()["id"]
    sweep()
    assert submit(script, f"/api/v1/drafts/{first.json()['id']}/").status_code == 201
    submission = Submission.objects.get()
    assert (submission.companions.count(), submission.slice_length_s) == (2, 10)
    gone = script.post("/api/v1/drafts/", body, JSON)
    assert (gone.status_code, gone.json()["code"]) == (404, "draft-gone")


def test_the_first_upload_is_the_log(script, stand_in):
    stderr, log = put(script, b"said", "run.stderr"), put(script, log_bytes("slow-disk-ms"), "load.log")
    answer = script.post("/api/v1/drafts/", {"uploads": [log, stderr]}, JSON).json()
    assert [(file["filename"], file["role"]) for file in answer["files"]] == [
        ("run.stderr", "companion"), ("load.log", "log"),
    ]  # fmt: skip


def test_a_draft_keeps_none_of_its_files_behind(script, stand_in):
    draft = upload(script, log_bytes("slow-disk-ms"))
    upload(script, b"said", "run.stderr", draft=draft)
    other = put(script, b"text", "notes.md")
    first = f"/uploads/{DraftFile.objects.earliest('pk').key}/"
    refused = script.post("/api/v1/drafts/", {"uploads": [other, first]}, JSON)
    assert (refused.status_code, refused.json()["code"]) == (409, "upload-refused")
    assert f"The draft {draft} also has the file run.stderr." in refused.json()["detail"]
    assert Draft.objects.count() == 2


def test_a_draft_is_read_again_in_other_slices(script, real_reader):
    draft = upload(script, log_bytes("four-us"))
    sweep()
    address = f"/api/v1/drafts/{draft}/"
    changed = script.patch(address, {"slice_length_s": 10}, JSON)
    assert (changed.json()["slice_length_s"], changed.json()["state"]) == (10, "reading")
    sweep()
    assert len(DraftReading.objects.get().document["runs"][0]["slices"]) > 1
    assert script.patch(address, {"slice_length_s": 0}, JSON).status_code == 400


def test_a_deleted_draft_leaves_nothing(script, stand_in, django_capture_on_commit_callbacks):
    address = read_draft(script)
    path = staged_path(DraftFile.objects.get().key)
    with django_capture_on_commit_callbacks(execute=True):
        assert script.delete(address).status_code == 204
    assert (path.exists(), Draft.objects.exists(), Evidence.objects.exists()) == (False, False, False)
    assert script.get(address).status_code == script.delete(address).status_code == submit(script, address).status_code
    assert script.get(address).status_code == 404


def test_a_submitted_draft_is_neither_deleted_nor_changed(script, stand_in):
    address = read_draft(script)
    submission_id = submit(script, address).json()["submission"]["id"]
    for refused in (script.delete(address), script.patch(address, {"slice_length_s": 5}, JSON)):
        found = refused.json()
        assert (refused.status_code, found["code"]) == (409, "draft-submitted")
        assert (found["submission"], submission_id in found["detail"]) == (submission_id, True)


def test_an_expired_draft_is_not_found(script, stand_in):
    address = read_draft(script)
    Draft.objects.update(expires_at=timezone.now())
    assert script.get(address).status_code == submit(script, address).status_code == 404
    assert script.get("/api/v1/drafts/").json()["results"] == []


def test_open_drafts_are_listed_with_their_expiry_and_the_quota(script, other_script, stand_in, settings):
    settings.DRAFT_BYTES_MAX, settings.DRAFT_FILES_MAX = 10_000_000, 7
    read_draft(script)
    other = upload(script, b"text")
    found = script.get("/api/v1/drafts/").json()
    size = len(log_bytes("slow-disk-ms")) + 4
    first = Draft.objects.earliest("pk")
    assert [(each["id"], each["state"]) for each in found["results"]] == [(other, "reading"), (first.public_id, "read")]
    ends_at = first.expires_at.isoformat().replace("+00:00", "Z")
    assert found["results"][1]["expires_at"] == found["quota"]["first_ends_at"] == ends_at
    quota = {name: found["quota"][name] for name in ("files_count", "files_max", "total_bytes", "bytes_max")}
    assert quota == {"files_count": 2, "files_max": 7, "total_bytes": size, "bytes_max": 10_000_000}
    assert other_script.get("/api/v1/drafts/").json()["results"] == []


def test_a_deleted_draft_frees_the_quota(script, settings, stand_in):
    settings.DRAFT_FILES_MAX = 1
    draft = upload(script, b"text")
    assert announce(script, 4).status_code == 507
    script.delete(f"/api/v1/drafts/{draft}/")
    assert announce(script, 4).status_code == 201


def test_the_list_needs_as_many_queries_for_twenty_drafts_as_for_one(script, stand_in, connection_queries):
    upload(script, b"text")
    with connection_queries() as one:
        script.get("/api/v1/drafts/")
    for number in range(19):
        upload(script, b"text %d" % number)
    with connection_queries() as twenty:
        assert len(script.get("/api/v1/drafts/").json()["results"]) == 20
    assert len(one) == len(twenty)


def test_a_draft_of_another_organisation_is_as_unknown_as_none(script, other_script, client, stand_in):
    address = read_draft(script)
    upload_address = f"/uploads/{DraftFile.objects.get().key}/"
    answers = [other_script.get(address), submit(other_script, address), other_script.delete(address),
               other_script.patch(address, {"slice_length_s": 5}, JSON),
               other_script.post("/api/v1/drafts/", {"uploads": [upload_address]}, JSON)]  # fmt: skip
    assert [answer.status_code for answer in answers] == [404] * 5
    unknown = other_script.get("/api/v1/drafts/s-unknown/").text
    assert unknown == other_script.get(address).text.replace(address.split("/")[-2], "s-unknown")
    assert [client.get(address).status_code, submit(client, address).status_code] == [401] * 2
    assert Draft.objects.get().slice_length_s == 10


def test_the_token_of_a_member_who_became_a_viewer_opens_no_draft(script, exemplar, stand_in):
    submitter = make_user("sam")
    membership = submitter.memberships.create(organisation=exemplar, role=Role.SUBMITTER)
    own, address = script_of(submitter, exemplar), read_draft(script)
    assert own.get(address).status_code == 200
    membership.role = Role.VIEWER
    membership.save()
    assert [own.get(address).status_code, submit(own, address).status_code, own.delete(address).status_code] == [
        401
    ] * 3


def test_known_bytes_are_announced_and_keep_their_submission(script, exemplar, vera, stand_in):
    known = send(exemplar, log_bytes("slow-disk-ms"), vera)
    address = read_draft(script)
    assert script.get(address).json()["known_as"] == known.public_id
    answer = submit(script, address)
    assert (answer.status_code, answer.json()["submission"]["id"]) == (200, known.public_id)
    assert answer.json()["notes"][0]["code"] == "known-log"


def test_an_archive_with_logs_of_several_drives_is_not_submitted(script, as_user, vera, program, tmp_path):
    drives = [{"name": "/dev/nvme0n1", "kind": "nvme", "model": model} for model in ("A-9", "B-1")]
    runs = [act_run() | {"member": f"{drive['model']}.log", "side_file": {"drives": [drive]}} for drive in drives]
    answer_with(program, tmp_path, document_of(b"log", runs=runs))
    draft = upload(script, b"log", "runs.tar")
    sweep()
    (note,) = script.get(f"/api/v1/drafts/{draft}/").json()["notes"]
    assert (note["code"], "A-9 in A-9.log; B-1 in B-1.log" in note["detail"]) == ("several-drives", True)
    refused = submit(script, f"/api/v1/drafts/{draft}/")
    assert (refused.status_code, refused.json()["code"]) == (409, "several-drives")
    assert "Send the logs of each drive separately" in refused.json()["detail"]
    browser = as_user(vera)
    assert "Send the logs of each drive separately" in browser.get(f"/submit/{draft}/").text
    page = browser.post(f"/submit/{draft}/", FACTS)
    assert (page.status_code, list(page.context["form"].errors)) == (409, ["model"])
    assert not Submission.objects.exists()
