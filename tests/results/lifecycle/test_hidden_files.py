"""Files that are hidden on request of their sender: states, refusals, events, notices and races."""

import threading

import pytest
from django.db import IntegrityError, connection, transaction

from results.access.withholding import visible_name
from results.errors import ReviewRefusedError
from results.evidence.store import open_evidence
from results.ingest.queue import sweep
from results.ingest.same_logs import known_logs, known_logs_of
from results.lifecycle import visibility
from results.lifecycle.hidden_files import end_hiding, hide_file, hidings_of
from results.lifecycle.takedowns import end_takedown, request_takedown
from results.models import Companion, Event, Evidence, HiddenFile, Organisation, Reading, Run, Takedown
from tests.results.builders import log_bytes, make_organisation, make_user, send
from tests.results.rows import from_a_log, judge, make_product, make_run

pytestmark = pytest.mark.django_db
REASON = HiddenFile.Reason.PERSONAL_DATA
CHECKED_BY_SENTENCE = "no reader can check the result"


@pytest.fixture
def vera(db):
    return make_user("vera")


@pytest.fixture
def olga(db):
    return make_user("olga", is_operator=True)


@pytest.fixture
def run(db):
    return new_run()


def new_run(**fields):
    run = make_run(make_product(), predates_approvals=True, **fields, **from_a_log())
    judge(run, "pass")
    Organisation.objects.update(confirmed_at=run.submission.received_at)
    return run


def attach(run, name="load.err"):
    evidence, _ = Evidence.objects.get_or_create(
        organisation=run.submission.organisation, sha256="c" * 64, defaults={"size_bytes": 1, "filename": name}
    )
    Companion.objects.create(submission=run.submission, evidence=evidence, filename=name)
    return evidence


def hide(run, evidence, user):
    return hide_file(run.submission, evidence.pk, user, REASON, "The name of a person.")


def is_hidden(evidence):
    return Evidence.objects.get(pk=evidence.pk).hidden


@pytest.mark.parametrize("state", ["unreviewed", "embargoed", "withdrawn", "retracted"])
def test_a_log_is_hidden_while_its_result_is_not_public(vera, state):
    run = new_run(visibility=state)
    hidden = hide(run, run.submission.log, vera)
    log = Evidence.objects.get(pk=run.submission.log_id)
    assert (log.hidden, visible_name(log), hidings_of([log])) == (True, "", {log.pk: hidden})
    event = Event.objects.get(kind="submission-file-hidden")
    assert (event.actor_id, event.reason, event.details) == (
        vera.pk,
        "personal data",
        {"ground": "personal-data", "file": "log"},
    )
    assert "name of a person" not in str(event.details) + event.reason
    assert Event.objects.filter(kind="run-file-hidden").exists() == (state == "withdrawn")


@pytest.mark.parametrize("state", ["public", "superseded"])
def test_the_log_of_a_public_result_is_not_hidden(vera, state):
    better = new_run()
    run = new_run(visibility=state, superseded_by=better if state == "superseded" else None)
    with pytest.raises(ReviewRefusedError, match="Withdraw the result first"):
        hide(run, run.submission.log, vera)
    assert not is_hidden(run.submission.log)
    visibility.withdraw(run, vera, "sent by mistake")
    hide(run, run.submission.log, vera)
    assert is_hidden(run.submission.log)


@pytest.mark.parametrize(("before", "is_refused"), [("public", True), ("withdrawn", False)])
def test_the_log_of_a_result_that_returns_after_its_takedown_is_not_hidden(vera, olga, before, is_refused):
    run = new_run(visibility=before)
    takedown = request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    if is_refused:
        with pytest.raises(ReviewRefusedError, match="during its takedown"):
            hide(run, run.submission.log, vera)
    else:
        hide(run, run.submission.log, vera)
    end_takedown(takedown, olga, "Settled.")
    assert is_hidden(run.submission.log) != is_refused
    assert Run.objects.get(pk=run.pk).visibility == before


def test_a_companion_of_a_public_result_is_hidden_at_once_and_its_history_says_so(run, vera, olga):
    companion = attach(run)
    hidden = hide(run, companion, vera)
    assert (is_hidden(companion), is_hidden(run.submission.log)) == (True, False)
    event = Event.objects.get(kind="run-file-hidden", subject_id=run.public_id)
    assert event.details == {"ground": "personal-data", "file": "attachment"}
    end_hiding(hidden, olga, "The file has no personal data.")
    assert not is_hidden(companion)
    shown = Event.objects.filter(kind__in=["run-file-shown", "submission-file-shown"])
    assert {(each.actor_id, each.reason) for each in shown} == {(olga.pk, "The file has no personal data.")}


def test_the_same_file_is_hidden_in_every_submission_of_the_organisation(run, vera):
    other = new_run()
    other.submission.organisation = run.submission.organisation
    other.submission.save()
    companion = attach(run)
    assert attach(other) == companion
    hide(run, companion, vera)
    subjects = set(Event.objects.filter(kind="run-file-hidden").values_list("subject_id", flat=True))
    assert subjects == {run.public_id, other.public_id}


