"""The public pages of objections: what everyone reads before and after the admission, and under a takedown."""

import io

import pytest
from django.test import Client

from results.lifecycle.corrections import annotate, reply_to_annotation
from results.lifecycle.objection_filing import Attachment, file_objection
from results.lifecycle.objections import admit, decide, refuse, reply, withdraw
from results.lifecycle.takedowns import end_takedown, request_takedown
from results.lifecycle.visibility import withdraw as withdraw_run
from results.models import Objection, Takedown
from tests.results.builders import make_organisation, make_user
from tests.webapp.people import as_user
from webapp.accounts.audit.trail import Actor
from webapp.accounts.privacy.closing import close_account
from webapp.register.dumps import store as dumps_store
from webapp.register.dumps.importer import read_rows
from webapp.register.dumps.writer import write_dump
from webapp.register.snapshots.stamps import current_stamps
from webapp.register.syndication.public_addresses import EVERYTHING, public_addresses

__all__ = ["as_user"]
pytestmark = pytest.mark.django_db
TEXT = "The drive was <b>over-provisioned</b>."
HOSTILE = {
    "page.html": b"<script>alert(document.cookie)</script>",
    "picture.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "text.xml": b'<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
}
ORIGIN = "https://files.example.org"


@pytest.fixture
def run(make_log_run, make_product, evidence_dir):
    return make_log_run(product=make_product(slug="hush-9000"))


@pytest.fixture
def fiona(db):
    return make_user("fiona")


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def objection(run, fiona):
    files = [Attachment(name, io.BytesIO(content)) for name, content in HOSTILE.items()]
    return file_objection(run, fiona, TEXT, None, files)


@pytest.fixture
def admitted(objection, rita):
    admit(objection, rita)
    objection.refresh_from_db()
    return objection


@pytest.fixture
def sender(run):
    return make_user("sender", run.submission.organisation)


def page_of(objection):
    return f"/objections/{objection.public_id}/"


def files_of(objection):
    return [f"{page_of(objection)}files/{file.sha256}" for file in objection.files.all()]


def text_of(answer):
    return b"".join(answer).decode("utf-8", "replace")


def get(client, path):
    """Return the response, with its file closed."""
    answer = client.get(path)
    if answer.streaming:
        b"".join(answer.streaming_content)
    return answer


def test_before_the_admission_nothing_public_mentions_it(client, run, objection):
    paths = {address.path for address in public_addresses()} | {"/api/v1/runs/", f"/api/v1/runs/{run.public_id}/"}
    assert page_of(objection) not in paths
    for path in paths:
        text = text_of(client.get(path))
        assert objection.public_id not in text, path
        assert "over-provisioned</b>" not in text, path


def test_before_the_admission_only_filer_reviewers_and_operators_read_it(as_user, run, objection, fiona, rita, sender):
    readers = [fiona, rita, make_user("olga", is_operator=True)]
    conflicted = make_user("ruth", run.submission.organisation, is_reviewer=True)
    other = make_user("other")
    for path in (page_of(objection), *files_of(objection)):
        for user in readers:
            answer = get(as_user(user), path)
            assert answer.status_code == 200, (path, user)
            assert "private" in answer.headers["Cache-Control"]
            assert answer.headers["X-Robots-Tag"] == "noindex"
        for user in (sender, conflicted, other):
            assert as_user(user).get(path).status_code == 404, (path, user)
        assert_is_led_to_the_sign_in(Client().get(path))
    assert_is_led_to_the_sign_in(Client().get("/objections/o-missing2/"))


def assert_is_led_to_the_sign_in(answer):
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/accounts/login/?next=/objections/o-")
    assert "private" in answer.headers["Cache-Control"]


def test_after_the_admission_everyone_reads_the_same_bytes(as_user, admitted, fiona, rita):
    answers = [Client().get(page_of(admitted)), as_user(fiona).get(page_of(admitted))]
    assert len({answer.content for answer in answers}) == 1
    (answer, _) = answers
    assert "public" in answer.headers["Cache-Control"]
    assert "Vary" not in answer.headers
    assert "The drive was &lt;b&gt;over-provisioned&lt;/b&gt;." in answer.text
    assert "a user without an organisation" in answer.text
    assert "Next, the organisation that submitted the result replies. Deadline: " in answer.text
    for name in ("fiona", "rita"):
        assert name not in answer.text


