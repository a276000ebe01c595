"""Hidden files of public and withdrawn results: stubs, downloads, dumps, and takedowns at the same time."""

import threading

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from results.lifecycle import visibility
from results.lifecycle.hidden_files import end_hiding, hide_file
from results.lifecycle.takedowns import request_takedown
from results.models import Evidence, HiddenFile, Submission, Takedown
from tests.results.builders import link_key, make_user
from tests.webapp.people import as_user, enter_password
from tests.webapp.register.http.test_evidence_files import link_of, on_host, own_host
from tests.webapp.register.runs.test_views import keep_log
from tests.webapp.register.test_withheld_attachments import attach, attach_side_file
from webapp.register.dumps import store as dumps_store
from webapp.register.dumps.writer import write_dump
from webapp.register.snapshots.stamps import current_stamps
from webapp.register.syndication.public_addresses import public_addresses

__all__ = ["as_user", "own_host"]
pytestmark = pytest.mark.django_db
NAME = "load.err"
STUB = "hidden on request of "


@pytest.fixture
def vera(db):
    return make_user("vera")


@pytest.fixture
def olga(db):
    return make_user("olga", is_operator=True)


@pytest.fixture
def run(make_log_run, evidence_dir):
    return keep_log(make_log_run())


def hide(run, evidence, user):
    submission = Submission.objects.get(pk=run.submission_id)
    return hide_file(submission, evidence.pk, user, HiddenFile.Reason.PERSONAL_DATA, "A name.")


def hide_log(run, user):
    visibility.withdraw(run, user, "sent by mistake")
    return hide(run, run.submission.log, user)


@pytest.mark.parametrize("lay", [attach, attach_side_file])
def test_a_public_result_keeps_a_stub_of_a_hidden_companion(client, run, vera, olga, lay):
    evidence, page = lay(run), f"/runs/{run.public_id}/"
    name, arguments = ("companion", [evidence.sha256]) if lay is attach else ("side-file", [])
    path = reverse(f"run-{name}", args=[run.public_id, *arguments])
    hidden = hide(run, evidence, vera)
    text = client.get(page).text
    assert f"{STUB}{run.submission.organisation} on " in text
    assert ": personal data" in text
    assert "A file of this evidence is hidden on request of its sender. Readers cannot check it." in text
    assert "File hidden on request of its sender" in text.split('id="history"')[1]
    assert "by its organisation" in text
    assert (NAME in text, evidence.sha256 in text, "A name." in text) == (False, False, False)
    assert client.get(path).status_code == 404
    assert b"".join(client.get(f"{page}log").streaming_content)
    end_hiding(hidden, olga, "No name.")
    text = client.get(page).text
    words = ("A file of this evidence is hidden", "File no longer hidden", "by an operator")
    assert [each in text for each in words] == [False, True, True]


def test_the_answer_about_a_hidden_companion_is_that_of_an_unknown_one(client, run, vera):
    evidence = attach(run)
    hide(run, evidence, vera)
    answers = [client.get(f"/runs/{run.public_id}/companions/{each}") for each in (evidence.sha256, "0" * 64)]
    assert {answer.status_code for answer in answers} == {404}
    first, second = (
        answer.text.replace(each, "x") for answer, each in zip(answers, (evidence.sha256, "0" * 64), strict=True)
    )
    assert first == second


def test_a_withdrawn_result_keeps_its_page_and_a_stub_of_its_hidden_log(client, run, vera):
    page, log = f"/runs/{run.public_id}/", run.submission.log
    hide_log(run, vera)
    text = client.get(page).text
    assert STUB in text
    assert (log.filename in text, log.sha256 in text, "legal reasons" in text) == (False, False, False)
    for name in ("log", "lines/1/", "slices/1/", "histograms.csv", "again.conf"):
        assert client.get(f"{page}{name}").status_code == 404, name
    assert client.get(f"/api/v1{page}intervals/").status_code == 404
    gone = {f"{page}histograms.csv", f"{page}over-time/"}
    assert not gone & {address.path for address in public_addresses()}


@pytest.mark.parametrize("kind", ["log", "companion"])
def test_a_signed_link_that_was_made_before_opens_nothing(client, run, vera, own_host, kind):
    evidence = run.submission.log if kind == "log" else attach(run)
    name = "log" if kind == "log" else f"companions/{evidence.sha256}"
    path = link_of(client.get(f"/runs/{run.public_id}/{name}"))
    (hide_log(run, vera) if kind == "log" else hide(run, evidence, vera))
    assert on_host(path).status_code == 404
    assert client.get(f"/runs/{run.public_id}/{name}").status_code == 404