def test_the_log_of_a_public_result_is_not_hidden_as_a_companion_of_another_submission(run, vera):
    other = new_run(visibility="unreviewed")
    Companion.objects.create(submission=other.submission, evidence=run.submission.log, filename="x")
    with pytest.raises(ReviewRefusedError, match=f"The log of run {run.public_id} cannot be hidden"):
        hide(other, run.submission.log, vera)


def test_only_a_file_of_the_submission_is_hidden_and_once(run, vera):
    other = new_run(visibility="unreviewed")
    with pytest.raises(ReviewRefusedError, match="has no such file"):
        hide(run, other.submission.log, vera)
    hide(other, other.submission.log, vera)
    with pytest.raises(ReviewRefusedError, match="is hidden already"):
        hide(other, other.submission.log, vera)


def test_the_files_of_an_example_stay_public(run, vera):
    companion = attach(run)
    run.submission.demo_run_id = "r-demo"
    run.submission.save()
    with pytest.raises(ReviewRefusedError, match="example of the register"):
        hide(run, companion, vera)


def test_a_hiding_ends_once_and_with_a_reason(run, vera, olga):
    hidden = hide(run, attach(run), vera)
    with pytest.raises(ReviewRefusedError, match="Enter a reason"):
        end_hiding(hidden, olga, " ")
    end_hiding(hidden, olga, "wrong request")
    with pytest.raises(ReviewRefusedError, match="no longer hidden"):
        end_hiding(hidden, olga, "again")
    assert hide(run, hidden.evidence, vera).pk != hidden.pk


@pytest.mark.parametrize("columns", [{"end_reason": "x"}, {"end_reason": "", "ended_at": "2026-11-01T00:00Z"}])
def test_the_database_refuses_an_end_without_operator_or_reason(run, vera, columns):
    hidden = hide(run, attach(run), vera)
    with pytest.raises(IntegrityError, match="end_of_hiding"), transaction.atomic():
        HiddenFile.objects.filter(pk=hidden.pk).update(**columns)


@pytest.mark.parametrize("step", ["publish", "reinstate"])
def test_a_result_with_a_hidden_log_is_not_approved(vera, olga, step):
    run = new_run(visibility={"publish": "unreviewed", "reinstate": "withdrawn"}[step])
    rita = make_user("rita", is_reviewer=True)
    hidden = hide(run, run.submission.log, vera)
    arguments = {"publish": (run, rita), "reinstate": (run, rita, "It is right.")}[step]
    with pytest.raises(ReviewRefusedError, match=CHECKED_BY_SENTENCE):
        getattr(visibility, step)(*arguments)
    assert not run.approvals.exists()
    end_hiding(hidden, olga, "wrong request")
    getattr(visibility, step)(*arguments)
    assert run.approvals.count() == 1


def test_a_result_with_a_hidden_log_does_not_become_public_when_its_embargo_ends(vera):
    run = new_run(visibility="embargoed")
    hide(run, run.submission.log, vera)
    with pytest.raises(ReviewRefusedError, match=CHECKED_BY_SENTENCE):
        visibility.disclose(run)


def test_no_comparison_names_a_hidden_log(run, vera):
    other = new_run(visibility="unreviewed")
    other.submission.organisation = run.submission.organisation
    other.submission.save()
    log = other.submission.log
    organisation = run.submission.organisation_id
    assert known_logs(organisation, {log.sha256: "a.log"}) == {"a.log": other.submission}
    hide(other, log, vera)
    assert known_logs(organisation, {log.sha256: "a.log"}) == {}
    other.submission.log.refresh_from_db()
    assert known_logs_of(other.submission) == {}


def test_workers_still_read_a_hidden_log_and_its_bytes_stay(evidence_dir, stand_in, vera):
    submission = send(make_organisation("exemplar"), log_bytes("four-us"), vera)
    hide_file(submission, submission.log_id, vera, REASON)
    sweep()
    assert Reading.objects.get().state == "done"
    assert Run.objects.get().visibility == "unreviewed"
    with open_evidence(submission.log) as stored:
        assert stored.read() == log_bytes("four-us")


def at_once(*calls):
    barrier, refused = threading.Barrier(len(calls)), []

    def call(function):
        try:
            barrier.wait()
            function()
        except ReviewRefusedError as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=call, args=[each]) for each in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refused


@pytest.mark.django_db(transaction=True)
def test_of_a_publication_and_a_hiding_of_the_log_at_once_one_wins(vera):
    rita = make_user("rita", is_reviewer=True)
    for _ in range(5):
        run = new_run(visibility="unreviewed")
        refused = at_once(
            lambda run=run: hide(run, run.submission.log, vera), lambda run=run: visibility.publish(run, rita)
        )
        assert len(refused) == 1
        is_public = Run.objects.get(pk=run.pk).visibility == "public"
        assert is_public != is_hidden(run.submission.log)


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_at_once_one_wins(run, vera):
    companion = attach(run)
    refused = at_once(*[lambda: hide(run, companion, vera)] * 2)
    assert (len(refused), HiddenFile.objects.count()) == (1, 1)
