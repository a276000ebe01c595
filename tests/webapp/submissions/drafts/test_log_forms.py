"""Archives whose logs are of several drives: each log becomes a submission of its own, by page and by API."""

import io
import tarfile
import zipfile

import psycopg
import pytest
import zstandard
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
    """Return a tar of files by name, or of pairs of name and content: a tar can have several files of one name."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode=mode) as tar:
        for name, content in files.items() if isinstance(files, dict) else files:
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


def tar_zst_of(files):
    return zstandard.compress(tar_of(files, "w"))


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
    "pack", [tar_of, lambda files: tar_of(files, "w"), lambda files: tar_of(files, "w:xz"), tar_zst_of, zip_of]
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
    client.post(send(client, tar_of(FILES)), fields(FIRST, {}))
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


@pytest.mark.parametrize("pack", [lambda files: tar_of(files, "w"), tar_of, tar_zst_of])
def test_an_archive_is_recognised_by_its_start_as_the_reader_does_and_not_by_a_zip_at_its_end(tmp_path, pack):
    archive, directory = tmp_path / "archive", tmp_path / "out"
    directory.mkdir()
    archive.write_bytes(pack({"log": b"one"}) + zip_of({"log": b"two"}))
    assert zipfile.is_zipfile(archive)
    unpack_members(archive, [(3, sha256(b"one"))], directory)
    with pytest.raises(UnpackError):
        unpack_members(archive, [(3, sha256(b"two"))], directory)


def test_zstd_archives_may_begin_with_a_skippable_frame_and_have_several_frames(tmp_path):
    archive, directory = tmp_path / "a.tar.zst", tmp_path / "out"
    directory.mkdir()
    plain = tar_of({"log": b"one", "more": b"two"}, "w")
    frames = [b"\x50\x2a\x4d\x18\x03\0\0\0abc", zstandard.compress(plain[:700]), zstandard.compress(plain[700:])]
    archive.write_bytes(b"".join(frames))
    unpack_members(archive, [(3, sha256(b"one")), (3, sha256(b"two"))], directory)


def test_a_log_followed_by_a_zip_is_a_log(client, script, real_reader):
    address = send(client, FILES["b.log"] + zip_of(FILES), "b.log")
    preview = script.get(f"/api/v1/drafts/{address.split('/')[2]}/").json()
    assert not preview.get("logs")
    assert client.post(address, fields(FIRST, SECOND)).status_code == 409


SAME_NAME = [("load.log", FILES["dir/a.log"]), ("load.log", FILES["b.log"])]


def test_two_logs_of_one_name_have_a_form_each_and_become_two_submissions(client, script, real_reader):
    address = send(client, tar_of(SAME_NAME))
    names = ["load.log", "load.log (2)"]
    page = client.get(f"{address}?drives=each")
    assert [form.name for form in page.context["log_forms"].forms] == names
    assert "Logs of one name have a number" in page.text
    api = f"/api/v1/drafts/{address.split('/')[2]}/"
    assert [each["member"] for each in script.get(api).json()["logs"]] == names
    client.post(address, fields(FIRST, SECOND))
    first, second = Submission.objects.order_by("pk")
    assert [each.log.sha256 for each in (first, second)] == [sha256(content) for _, content in SAME_NAME]
    assert [each.model for each in (first, second)] == ["A-9", "B-1"]
    assert second.log.filename == "load.log"


def test_the_same_log_twice_in_a_tar_has_one_form(client, real_reader):
    twice = [("load.log", FILES["b.log"])] * 2
    address = send(client, tar_of([*twice, ("a.log", FILES["dir/a.log"])]))
    page = client.get(f"{address}?drives=each")
    assert [form.name for form in page.context["log_forms"].forms] == ["load.log", "a.log"]


def test_the_number_of_a_further_log_is_no_name_of_another_one():
    names = ["a.log", "a.log", "a.log (2)", "a.log"]
    members = [{"name": name, "size_bytes": 1, "sha256": str(n), "role": "log"} for n, name in enumerate(names)]
    runs = [act_run(member=name, first_line=2) for name in names]
    found = logs_of_archive(document_of(b"", runs=runs, members=members))
    assert [log.name for log in found] == ["a.log", "a.log (3)", "a.log (2)", "a.log (4)"]


def same_name_runs(*first_lines):
    return [act_run(member="a.log", first_line=line, side_file=drive(f"D{n}")) for n, line in enumerate(first_lines)]


@pytest.mark.parametrize(
    ("first_lines", "models"),
    [
        ((2, 2), [["D0"], ["D1"]]),
        ((2, 50, 2), [["D0", "D1"], ["D2"]]),
        ((2, 50), [["D0", "D1"], ["D0", "D1"]]),  # all of the first log, or one of each
        ((2, 2, 2), [["D0", "D1", "D2"], ["D0", "D1", "D2"]]),
    ],
)
def test_each_log_of_one_name_has_its_runs_where_the_lines_tell_them_apart(first_lines, models):
    members = [{"name": "a.log", "size_bytes": 1, "sha256": each, "role": "log"} for each in ("one", "two")]
    sides = [{"name": "a.jsonl", "size_bytes": 1, "sha256": each, "role": "side-file"} for each in ("s1", "s2")]
    alone = {"name": "a.conf", "size_bytes": 1, "sha256": "conf", "role": "config"}
    document = document_of(b"", runs=same_name_runs(*first_lines), members=[*members, *sides, alone])
    found = logs_of_archive(document)
    named = [[run["side_file"]["drives"][0]["model"] for run in log.document["runs"]] for log in found]
    assert named == models
    assert [[file["sha256"] for file in log.files] for log in found] == [["s1", "conf"], ["s2", "conf"]]


def test_facts_that_a_log_without_a_drive_of_its_own_would_lose_are_refused_and_stay(client, real_reader):
    page = client.post(send(client, tar_of(FILES)), fields(FIRST, {"firmware": "F9", "region": ""}))
    assert page.status_code == 400
    form = page.context["log_forms"].forms[1]
    assert list(form.errors) == ["firmware"]
    assert "this log has the drive of the log above" in form.errors["firmware"][0]
    assert 'name="log-1-firmware" value="F9"' in page.text
    assert not Submission.objects.exists()


def test_facts_that_the_files_state_may_stay_in_the_form_of_a_log_with_the_drive_above():
    stated = {"log-0-" + name: value for name, value in FIRST.items()} | {"log-1-capacity_gb": "960"}
    forms = LogForms({"a.log": {}, "b.log": {"capacity_gb": 960}}, stated)
    assert forms.is_valid()
    assert forms.facts()["b.log"].capacity_gb == 3200
    assert not LogForms({"a.log": {}, "b.log": {"capacity_gb": 480}}, stated).is_valid()


def test_errors_about_a_log_name_it_and_its_place_in_the_list(script, client, real_reader):
    address = f"/api/v1/drafts/{send(client, tar_of(FILES)).split('/')[2]}/"
    wrong = [
        {"member": "dir/a.log", **FIRST, "capacity_gb": 0},
        {"member": "b.log", "category": "nvme-flash", "vendor": "Bolt", "colour": "red"},
        {"member": "dir/a.log", **FIRST, "capacity_gb": 1},
        {"member": "b.log", **SECOND},
        {"member": "b.log", **SECOND},
        {**SECOND},
    ]
    answer = script.post(f"{address}submit/", {"logs": wrong}, JSON)
    assert answer.status_code == 400
    errors = {each["field"]: each["detail"] for each in answer.json()["errors"]}
    assert set(errors) == {"logs[0].capacity_gb", "logs[1].colour", "logs[4].member", "logs[5].member"}
    assert errors["logs[0].capacity_gb"].startswith("dir/a.log: ")
    assert errors["logs[1].colour"].startswith("b.log: Expected one of ")
    assert errors["logs[4].member"] == "b.log is named twice."
    assert errors["logs[5].member"] == "Expected the name of a log, as the preview lists it."


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