def test_an_operator_gets_the_file_from_the_host_of_files(run, vera, olga, own_host, as_user):
    hidden = hide_log(run, vera)
    operator = as_user(olga)
    enter_password(operator)
    path = link_of(operator.get(f"/hidden-files/{hidden.pk}/file/"))
    assert b"".join(on_host(path).streaming_content)
    assert on_host(f"{path}x").status_code == 404
    end_hiding(hidden, olga, "No name.")
    assert on_host(path).status_code == 404


def test_a_secret_link_opens_no_hidden_file(client, run, vera):
    visibility.withdraw(run, vera, "x")
    type(run).objects.filter(pk=run.pk).update(visibility="unreviewed")
    query = f"?key={link_key(run.submission)}"
    assert b"".join(client.get(f"/runs/{run.public_id}/log{query}").streaming_content)
    hide(run, run.submission.log, vera)
    assert client.get(f"/runs/{run.public_id}/log{query}").status_code == 404
    text = client.get(f"/submissions/{run.submission.public_id}/{query}").text
    assert STUB in text
    assert run.submission.log.sha256 not in text


def test_dumps_with_the_run_are_removed_at_once(django_capture_on_commit_callbacks, run, vera):
    write_dump()
    with django_capture_on_commit_callbacks(execute=True):
        hide(run, attach(run), vera)
    assert list(dumps_store.dumps()) == []
    assert dumps_store.read_dump(write_dump()).withheld == [run.public_id]


@pytest.mark.parametrize("lay", [attach, attach_side_file])
def test_the_stamp_of_its_product_changes(run, vera, lay):
    evidence = lay(run)
    before = current_stamps()[run.product.slug]
    Evidence.objects.filter(pk=evidence.pk).update(hidden=True)
    assert current_stamps()[run.product.slug] != before


def test_during_a_takedown_the_answer_is_451_and_after_it_the_file_is_still_hidden(client, run, vera, olga):
    evidence = attach(run)
    path = f"/runs/{run.public_id}/companions/{evidence.sha256}"
    takedown = request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    hide(run, evidence, vera)
    assert client.get(path).status_code == 451
    visibility.release(takedown.run, olga, "Settled.", {})
    Takedown.objects.update(end="released", ended_at=takedown.requested_at, ended_by=olga)
    assert client.get(path).status_code == 404
    assert STUB in client.get(f"/runs/{run.public_id}/").text


@pytest.mark.parametrize(("is_sequestered", "status"), [(True, 451), (False, 404)])
def test_of_a_sequestered_and_hidden_log_no_answer_has_the_name(client, run, vera, is_sequestered, status):
    hide_log(run, vera)
    Evidence.objects.filter(pk=run.submission.log_id).update(sequestered=is_sequestered)
    for path in (f"/runs/{run.public_id}/log", f"/runs/{run.public_id}/lines/1/"):
        answer = client.get(path)
        assert answer.status_code == status
        assert run.submission.log.filename not in answer.text


def test_a_download_that_began_before_gets_the_whole_file(client, run, vera):
    path = f"/runs/{run.public_id}/log"
    whole = b"".join(client.get(path).streaming_content)
    answer = client.get(path)
    hide_log(run, vera)
    assert b"".join(answer.streaming_content) == whole
    assert client.get(path).status_code == 404
    assert client.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_downloads_while_the_file_is_hidden_get_the_whole_file_or_404(run, vera):
    path, stop, found = f"/runs/{run.public_id}/log", threading.Event(), []
    whole = b"".join(Client().get(path).streaming_content)
    visibility.withdraw(run, vera, "sent by mistake")
    began = threading.Event()

    def download():
        try:
            while not stop.is_set():
                answer = Client().get(path)
                body = b"".join(answer.streaming_content) if answer.streaming else b""
                found.append((answer.status_code, body))
                began.set()
        finally:
            connection.close()

    thread = threading.Thread(target=download)
    thread.start()
    began.wait()
    hide(run, run.submission.log, vera)
    known = len(found)
    while len(found) < known + 3 and thread.is_alive():
        began.clear()
        began.wait(1)
    stop.set()
    thread.join()
    assert set(found) - {(404, b"")} == {(200, whole)}
    assert found[-1] == (404, b"")
