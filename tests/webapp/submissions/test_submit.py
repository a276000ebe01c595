import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from results.ingest.queue import sweep
from results.intake.submissions import COMPANIONS_MAX
from results.models import Draft, Reading, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, send, sha256
from tests.results.documents import act_run, answer_with, document_of
from tests.webapp.submissions.two_steps import submit_in_two_steps
from webapp.templatetags.pages import breakable

pytestmark = pytest.mark.usefixtures("stand_in")

FACTS = {
    "vendor": "Exemplar", "model": "EX4", "part_number": "EX4-3T2", "capacity_gb": "3200", "category": "nvme-flash",
    "firmware": "1.2", "over_provisioning_pct": "7", "slice_length_s": "10", "notes": "first",
}  # fmt: skip


def upload(client, content=b"log", name="load.log", **facts):
    log = SimpleUploadedFile(name, content)
    return submit_in_two_steps(client, FACTS | facts | {"log": log})


def test_a_stranger_is_sent_to_the_sign_in_page(client, db):
    assert client.get("/submit/").headers["Location"].startswith("/accounts/login/")
    assert upload(client).headers["Location"].startswith("/accounts/login/")
    assert Submission.objects.count() == 0


def test_the_form_has_the_fields_of_a_submission_and_slices_of_3600_s(as_user, vera):
    page = as_user(vera).get("/submit/").content.decode()
    assert 'name="slice_length_s" value="3600"' in page
    assert 'name="organisation"' not in page


def test_an_upload_is_stored_with_its_fields(as_user, vera, evidence_dir):
    answer = upload(as_user(vera), log_bytes("four-us"), "four-us.log")
    submission = Submission.objects.get()
    assert answer.headers["Location"] == f"/submissions/{submission.public_id}/"
    assert (submission.log.sha256, submission.log.filename) == (sha256(log_bytes("four-us")), "four-us.log")
    assert (submission.origin, submission.submitted_by, submission.firmware) == ("form", vera, "1.2")
    assert (submission.capacity_gb, str(submission.over_provisioning_pct), submission.slice_length_s) == (
        3200,
        "7.00",
        10,
    )


def test_the_same_file_leads_to_the_same_submission_and_states_so(as_user, vera, evidence_dir):
    client = as_user(vera)
    first, again = upload(client), upload(client)
    assert first.headers["Location"] == again.headers["Location"]
    assert b"submitted before" in client.get(again.headers["Location"]).content


def test_an_unreadable_file_is_read_again_in_other_slices_and_the_page_states_so(as_user, vera, evidence_dir):
    client = as_user(vera)
    upload(client)
    Reading.objects.update(state="failed", error={"id": "too-many-slices"})
    again = upload(client, slice_length_s="3600")
    assert b"reads it again, with the new slice length" in client.get(again.headers["Location"]).content
    assert Reading.objects.get().state == "pending"


def test_a_missing_file_is_reported_and_the_form_keeps_its_values(as_user, vera):
    answer = as_user(vera).post("/submit/", FACTS)
    assert answer.status_code == 400
    assert b"No file was sent" in answer.content
    assert b'name="slice_length_s" value="10"' in answer.content


def test_an_empty_file_is_reported_and_not_stored(as_user, vera, evidence_dir):
    answer = upload(as_user(vera), b"")
    assert answer.status_code == 400
    assert b"The file is empty" in answer.content
    assert (Submission.objects.count(), Draft.objects.count()) == (0, 0)


def test_a_file_of_the_maximum_size_is_accepted_and_a_larger_one_is_refused(as_user, vera, evidence_dir, settings):
    settings.UPLOAD_MAX_BYTES = 100_000
    client = as_user(vera)
    assert upload(client, bytes(100_000)).status_code == 302
    answer = upload(client, bytes(100_001))
    assert answer.status_code == 413
    assert b"larger than 100,000 bytes" in answer.content
    assert answer.wsgi_request.FILES == {}
    assert b'name="slice_length_s" value="10"' in answer.content
    assert Submission.objects.count() == 1


def test_impossible_values_are_refused(as_user, vera, evidence_dir):
    assert upload(as_user(vera), slice_length_s="0").context["form"].errors.keys() == {"slice_length_s"}
    answer = upload(as_user(vera), category="tape", capacity_gb="-1")
    assert answer.status_code == 400
    assert answer.context["form"].errors.keys() == {"category", "capacity_gb"}
    assert b'value="EX4-3T2"' in answer.content