@pytest.mark.parametrize("confirmed_at", ["2026-01-01T00:00Z", None])
def test_the_page_names_a_confirmed_organisation_only(client, run, rita, confirmed_at):
    organisation = make_organisation("filing")
    organisation.confirmed_at = confirmed_at
    organisation.save()
    objection = file_objection(run, make_user("felix", organisation), TEXT, organisation)
    admit(objection, rita)
    assert ("a member of Filing" in client.get(page_of(objection)).text) == bool(confirmed_at)


def test_the_page_shows_reply_outcome_and_whether_the_step_was_done(client, run, admitted, sender, rita):
    reply(admitted, sender, "It was <i>not</i>.")
    assert "It was &lt;i&gt;not&lt;/i&gt;." in client.get(page_of(admitted)).text
    decide(admitted, rita, Objection.Outcome.WITHDRAW, "The log shows it.")
    text = client.get(page_of(admitted)).text
    assert "a reviewer has to withdraw the result. This is not done yet." in text
    assert "The log shows it." in text
    withdraw_run(run, rita, "Over-provisioned.")
    assert "This was done on" in client.get(page_of(admitted)).text


def test_the_page_of_the_run_shows_state_next_step_and_link(client, run, objection, rita, sender):
    path = f"/runs/{run.public_id}/"
    before = client.get(path).text
    assert f"/objections/new/{run.public_id}/" in before
    assert objection.public_id not in before
    admit(objection, rita)
    text = client.get(path).text
    assert text.count(page_of(objection)) == 2, "next to the figures, and in the list"
    assert "Objection admitted</b> by a reviewer" in text
    reply(objection, sender, "No.")
    assert "Objection replied to</b> by the organisation that submitted the run" in client.get(path).text
    decide(objection, rita, Objection.Outcome.NOT_SHOWN, "No.")
    text = client.get(path).text
    assert text.count(page_of(objection)) == 1, "a rejected one only in the list"
    assert "the evidence does not support it" in text


def test_the_page_of_the_drive_marks_runs_with_an_open_or_upheld_objection(client, run, objection, rita, sender):
    path = f"/drive/{run.product.slug}/"
    assert page_of(objection) not in client.get(path).text
    admit(objection, rita)
    assert page_of(objection) in client.get(path).text
    reply(objection, sender, "No.")
    decide(objection, rita, Objection.Outcome.KNOWN, "No.")
    assert page_of(objection) not in client.get(path).text


def test_a_withdrawn_result_offers_no_objection(client, run, rita):
    withdraw_run(run, rita, "Wrong.")
    assert "/objections/new/" not in client.get(f"/runs/{run.public_id}/").text


def test_the_list_counts_states_and_reasons_and_names_admitted_ones_only(client, run, admitted, rita):
    refused = file_objection(run, make_user("felix"), "Bad.")
    refuse(refused, rita, Objection.Refusal.DUPLICATE)
    gone = file_objection(run, make_user("frank"), "Bad.")
    withdraw(gone, gone.filed_by)
    text = client.get("/objections/").text
    assert page_of(admitted) in text
    assert refused.public_id not in text
    assert gone.public_id not in text
    assert "<dt>Refused</dt><dd>1</dd>" in text
    assert "<dt>Another objection states the same</dt><dd>1</dd>" in text
    assert "<dt>It names no evidence</dt><dd>0</dd>" in text


def test_after_a_refusal_only_filer_and_reviewers_read_it(as_user, objection, fiona, rita):
    refuse(objection, rita, Objection.Refusal.UNCLEAR, "Which figure?")
    for path in (page_of(objection), files_of(objection)[0]):
        assert [get(as_user(user), path).status_code for user in (fiona, rita)] == [200, 200]
        olga = make_user(f"olga{len(path)}", is_operator=True)
        assert as_user(olga).get(path).status_code == 404
        assert_is_led_to_the_sign_in(Client().get(path))
    text = as_user(fiona).get(page_of(objection)).text
    assert "it cannot be understood" in text
    assert "Which figure?" in text


