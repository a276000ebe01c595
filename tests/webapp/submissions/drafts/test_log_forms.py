"""Archives whose logs are of several drives: each log becomes a submission of its own, by page and by API."""

import io
import tarfile
import zipfile

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from results import locks
from results.ingest.queue import sweep
from results.ingest.several_drives import drives_of_document
from results.intake.archive_logs import logs_of_archive
from results.models import Draft, DraftReading, Submission
from results.reader.archive_members import UnpackError, unpack_members
from tests.results.builders import log_bytes, sha256
from tests.results.documents import act_run, answer_with, document_of
from webapp.accounts.tokens.rules import issue_token
from webapp.submissions.drafts.log_forms import LogForms

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]
FILES = {
    "dir/a.log": log_bytes("four-us"),
    "dir/a.conf": b"device-names: /dev/sda\n",
    "b.log": log_bytes("slow-disk-ms"),
}
FIRST = {"category": "nvme-flash", "vendor": "Acme", "model": "A-9", "capacity_gb": "3200"}
SECOND = {"category": "sata-sas-flash", "vendor": "Bolt", "model": "B-1", "firmware": "F2"}
JSON = "application/json"


@pytest.fixture
def client(as_user, vera):
    return as_user(vera)


@pytest.fixture
def script(vera, exemplar):
    _, secret = issue_token(vera, exemplar, "script")
    return Client(headers={"Authorization": f"Bearer {secret}"})