def test_a_member_of_several_organisations_selects_one_of_them(as_user, evidence_dir, db):
    one, two, foreign = make_organisation("one"), make_organisation("two"), make_organisation("foreign")
    client = as_user(make_user("both", one, two))
    assert upload(client, organisation=foreign.slug).status_code == 400
    assert upload(client, organisation=two.slug).status_code == 302
    assert Submission.objects.get().organisation == two


def test_a_user_without_an_organisation_is_led_to_one_and_back_to_the_upload(as_user, db):
    client = as_user(make_user("lone"))
    page = client.get("/submit/")
    assert page.status_code == 200
    for address in ("/accounts/organisation/new/?next=/submit/", "/accounts/organisation/", "/try/"):
        assert f'href="{address}"' in page.text
    assert 'type="file"' not in page.text
    new = {"name": "Lone Labs", "kind": "lab", "website": "lone.example", "next": "/submit/"}
    assert 'name="next" value="/submit/"' in client.get("/accounts/organisation/new/?next=/submit/").text
    upload_page = client.post("/accounts/organisation/new/", new, follow=True)
    assert upload_page.redirect_chain == [("/submit/", 302)]
    assert 'type="file"' in upload_page.text


def test_an_upload_without_an_organisation_is_refused(as_user, db):
    assert upload(as_user(make_user("lone"))).status_code == 403
    assert not Draft.objects.exists()


def test_a_viewer_reads_who_gives_the_role_that_submits(as_user, db):
    vic = make_user("vic")
    vic.memberships.create(organisation=make_organisation("one"), role="viewer")
    page = as_user(vic).get("/submit/")
    assert page.status_code == 200
    assert "Ask one of its owners for the role submitter." in page.text
    assert "/accounts/organisation/new/" not in page.text


def upload_with(client, *companions, log=b"log"):
    files = [SimpleUploadedFile(name, content) for name, content in companions]
    return submit_in_two_steps(client, FACTS | {"log": SimpleUploadedFile("load.log", log), "companions": files})


def test_attachments_are_shown_on_the_page_of_the_submission(as_user, vera, evidence_dir):
    client = as_user(vera)
    page = client.get(upload_with(client, ("run.stderr", b"said"), ("READ.hdr", b"")).headers["Location"]).text
    assert "run.stderr" in page
    assert breakable(sha256(b"said")) in page
    assert Submission.objects.get().companions.count() == 2


def test_attachments_that_arrive_after_the_reading_are_reported_as_refused(as_user, vera, evidence_dir, stand_in):
    client = as_user(vera)
    upload_with(client, log=log_bytes("four-us"))
    sweep()
    page = client.get(upload_with(client, ("run.stderr", b"said"), log=log_bytes("four-us")).headers["Location"]).text
    assert "was read, without them: run.stderr" in page


def test_too_many_attachments_are_refused_with_the_remedy(as_user, vera, evidence_dir, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = COMPANIONS_MAX + 2
    answer = upload_with(as_user(vera), *[(f"{each}.hdr", b"x") for each in range(COMPANIONS_MAX + 1)])
    assert (answer.status_code, "into one tar or zip" in answer.text) == (400, True)


def test_a_request_accepts_a_log_and_all_its_attachments(settings):
    assert settings.DATA_UPLOAD_MAX_NUMBER_FILES == COMPANIONS_MAX + 1


def test_the_files_of_an_archive_are_listed_with_role_and_hash(
    as_user, vera, exemplar, evidence_dir, program, tmp_path
):
    members = [{"name": f"{each}/a.log", "size_bytes": 1, "sha256": sha256(b"a"), "role": "log"} for each in range(201)]
    answer_with(program, tmp_path, document_of(b"zip", runs=[act_run(member="0/a.log")], members=members))
    submission = send(exemplar, b"zip", vera)
    sweep()
    page = as_user(vera).get(f"/submissions/{submission.public_id}/").text
    assert (page.count("<td>log</td>"), "The table has the first 200 of 201 files" in page, sha256(b"a") in page) == (
        200,
        True,
        True,
    )


def test_the_location_of_a_cloud_instance_can_be_stated(as_user, vera, evidence_dir):
    client = as_user(vera)
    address = upload(client, region="us-east-1", zone=" us-east-1a ").headers["Location"]
    submission = Submission.objects.get()
    assert (submission.region, submission.zone) == ("us-east-1", "us-east-1a")
    assert "<dd>us-east-1a</dd>" in client.get(address).text


def test_a_region_may_have_60_characters_and_no_more(as_user, vera, evidence_dir):
    assert upload(as_user(vera), region="r" * 61).status_code == 400
    assert upload(as_user(vera), region="r" * 60).status_code == 302
