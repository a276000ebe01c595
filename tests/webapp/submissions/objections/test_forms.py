"""Filing, review and reply with the pages: quotas, uploads, refusals, and who is offered which form."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from results.lifecycle.corrections import annotate
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit
from results.lifecycle.takedowns import request_takedown
from results.models import Objection, Run, Takedown
from tests.results.builders import make_organisation, make_user
from tests.results.rows import from_a_log, make_product, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]
TEXT = "The firmware <b>differs</b>."


@pytest.fixture
def run(exemplar):
    run = make_run(make_product(), **from_a_log())
    run.submission.organisation = exemplar
    run.submission.save()
    return run


@pytest.fixture
def fiona(db):
    return make_user("fiona")


def form_of(run):
    return f"/objections/new/{run.public_id}/"


def file_of(content=b"proof", name="proof.txt"):
    return SimpleUploadedFile(name, content)


def test_a_user_without_an_organisation_files_an_objection_with_files(as_user, run, fiona):
    client = as_user(fiona)
    assert "What happens next" in client.get(form_of(run)).text
    stated = {"text": TEXT, "attachments": [file_of(), file_of(b"<svg/>", "a.svg")]}
    answer = client.post(form_of(run), stated, follow=True)
    objection = Objection.objects.get()
    assert answer.redirect_chain == [(f"/objections/{objection.public_id}/", 302)]
    assert f"Filed as {objection.public_id}" in answer.text
    assert [file.filename for file in objection.files.all()] == ["proof.txt", "a.svg"]
    assert objection.public_id in client.get("/submissions/").text
    assert "is not decided yet" in client.get(form_of(run)).text


def test_a_visitor_and_a_user_without_a_verified_address_are_led_to_the_sign_in(as_user, run, fiona):
    assert Client().get(form_of(run)).headers["Location"].startswith("/accounts/login/")
    fiona.emailaddress_set.update(verified=False)
    answer = as_user(fiona).post(form_of(run), {"text": TEXT})
    assert answer.headers["Location"].startswith("/accounts/login/")
    assert not Objection.objects.exists()


def test_the_first_user_of_a_private_register_needs_a_verified_address_too(as_user, run, fiona):
    fiona.is_superuser = True
    fiona.save()
    fiona.emailaddress_set.all().delete()
    answer = as_user(fiona).post(form_of(run), {"text": TEXT})
    assert answer.status_code == 403
    assert "verified mail address" in answer.text


def test_members_of_the_submitter_read_what_to_do_instead(as_user, run, vera):
    answer = as_user(vera).get(form_of(run))
    assert answer.status_code == 403
    assert f"/submissions/{run.submission.public_id}/" in answer.text
    as_user(vera).post(form_of(run), {"text": TEXT})
    assert not Objection.objects.exists()


def test_a_run_that_is_not_public_does_not_exist_here(as_user, run, fiona):
    hidden = make_run(run.product, visibility="unreviewed", **from_a_log())
    answers = [as_user(fiona).get(f"/objections/new/{name}/") for name in (hidden.public_id, "r-missing2")]
    assert [answer.status_code for answer in answers] == [404, 404]
    request_takedown(run, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    assert as_user(fiona).get(form_of(run)).status_code == 451


def test_a_withdrawn_result_takes_no_objection(as_user, run, fiona):
    Run.objects.filter(pk=run.pk).update(visibility="withdrawn")
    assert as_user(fiona).post(form_of(run), {"text": TEXT}).status_code == 409
    assert not Objection.objects.exists()


def test_a_member_of_several_organisations_chooses_one(as_user, run):
    first, second = make_organisation("first"), make_organisation("second")
    client = as_user(make_user("felix", first, second))
    assert client.post(form_of(run), {"text": TEXT}).status_code == 400
    assert client.post(form_of(run), {"text": TEXT, "organisation": make_organisation("third").pk}).status_code == 400
    client.post(form_of(run), {"text": TEXT, "organisation": second.pk})
    assert Objection.objects.get().organisation == second


def assert_is_refused_with_the_text(answer, within_s):
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= within_s
    assert "The firmware &lt;b&gt;differs&lt;/b&gt;." in answer.text
    assert "Nothing was stored" in answer.text


def test_beyond_the_quota_of_an_account_the_text_stays_in_the_form(as_user, run, fiona, settings):
    settings.OBJECTIONS_PER_ACCOUNT = 1
    client = as_user(fiona)
    client.post(form_of(run), {"text": TEXT})
    other = make_run(run.product, **from_a_log())
    answer = client.post(form_of(other), {"text": TEXT, "attachments": file_of()})
    assert_is_refused_with_the_text(answer, 86_400)
    assert "Choose the files again" in answer.text
    assert Objection.objects.count() == 1
    Objection.objects.update(filed_at=timezone.now() - timedelta(days=1))
    assert client.post(form_of(other), {"text": TEXT}).status_code == 302


def test_the_quota_of_an_organisation_is_shared_and_on_its_page(as_user, run, settings):
    settings.OBJECTIONS_PER_ORGANISATION = 1
    filing = make_organisation("filing")
    as_user(make_user("felix", filing)).post(form_of(run), {"text": TEXT})
    client = as_user(make_user("frank", filing))
    assert_is_refused_with_the_text(client.post(form_of(run), {"text": TEXT}), 86_400)
    assert "Objections of members in 24 hours" in client.get("/accounts/organisations/filing/quotas/").text


def test_the_quota_of_an_address_counts_all_accounts(as_user, run, settings):
    settings.OBJECTIONS_PER_ADDRESS = 2
    for name in ("felix", "frank"):
        assert as_user(make_user(name)).post(form_of(run), {"text": TEXT}).status_code == 302
    client = as_user(make_user("fritz"))
    assert_is_refused_with_the_text(client.post(form_of(run), {"text": TEXT}), 86_400)
    assert client.post(form_of(run), {"text": TEXT}, REMOTE_ADDR="192.0.2.77").status_code == 302


def test_a_refused_objection_does_not_count_for_the_address(as_user, run, fiona, settings):
    settings.OBJECTIONS_PER_ADDRESS = 2
    client = as_user(fiona)
    client.post(form_of(run), {"text": TEXT})
    for _ in range(3):
        assert client.post(form_of(run), {"text": TEXT}).status_code == 409
    assert as_user(make_user("felix")).post(form_of(run), {"text": TEXT}).status_code == 302


def test_attachments_have_a_limit_of_their_own_on_both_sides(as_user, run, fiona, settings):
    settings.OBJECTION_UPLOAD_MAX_BYTES = 10
    client = as_user(fiona)
    files = [file_of(b"12345", "a"), file_of(b"123456", "b")]
    answer = client.post(form_of(run), {"text": TEXT, "attachments": files})
    assert answer.status_code == 413
    assert "The firmware &lt;b&gt;differs&lt;/b&gt;." in answer.text
    files = [file_of(b"12345", "a"), file_of(b"54321", "b")]
    assert client.post(form_of(run), {"text": TEXT, "attachments": files}).status_code == 302
    assert Objection.objects.get().files.count() == 2


def test_six_files_are_refused_and_nothing_is_stored(as_user, run, fiona, evidence_dir):
    files = [file_of(b"x", f"{number}.txt") for number in range(6)]
    answer = as_user(fiona).post(form_of(run), {"text": TEXT, "attachments": files})
    assert answer.status_code == 400
    assert "Expected at most 5 files, got 6" in answer.text
    assert not Objection.objects.exists()


def test_a_file_of_a_visitor_is_not_even_spooled(run):
    answer = Client().post(form_of(run), {"text": TEXT, "attachments": file_of()})
    assert answer.wsgi_request.FILES == {}


def test_only_the_filer_withdraws(as_user, run, fiona, otto):
    objection = file_objection(run, fiona, TEXT)
    assert as_user(otto).post(f"/objections/{objection.public_id}/withdraw/").status_code == 404
    answer = as_user(fiona).post(f"/objections/{objection.public_id}/withdraw/", follow=True)
    assert "never becomes public" in answer.text
    assert Objection.objects.get().state == "withdrawn"


def test_a_reviewer_admits_and_decides_and_the_submitter_replies_on_pages(as_user, run, fiona, rita, vera):
    objection = file_objection(run, fiona, TEXT)
    page, submission = f"/review/objections/{objection.public_id}/", f"/submissions/{run.submission.public_id}/"
    reviewer, sender = as_user(rita), as_user(vera)
    assert page in reviewer.get("/submissions/review/").text
    assert "Admit objection" in reviewer.get(page).text
    assert objection.public_id not in sender.get(submission).text
    assert "is public now" in reviewer.post(f"{page}admit/", follow=True).text
    assert page not in reviewer.get("/submissions/review/").text, "it waits for the submitter"
    assert "Store decision" not in reviewer.get(page).text
    assert "Publish reply" in sender.get(submission).text
    assert "Publish reply" not in reviewer.get(submission).text
    sender.post(f"{submission}objection-reply/", {"objection": objection.public_id, "reply": "We disagree."})
    assert "Publish reply" not in sender.get(submission).text
    assert page in reviewer.get("/submissions/review/").text
    stated = {"outcome": "annotate", "note": "The label differs."}
    assert "is upheld. Take the step now" in reviewer.post(f"{page}decide/", stated, follow=True).text
    objection.refresh_from_db()
    assert (objection.state, objection.reply, objection.outcome_note) == (
        "upheld",
        "We disagree.",
        "The label differs.",
    )


def test_a_refusal_needs_a_known_reason(as_user, run, fiona, rita):
    objection = file_objection(run, fiona, TEXT)
    page = f"/review/objections/{objection.public_id}/"
    assert "Nothing was changed" in as_user(rita).post(f"{page}refuse/", {"refusal": "dull"}, follow=True).text
    as_user(rita).post(f"{page}refuse/", {"refusal": "unclear", "note": "Which figure?"})
    assert Objection.objects.get().state == "refused"
    assert as_user(rita).post(f"{page}burn/").status_code == 404


def test_a_partial_reviewer_neither_lists_nor_opens_it_before_the_admission(as_user, run, fiona, exemplar, rita):
    objection = file_objection(run, fiona, TEXT)
    partial = as_user(make_user("ruth", exemplar, is_reviewer=True))
    page = f"/review/objections/{objection.public_id}/"
    assert objection.public_id not in partial.get("/submissions/review/").text
    assert partial.get(page).status_code == 404
    assert partial.post(f"{page}admit/").status_code == 404
    admit(objection, rita)
    assert "Another reviewer decides." in partial.get(page).text


def test_the_reply_of_another_organisation_is_refused(as_user, run, fiona, otto, rita, exemplar):
    objection = file_objection(run, fiona, TEXT)
    admit(objection, rita)
    page = f"/submissions/{run.submission.public_id}/objection-reply/"
    assert as_user(otto).post(page, {"objection": objection.public_id, "reply": "x"}).status_code == 404
    viewer = make_user("wanda")
    viewer.memberships.create(organisation=exemplar, role="viewer")
    assert as_user(viewer).post(page, {"objection": objection.public_id, "reply": "x"}).status_code == 403
    objection.refresh_from_db()
    assert objection.reply == ""


def test_a_reply_reaches_no_objection_to_a_run_of_others(as_user, run, fiona, vera, rita):
    foreign = make_run(run.product, **from_a_log())
    objection = file_objection(foreign, fiona, TEXT)
    admit(objection, rita)
    page = f"/submissions/{run.submission.public_id}/objection-reply/"
    assert as_user(vera).post(page, {"objection": objection.public_id, "reply": "x"}).status_code == 404


def test_the_submitter_replies_to_an_annotation_once(as_user, run, vera, rita):
    annotation = annotate(run, "A short test.", rita)
    page = f"/submissions/{run.submission.public_id}/"
    client = as_user(vera)
    assert "Reply in public" in client.get(page).text
    client.post(f"{page}annotation-reply/", {"annotation": annotation.pk, "reply": "Meant to be."})
    assert "Meant to be." in client.get(page).text
    assert "Reply in public" not in client.get(page).text
    answer = client.post(f"{page}annotation-reply/", {"annotation": annotation.pk, "reply": "Again."}, follow=True)
    assert "It gets one." in answer.text
    for key in ("", "x", "9" * 30, str(annotation.pk + 1)):
        assert client.post(f"{page}annotation-reply/", {"annotation": key, "reply": "x"}).status_code == 404
