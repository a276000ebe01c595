"""A log shorter than its slices: the page states so, and its owner can select other slices."""

from dataclasses import replace

import pytest

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.models import Event, Product, Run, Visibility
from results.reevaluation.slice_lengths import DEPENDS_ON_SLICES, read_in_slices
from tests.results.builders import FACTS, link_key, log_bytes, send
from tests.results.documents import YCSB_LOG, YCSB_RUN, answer_with, document_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]
HOURS = replace(FACTS, slice_length_s=3600)
CONTROL = 'id="other-slices"'


@pytest.fixture
def submission(real_reader, exemplar, vera):
    submission = send(exemplar, log_bytes("four-us"), vera, HOURS)
    sweep()
    return submission


def page_of(client, submission):
    return client.get(f"/submissions/{submission.public_id}/").text.replace("\N{NO-BREAK SPACE}", " ")


def ask(client, submission, slice_length_s):
    answer = client.post(
        f"/submissions/{submission.public_id}/slices/", {"slice_length_s": slice_length_s}, follow=True
    )
    submission.refresh_from_db()
    return answer


def test_no_empty_table_is_shown_if_no_slice_is_complete(as_user, vera, submission):
    page = page_of(as_user(vera), submission)
    assert "The log lasts 1 min, shorter than one slice of 1 h, so it has no worst slice." in page
    assert '<a href="#other-slices">' in page
    assert CONTROL in page
    assert "<caption>Worst slice" not in page


def test_the_page_of_its_run_explains_the_missing_slices_and_links_to_the_control(client, submission):
    run = submission.runs.get()
    page = client.get(f"/runs/{run.public_id}/", {"key": link_key(submission)}).text.replace("\N{NO-BREAK SPACE}", " ")
    assert "The log lasts 1 min, shorter than one slice of 1 h, so it has no worst slice." in page
    assert f'<a href="/submissions/{submission.public_id}/#other-slices">' in page
    assert "All 0 slices" not in page
    assert "slices.csv" not in page


def test_a_public_run_explains_how_to_read_its_log(client, submission):
    product = Product.objects.create(slug="ex", vendor="Exemplar", model="EX", category="nvme-flash")
    Run.objects.update(visibility=Visibility.PUBLIC, product=product, predates_approvals=True)
    page = client.get(f"/runs/{submission.runs.get().public_id}/").text
    assert "With the log on your machine, run <code>drivetest read LOG --slice-sec N</code>" in page
    assert "#other-slices" not in page


def test_its_owner_reads_the_log_again_in_other_slices_under_the_same_id(as_user, vera, submission):
    before = submission.runs.get()
    ask(as_user(vera), submission, 10)
    after = submission.runs.get()
    assert (after.public_id, after.slice_length_s, submission.slice_length_s) == (before.public_id, 10, 10)
    assert after.slices.count() == 6
    assert after.verdicts.count() == 2
    assert "<caption>Worst slice" in page_of(as_user(vera), submission)


def test_the_history_has_the_change_with_both_lengths(as_user, vera, submission):
    ask(as_user(vera), submission, 10)
    event = Event.objects.get(kind="submission-slices-changed")
    assert (event.actor, event.details) == (vera, {"before": 3600, "after": 10})
    assert Event.objects.get(kind="run-judged-anew").reason == "read in slices of 10 s instead of 3600 s"


def test_a_failed_log_is_queued_again_with_the_requested_slices(as_user, rita, submission):
    submission.log.readings.update(state="failed", error={"id": "reader-gave-up", "sentence": "stopped"})
    ask(as_user(rita), submission, 20)
    assert (submission.log.readings.get().state, submission.slice_length_s) == ("pending", 20)


@pytest.mark.parametrize("slice_length_s", ["0", "86401", "", "1" * 30])
def test_an_impossible_slice_length_is_refused(as_user, vera, submission, slice_length_s):
    assert "Expected a slice length of 1 to 86400 s" in ask(as_user(vera), submission, slice_length_s).text
    assert submission.slice_length_s == 3600


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.WITHDRAWN])
def test_published_figures_keep_their_slices(vera, submission, visibility):
    Run.objects.update(visibility=visibility, predates_approvals=True)
    with pytest.raises(
        ReviewRefusedError, match="The slice length cannot change, because figures of this log were published"
    ):
        read_in_slices(submission, 10, vera)
    submission.refresh_from_db()
    assert (submission.slice_length_s, submission.runs.get().slice_length_s) == (3600, 3600)


def test_the_page_of_a_published_log_offers_no_other_slices(as_user, vera, submission):
    assert CONTROL in page_of(as_user(vera), submission)
    Run.objects.update(visibility=Visibility.PUBLIC, predates_approvals=True)
    assert CONTROL not in page_of(as_user(vera), submission)


def test_a_failed_reading_in_other_slices_changes_nothing(as_user, vera, submission, settings):
    settings.READ_OUTPUT_BYTES = 1000
    assert "Nothing was changed: in slices of 1 s" in ask(as_user(vera), submission, 1).text
    assert (submission.slice_length_s, submission.runs.get().slice_length_s) == (3600, 3600)


def test_a_log_that_is_not_read_yet_waits(as_user, vera, submission):
    submission.log.readings.update(state="pending")
    assert "has not been read yet" in ask(as_user(vera), submission, 10).text


def test_strangers_and_holders_of_the_link_cannot_change_the_slices(as_user, client, otto, submission):
    assert ask(as_user(otto), submission, 10).status_code == 404
    answer = client.post(
        f"/submissions/{submission.public_id}/slices/?key={link_key(submission)}", {"slice_length_s": 10}
    )
    assert answer.headers["Location"].startswith("/accounts/login/")
    assert CONTROL not in client.get(f"/submissions/{submission.public_id}/", {"key": link_key(submission)}).text
    submission.refresh_from_db()
    assert submission.slice_length_s == 3600


def test_a_ycsb_run_has_no_slices_to_select(as_user, vera, exemplar, program, tmp_path):
    answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN]))
    submission = send(exemplar, YCSB_LOG, vera)
    sweep()
    assert CONTROL not in page_of(as_user(vera), submission)


def test_a_file_that_is_no_log_has_no_slices_to_select(as_user, vera, exemplar, stand_in):
    submission = send(exemplar, b"%PDF-1.7", vera)
    sweep()
    assert CONTROL not in page_of(as_user(vera), submission)
    assert "this does not depend on the slice length" in ask(as_user(vera), submission, 20).text
    assert submission.log.readings.get().state == "failed"


@pytest.mark.parametrize("error_id", sorted(DEPENDS_ON_SLICES))
def test_a_log_with_too_many_slices_is_read_in_longer_ones(as_user, vera, submission, error_id):
    submission.log.readings.update(state="failed", error={"id": error_id, "sentence": "too many"})
    assert CONTROL in page_of(as_user(vera), submission)