def test_a_takedown_withholds_page_files_and_lists(client, as_user, run, admitted, fiona, rita):
    olga = make_user("olga", is_operator=True)
    takedown = request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    for path in (page_of(admitted), *files_of(admitted)):
        for reader in (client, as_user(fiona), as_user(rita)):
            answer = reader.get(path)
            assert answer.status_code == 451
            assert "over-provisioned" not in answer.text
        assert get(as_user(olga), path).status_code == 200
    assert admitted.public_id not in client.get("/objections/").text
    assert page_of(admitted) not in {address.path for address in public_addresses()}
    assert as_user(rita).get(f"/review/objections/{admitted.public_id}/").status_code == 403
    end_takedown(takedown, olga, "Settled.")
    assert client.get(page_of(admitted)).status_code == 200


def test_a_takedown_does_not_reveal_an_objection_that_was_not_admitted(client, run, objection):
    request_takedown(run, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    assert_is_led_to_the_sign_in(client.get(page_of(objection)))


def assert_is_harmless(answer, content):
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Security-Policy"] == "sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not answer.cookies
    assert b"".join(answer.streaming_content) == content


@pytest.mark.parametrize("name", HOSTILE)
def test_no_browser_renders_an_attachment(as_user, admitted, fiona, settings, name):
    settings.SESSION_SAVE_EVERY_REQUEST = True
    file = admitted.files.get(filename=name)
    for reader in (Client(), as_user(fiona)):
        assert_is_harmless(reader.get(f"{page_of(admitted)}files/{file.sha256}"), HOSTILE[name])


def test_with_a_host_of_its_own_attachments_are_sent_from_there(client, run, admitted, settings):
    settings.EVIDENCE_ORIGIN, settings.ALLOWED_HOSTS = ORIGIN, [*settings.ALLOWED_HOSTS, "files.example.org"]
    file = admitted.files.first()
    answer = client.get(f"{page_of(admitted)}files/{file.sha256}")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (302, "no-store")
    link = answer.headers["Location"].removeprefix(ORIGIN)
    host = {"host": "files.example.org"}
    assert_is_harmless(Client().get(link, headers=host), HOSTILE[file.filename])
    request_takedown(run, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    assert Client().get(link, headers=host).status_code == 451


def test_a_hash_of_another_objection_is_no_file_of_this_one(client, run, admitted, rita):
    other = file_objection(run, make_user("felix"), "Bad.", None, [Attachment("a", io.BytesIO(b"other"))])
    assert client.get(f"{page_of(admitted)}files/{other.files.get().sha256}").status_code == 404


def test_the_api_has_admitted_objections_of_a_run(client, run, objection, rita):
    path = f"/api/v1/runs/{run.public_id}/"
    assert client.get(path).json()["objections"] == []
    admit(objection, rita)
    (found,) = client.get(path).json()["objections"]
    assert (found["id"], found["state"], found["outcome"]) == (objection.public_id, "admitted", "")
    assert found["deadline"]
    assert not {"filed_by", "organisation"} & set(found)


def test_dumps_have_admitted_objections_only(run, admitted, rita):
    received = file_objection(run, make_user("felix"), "Bad.")
    rows = list(read_rows(dumps_store.read_dump(write_dump()), "objections"))
    assert [row["public_id"] for row in rows] == [admitted.public_id]
    assert received.public_id not in str(rows)
    assert "fiona" not in str(rows)


def test_each_change_makes_pages_of_the_snapshot_outdated(run, fiona, rita):
    slug = run.product.slug
    before = current_stamps()
    objection = file_objection(run, fiona, TEXT)
    received = current_stamps()
    assert received[EVERYTHING] != before[EVERYTHING], "the list counts it"
    assert received[slug] == before[slug], "the page of the run does not change"
    admit(objection, rita)
    admitted = current_stamps()
    assert admitted[slug] != received[slug]
    assert (page_of(objection), slug) in {(address.path, address.group) for address in public_addresses()}


def test_a_filer_without_an_account_is_a_former_user_to_reviewers(as_user, objection, fiona, rita):
    close_account(Actor(fiona, None))
    text = as_user(rita).get(f"/review/objections/{objection.public_id}/").text
    assert "former user" in text
    assert "fiona" not in text


def test_the_submitter_replies_once_to_an_annotation_in_public(client, run, rita, sender):
    annotation = annotate(run, "A short test.", rita)
    reply_to_annotation(annotation, sender, "It was <i>meant</i> to be short.")
    text = client.get(f"/runs/{run.public_id}/").text
    assert "It was &lt;i&gt;meant&lt;/i&gt; to be short." in text
    (found,) = client.get(f"/api/v1/runs/{run.public_id}/").json()["annotations"]
    assert found["reply"] == "It was <i>meant</i> to be short."