def tar_of(files, mode="w:gz"):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode=mode) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def zip_of(files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return archive.getvalue()


def send(client, content, name="runs.tar.gz"):
    form = {"log": SimpleUploadedFile(name, content), "slice_length_s": "10"}
    address = client.post("/submit/", form).headers["Location"]
    sweep()
    return address


def fields(*stated, **shared):
    numbered = {f"log-{n}-{name}": value for n, each in enumerate(stated) for name, value in each.items()}
    return {"drives": "each"} | numbered | shared


def drive(model):
    return {"drives": [{"name": "/dev/nvme0n1", "kind": "nvme", "model": model, "firmware": f"F-{model}"}]}


def two_drives(content):
    """Return the reading of an archive whose side files name two drives."""
    runs = [act_run(member=f"{model}.log", side_file=drive(model)) for model in ("A-9", "B-1")]
    members = [
        {"name": f"{model}.log", "size_bytes": len(model), "sha256": sha256(model.encode()), "role": "log"}
        for model in ("A-9", "B-1")
    ]
    return document_of(content, runs=runs, members=members)


def test_the_page_asks_for_the_drive_of_each_log_and_fills_in_what_the_side_files_state(client, program, tmp_path):
    content = tar_of({"A-9.log": b"A-9", "B-1.log": b"B-1"})
    answer_with(program, tmp_path, two_drives(content))
    page = client.get(send(client, content))
    initial = [form.initial for form in page.context["log_forms"].forms]
    assert initial == [{"model": "A-9", "firmware": "F-A-9"}, {"model": "B-1", "firmware": "F-B-1"}]
    assert "Submit 2 logs" in page.text
    assert page.text.count('name="drives" value="each"') == 1
    assert "Submit this result" not in page.text


@pytest.mark.parametrize(
    "pack", [tar_of, lambda files: tar_of(files, "w"), lambda files: tar_of(files, "w:xz"), zip_of]
)
def test_each_log_becomes_a_submission_with_its_files_and_its_drive(client, real_reader, pack):
    address = send(client, pack(FILES))
    page = client.get(address)
    assert page.context["log_forms"] is None
    assert 'href="?drives=each#submit"' in page.text
    assert len(client.get(f"{address}?drives=each").context["log_forms"].forms) == 2
    answer = client.post(address, fields(FIRST, SECOND, notes="Both."))
    assert answer.headers["Location"] == "/submissions/"
    first, second = Submission.objects.order_by("pk")
    assert (first.log.filename, first.log.sha256) == ("a.log", sha256(FILES["dir/a.log"]))
    assert [each.evidence.sha256 for each in first.companions.all()] == [sha256(FILES["dir/a.conf"])]
    assert (first.vendor, first.model, first.capacity_gb, first.notes) == ("Acme", "A-9", 3200, "Both.")
    assert (second.log.sha256, second.model, second.firmware) == (sha256(FILES["b.log"]), "B-1", "F2")
    assert not second.companions.exists()
    sweep()
    assert [each.runs.count() for each in (first, second)] == [1, 1]
    draft = Draft.objects.get()
    assert (draft.submission, list(draft.other_submissions.all())) == (first, [second])
    assert not DraftReading.objects.exists()
    assert not draft.files.exists()


def test_a_second_click_submits_nothing_twice(client, real_reader):
    address = send(client, tar_of(FILES))
    for _ in range(2):
        assert client.post(address, fields(FIRST, SECOND)).status_code == 302
    assert Submission.objects.count() == 2


def test_a_log_without_a_name_has_the_drive_of_the_log_above(client, real_reader):
    client.post(send(client, tar_of(FILES)), fields(FIRST, {"firmware": "ignored"}))
    assert list(Submission.objects.values_list("model", "capacity_gb", "firmware")) == [("A-9", 3200, "")] * 2


@pytest.mark.parametrize(
    ("stated", "wrong"),
    [
        ([{}, SECOND], [{"category", "vendor", "model"}, set()]),
        ([FIRST, {"model": "B-1"}], [set(), {"category", "vendor"}]),
    ],
)
def test_missing_facts_are_marked_at_their_log_and_nothing_is_submitted(client, real_reader, stated, wrong):
    page = client.post(send(client, tar_of(FILES)), fields(*stated))
    assert page.status_code == 400
    assert [set(form.errors) for form in page.context["log_forms"].forms] == wrong
    assert not Submission.objects.exists()


def test_an_embargo_in_the_past_refuses_all_logs(client, real_reader):
    page = client.post(send(client, tar_of(FILES)), fields(FIRST, SECOND, embargo_until="2001-01-01T00:00"))
    assert (page.status_code, list(page.context["log_forms"].shared.errors)) == (400, ["embargo_until"])
    assert not Submission.objects.exists()
    assert Draft.objects.get().submission is None


def test_a_script_states_the_drive_of_each_log(script, client, real_reader):
    address = f"/api/v1/drafts/{send(client, tar_of(FILES)).split('/')[2]}/"
    logs = script.get(address).json()["logs"]
    assert [each["member"] for each in logs] == ["dir/a.log", "b.log"]
    body = {"logs": [{"member": "dir/a.log", **FIRST}, {"member": "b.log", **SECOND}]}
    answer = script.post(f"{address}submit/", body, JSON)
    assert (answer.status_code, [each["model"] for each in answer.json()["submissions"]]) == (201, ["A-9", "B-1"])
    again = script.post(f"{address}submit/", body, JSON)
    assert (again.status_code, again.json()["submissions"]) == (200, answer.json()["submissions"])
    assert Submission.objects.count() == 2


@pytest.mark.parametrize(
    ("logs", "status", "words"),
    [
        ([{"member": "b.log", **SECOND}], 409, "Expected the drive of each log: dir/a.log, b.log. Got: b.log."),
        ([{"member": "dir/a.log", **FIRST}, {"member": "b.log"}], 400, "This field is required."),
        ("b.log", 400, "Expected only a list of objects"),
    ],
)
def test_a_script_that_states_other_logs_is_refused(script, client, real_reader, logs, status, words):
    address = f"/api/v1/drafts/{send(client, tar_of(FILES)).split('/')[2]}/"
    answer = script.post(f"{address}submit/", {"logs": logs}, JSON)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text
    assert not Submission.objects.exists()


def test_a_log_alone_is_not_submitted_log_by_log(script, client, real_reader):
    address = send(client, FILES["b.log"], "b.log")
    assert "drives=each" not in client.get(address).text
    assert client.post(address, fields(FIRST)).status_code == 409
    assert not Submission.objects.exists()


def test_an_archive_that_differs_from_its_reading_is_refused(client, program, tmp_path):
    content = tar_of({"A-9.log": b"A-9", "B-1.log": b"C-2"})
    answer_with(program, tmp_path, two_drives(content))
    page = client.post(send(client, content), fields(FIRST, SECOND))
    assert page.status_code == 409
    assert "could not copy the logs out of the archive" in page.text
    assert not Submission.objects.exists()


def test_more_bytes_than_a_request_copies_are_refused(client, real_reader, monkeypatch):
    total = sum(map(len, FILES.values()))
    address = send(client, tar_of(FILES))
    monkeypatch.setattr("results.intake.archive_logs.TOTAL_BYTES_MAX", total - 1)
    assert client.post(address, fields(FIRST, SECOND)).status_code == 409
    monkeypatch.setattr("results.intake.archive_logs.TOTAL_BYTES_MAX", total)
    assert client.post(address, fields(FIRST, SECOND)).status_code == 302


def test_hostile_members_are_neither_written_by_name_nor_read_into_memory(tmp_path):
    archive, directory = tmp_path / "a.tar", tmp_path / "out"
    directory.mkdir()
    archive.write_bytes(tar_of({"../../escaped": b"one", "/etc/escaped": b"two"}, "w"))
    wanted = [(3, sha256(b"one")), (3, sha256(b"two"))]
    unpack_members(archive, wanted, directory)
    assert {path.name for path in directory.iterdir()} == {"wanted.json", *(digest for _, digest in wanted)}
    assert not list(tmp_path.parent.glob("escaped"))
    with pytest.raises(UnpackError, match="1 are missing"):
        unpack_members(archive, [(3, sha256(b"six"))], directory)
    archive.write_bytes(b"no archive")
    with pytest.raises(UnpackError):
        unpack_members(archive, [(3, sha256(b"no"))], directory)


def test_members_of_the_size_of_a_wanted_one_leave_no_files(tmp_path):
    archive, directory = tmp_path / "a.tar.gz", tmp_path / "out"
    directory.mkdir()
    archive.write_bytes(tar_of({"decoy": b"two", "log": b"one", "later": b"six"}))
    unpack_members(archive, [(3, sha256(b"one"))], directory)
    assert {path.name for path in directory.iterdir()} == {"wanted.json", sha256(b"one")}


def test_no_logs_are_no_submission(script, client, real_reader):
    alone = send(client, zip_of({"b.log": FILES["b.log"]}), "runs.zip")
    for address in (alone, send(client, zip_of(FILES), "both.zip")):
        answer = script.post(f"/api/v1/drafts/{address.split('/')[2]}/submit/", {"logs": []}, JSON)
        assert (answer.status_code, answer.json()["code"]) == (409, "other-logs")
    assert client.post(alone, {"drives": "each"}).status_code == 409
    assert not Submission.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_one_archive_of_an_organisation_is_copied_at_a_time(script, client, real_reader, exemplar):
    address = send(client, tar_of(FILES))
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", locks.keys_of(locks.UNPACKING, exemplar.pk))
        page = client.post(address, fields(FIRST, SECOND))
    assert (page.status_code, "Try again in a minute" in page.text) == (409, True)
    assert client.post(address, fields(FIRST, SECOND)).status_code == 302


@pytest.mark.parametrize(
    ("name", "log"),
    [("a.conf", "a.log"), ("a-READ.txt", "a.log"), ("ab.conf", "ab.log"), ("c.conf", None), ("a/READ.hdr", "a.log")],
)
def test_a_file_belongs_to_the_log_with_the_longest_stem(name, log):
    members = [{"name": each, "size_bytes": 1, "sha256": each, "role": "log"} for each in ("a.log", "ab.log.gz")]
    runs = [act_run(member=each["name"]) for each in members]
    other = {"name": name, "size_bytes": 1, "sha256": name, "role": "config"}
    found = logs_of_archive(document_of(b"", runs=runs, members=[*members, other]))
    owners = [each.name.removesuffix(".gz") for each in found if other in each.files]
    assert owners == ([log] if log else [])


def test_the_forms_of_an_archive_are_as_many_as_its_logs():
    content = b"archive"
    assert drives_of_document(two_drives(content))
    assert [form.name for form in LogForms({"A-9.log": {}, "B-1.log": {}}).forms] == ["A-9.log", "B-1.log"]
