"""The page of a draft: the result before anything is submitted, what it fills in, and who sees it."""

import io
import lzma
import tarfile

import pytest
from django.conf import settings as project
from django.core.files.uploadedfile import SimpleUploadedFile

from results.evidence.staging import result_size_bytes
from results.ingest.queue import sweep
from results.intake import drafts as intake_drafts
from results.models import Draft, DraftFile, DraftReading, Event, Evidence, Product, Reading, Run, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, recorded_reading, send, sha256
from tests.results.documents import act_run, answer_with, document_of
from tests.results.stored_files import path_of, staged_path
from tests.webapp.submissions.drafts.uploads import upload
from webapp.accounts.models import Role

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]
FACTS = {"vendor": "Exemplar", "model": "EX4", "capacity_gb": "3200", "category": "nvme-flash", "firmware": "1.2"}
EXAMPLE = project.BASE_DIR / "results/demonstration/logs"


@pytest.fixture
def client(as_user, vera):
    return as_user(vera)


def send_form(client, content, *companions, **fields):
    files = [SimpleUploadedFile(name, text) for name, text in companions]
    form = {"log": SimpleUploadedFile("load.log", content), "companions": files, "slice_length_s": "10"}
    return client.post("/submit/", form | fields).headers["Location"]


def test_the_verdict_and_the_slices_are_shown_before_anything_is_submitted(client, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"))
    assert "The register reads the log." in client.get(address).text
    sweep()
    page = client.get(address).text
    assert recorded_reading("slow-disk-ms")["runs"][0]["verdict"]["outcome"] == "fail"
    assert '<p class="verdict"><span class="fail">' in page
    assert "Missing for a certificate" in page
    assert "Submit this result" in page
    assert (Submission.objects.count(), Evidence.objects.count(), Run.objects.count(), Event.objects.count()) == (
        0, 0, 0, 0,
    )  # fmt: skip


def test_an_upload_in_pieces_has_the_same_preview(client, stand_in):
    draft = upload(client, log_bytes("slow-disk-ms"))
    sweep()
    assert "Submit this result" in client.get(f"/submit/{draft}/").text


def test_a_submission_takes_the_result_over_and_the_log_is_not_read_again(client, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"), ("run.stderr", b"said"))
    sweep()
    inode = staged_path(DraftFile.objects.get(role="log").key).stat().st_ino
    program_version_stays(stand_in)
    answer = client.post(address, FACTS)
    submission, reading = Submission.objects.get(), Reading.objects.get()
    assert answer.headers["Location"] == f"/submissions/{submission.public_id}/"
    assert (reading.state, reading.attempts, Run.objects.count()) == ("done", 1, 1)
    assert path_of(sha256(log_bytes("slow-disk-ms"))).stat().st_ino == inode
    assert (submission.vendor, submission.slice_length_s, submission.origin) == ("Exemplar", 10, "form")
    assert [each.filename for each in submission.companions.all()] == ["run.stderr"]
    assert client.get(address).headers["Location"] == answer.headers["Location"]


def program_version_stays(path):
    """Answer the version, and fail at everything else."""
    path.write_text('#!/bin/sh\n[ "$1" = --version ] && echo drivetest 0.1.0 && exit 0\nexit 1\n')


def test_a_draft_that_is_not_read_yet_cannot_be_submitted(client, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"))
    page = client.post(address, FACTS, follow=True).text
    assert "has not read the log yet" in page
    assert Submission.objects.count() == 0


def test_a_second_click_leads_to_the_same_submission(client, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"))
    sweep()
    first, second = client.post(address, FACTS), client.post(address, FACTS)
    assert first.headers["Location"] == second.headers["Location"]
    assert (Submission.objects.count(), Run.objects.count()) == (1, 1)


def test_missing_facts_are_requested_and_the_draft_stays(client, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"))
    sweep()
    answer = client.post(address, FACTS | {"model": ""})
    assert (answer.status_code, answer.context["form"].errors.keys()) == (400, {"model"})
    assert "Slow reads, slice by slice" in answer.text
    assert Draft.objects.get().submission is None


def with_drive(drive):
    """Return a reading whose side file names a drive."""
    return act_run() | {"side_file": {"drives": [{"name": "/dev/nvme0n1", "kind": "nvme"} | drive]}}


def test_drive_firmware_and_capacity_are_filled_in_from_the_side_file(client, program, tmp_path, exemplar):
    known = {"vendor": "Acme", "model": "A-9", "category": "nvme-flash", "capacity_gb": 3200}
    product = Product.objects.create(slug="acme-a-9", **known)
    Submission.objects.filter(pk=send(exemplar, b"earlier").pk).update(product=product)
    drive = {"model": "A-9", "firmware": "F7", "size_bytes": 3_200_631_791_616, "serial": "S1"}
    answer_with(program, tmp_path, document_of(b"log", runs=[with_drive(drive)]))
    address = send_form(client, b"log")
    sweep()
    page = client.get(address)
    assert page.context["form"].initial == {
        "vendor": "Acme", "model": "A-9", "firmware": "F7", "capacity_gb": 3201, "category": "nvme-flash",
    }  # fmt: skip
    assert "The side file names the drive. Check what is filled in." in page.text


@pytest.mark.parametrize(
    ("size_bytes", "filled_in"),
    [(536_870_912, None), (1_090_000_000, 1), (1_400_000_000, None), (960_197_124_096, 960)],
)
def test_a_capacity_is_filled_in_only_near_the_size_of_the_device(client, program, tmp_path, size_bytes, filled_in):
    answer_with(program, tmp_path, document_of(b"log", runs=[with_drive({"model": "A-9", "size_bytes": size_bytes})]))
    address = send_form(client, b"log")
    sweep()
    assert client.get(address).context["form"].initial.get("capacity_gb") == filled_in


def test_the_facts_of_the_latest_submission_are_offered_and_do_not_replace_those_of_the_files(
    client, program, tmp_path, exemplar, otto
):
    send(exemplar, b"earlier")  # of an Exemplar EX4
    foreign = send(otto.memberships.get().organisation, b"of otto")
    answer_with(program, tmp_path, document_of(b"log", runs=[with_drive({"model": "A-9", "firmware": "F7"})]))
    address = send_form(client, b"log")
    sweep()
    latest = Submission.objects.get(organisation=exemplar)
    assert f'href="?like={latest.public_id}#submit"' in client.get(address).text
    page = client.get(f"{address}?like={latest.public_id}")
    initial = page.context["form"].initial
    assert (initial["vendor"], initial["model"], initial["firmware"]) == (latest.vendor, "A-9", "F7")
    assert 'href="?like=' not in page.text
    assert client.get(f"{address}?like={foreign.public_id}").context["form"].initial.keys() == {"model", "firmware"}


def test_a_product_that_nobody_may_know_of_fills_nothing_in(client, program, tmp_path):
    Product.objects.create(slug="secret", vendor="Secret", model="A-9", category="nvme-flash")
    answer_with(program, tmp_path, document_of(b"log", runs=[with_drive({"model": "A-9"})]))
    address = send_form(client, b"log")
    sweep()
    page = client.get(address)
    assert page.context["form"].initial == {"model": "A-9"}
    assert "Secret" not in page.text


def test_a_virtual_device_fills_nothing_in(client, real_reader):
    log, side = (lzma.decompress((EXAMPLE / f"demo-loop-light.{kind}.xz").read_bytes()) for kind in ("log", "jsonl"))
    address = send_form(client, log, ("load.jsonl", side), slice_length_s="60")
    sweep()
    page = client.get(address)
    assert "Virtual device: never certifies." in page.text
    assert "model" not in page.context["form"].initial


def test_a_file_that_is_no_log_is_explained_and_can_be_deleted(client, stand_in, django_capture_on_commit_callbacks):
    address = send_form(client, b"Dear register")
    sweep()
    page = client.get(address).text
    assert all(word in page for word in ("Expected:", "Got:", "Remedy:", "Submit the unread file"))
    assert "<h1>The register could not read the log</h1>" in page
    assert '<a href="/submit/">upload another one</a>' in page
    path = staged_path(DraftFile.objects.get().key)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"{address}delete/")
    assert (path.exists(), Draft.objects.exists(), Evidence.objects.exists()) == (False, False, False)
    assert client.get(address).status_code == 404


def test_another_slice_length_reads_the_draft_again(client, real_reader):
    address = send_form(client, log_bytes("four-us"), slice_length_s="3600")
    sweep()
    assert DraftReading.objects.get().document["runs"][0]["slices"] == []
    client.post(f"{address}slices/", {"slice_length_s": "10"})
    sweep()
    assert len(DraftReading.objects.get().document["runs"][0]["slices"]) > 1
    client.post(address, FACTS)
    assert Submission.objects.get().slice_length_s == 10


@pytest.mark.parametrize("role", [Role.VIEWER, None, "reviewer"])
def test_only_submitters_and_owners_of_the_organisation_reach_a_draft(client, as_user, exemplar, stand_in, role):
    address = send_form(client, log_bytes("slow-disk-ms"))
    person = make_user("someone", is_reviewer=role == "reviewer")
    if role in Role.values:
        person.memberships.create(organisation=exemplar, role=role)
    other = as_user(person)
    answers = [other.get(address), other.post(address, FACTS), other.get(f"{address}state/")]
    answers += [other.post(f"{address}delete/"), other.post(f"{address}slices/", {"slice_length_s": "5"})]
    assert [answer.status_code for answer in answers] == [404] * 5
    assert Draft.objects.get().slice_length_s == 10


def test_the_state_of_the_reading_is_reported_to_the_script_of_the_page(client, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"))
    assert client.get(f"{address}state/").json() == {"is_finished": False}
    sweep()
    assert client.get(f"{address}state/").json() == {"is_finished": True}


def test_the_same_log_of_another_organisation_is_read_for_it_alone(client, as_user, otto, stand_in):
    send_form(client, log_bytes("slow-disk-ms"))
    sweep()
    key = DraftReading.objects.get().result_key
    upload(as_user(otto), log_bytes("slow-disk-ms"))
    sweep()
    assert result_size_bytes(key)
    assert DraftReading.objects.exclude(result_key=key).count() == 1


def test_a_known_log_is_announced_with_its_submission(client, exemplar, vera, stand_in):
    submission = send(exemplar, log_bytes("slow-disk-ms"), vera)
    address = send_form(client, log_bytes("slow-disk-ms"))
    sweep()
    assert f"submission {submission.public_id}" in client.get(address).text


def test_a_large_result_is_shortened_for_the_preview_and_stored_as_a_whole(client, program, tmp_path):
    run = recorded_reading("slow-disk-ms")["runs"][0]
    piece = run["slices"][0]
    run["slices"] = [piece | {"number": number} for number in range(1, 1_202)]
    answer_with(program, tmp_path, document_of(b"log", runs=[run]))
    address = send_form(client, b"log")
    sweep()
    assert "The preview shows the first 1,000 slices" in client.get(address).text
    client.post(address, FACTS)
    sweep()
    assert Run.objects.get().slices.count() == 1_201


def test_an_open_draft_is_listed_where_the_next_log_is_sent(client, as_user, otto, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"))
    assert address in client.get("/submit/").text
    assert address not in as_user(otto).get("/submit/").text


def test_a_quota_refuses_the_form_and_leaves_no_draft(client, settings):
    settings.DRAFT_BYTES_MAX = 10
    answer = client.post("/submit/", {"log": SimpleUploadedFile("load.log", b"x" * 11), "slice_length_s": "10"})
    assert (answer.status_code, "Submit or delete a draft" in answer.text) == (507, True)
    assert Draft.objects.count() == 0


def test_a_failed_reading_is_taken_over_too(client, stand_in):
    address = send_form(client, b"Dear register")
    sweep()
    program_version_stays(stand_in)
    client.post(address, FACTS)
    assert (Reading.objects.get().state, Reading.objects.get().error["id"]) == ("failed", "no-act-log")


def test_a_lost_result_is_read_again(client, stand_in):
    address = send_form(client, log_bytes("slow-disk-ms"))
    sweep()
    intake_drafts.staging.remove_result(DraftReading.objects.get().result_key)
    client.post(address, FACTS)
    assert Reading.objects.get().state == "pending"
    sweep()
    assert Reading.objects.get().state == "done"


def test_a_draft_that_is_no_log_offers_no_slice_length(client, stand_in):
    unreadable, readable = upload(client, b"%PDF-1.7"), upload(client, log_bytes("slow-disk-ms"))
    sweep()
    shown = ['id="slice-length"' in client.get(f"/submit/{draft}/").text for draft in (unreadable, readable)]
    assert shown == [False, True]


@pytest.mark.usefixtures("real_reader")
def test_a_log_that_was_sent_alone_is_named_in_the_preview_of_an_archive_and_on_its_page(client, as_user, exemplar):
    alone = send(exemplar, log_bytes("four-us"))
    sweep()
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        member = tarfile.TarInfo("monday/four-us.log")
        member.size = len(log_bytes("four-us"))
        tar.addfile(member, io.BytesIO(log_bytes("four-us")))
    draft = upload(client, stream.getvalue(), "runs.tar")
    sweep()
    link = f'<a href="/submissions/{alone.public_id}/">submission {alone.public_id}</a>'
    page = client.get(f"/submit/{draft}/").text
    assert f"monday/four-us.log</bdi> in this archive is also in {link}" in page
    answer = client.post(f"/submit/{draft}/", FACTS, follow=True)
    assert link in answer.text
    other = as_user(make_user("ola", make_organisation("other")))
    draft = upload(other, stream.getvalue(), "runs.tar")
    sweep()
    assert alone.public_id not in other.get(f"/submit/{draft}/").text
