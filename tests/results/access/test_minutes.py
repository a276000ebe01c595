"""The minutes and the companions that a reading stores."""

import io
from pathlib import Path

import pytest
from django.db import connection

from results.access.intervals import intervals, minutes_of
from results.ingest.queue import sweep
from results.intake.submissions import COMPANIONS_MAX, CompanionUpload, TooManyCompanionsError, accept_submission
from results.models import Companion, Evidence, Reading, Run, Series
from tests.results.builders import FACTS, log_bytes, make_organisation, send, sha256
from tests.results.documents import YCSB_LOG, YCSB_RUN, YCSB_STDERR, act_run, answer_with, document_of, series_of

pytestmark = pytest.mark.django_db
LOG = log_bytes("four-us")
CHUNKS = [(2, [[{0: 5, 3: 1}, None], [{1: 7}, {1: 8}]])]


def companion(content=YCSB_STDERR, name="run.stderr"):
    return CompanionUpload(io.BytesIO(content), name)


def submit(organisation, *companions, content=YCSB_LOG):
    return accept_submission(organisation, io.BytesIO(content), "run.log", FACTS, "form", None, companions=companions)


def test_the_minutes_of_a_run_are_read_back_from_the_database(evidence_dir, program, tmp_path):
    answer_with(program, tmp_path, document_of(LOG, runs=[act_run(series=series_of(CHUNKS))]))
    run = send(make_organisation(), LOG).log.readings.get() and sweep() and Run.objects.get()
    assert "--series-sec 60" in (tmp_path / "requests").read_text()
    read = list(intervals(minutes_of(run), 0, 120))
    assert [interval.counts for interval in read] == [[[5, 0, 0, 1], [0, 7]], [None, [0, 8]]]


def test_a_run_without_a_series_has_no_minutes(evidence_dir, stand_in):
    send(make_organisation(), LOG)
    sweep()
    assert (Run.objects.count(), Series.objects.count()) == (1, 0)


def test_packed_bytes_are_not_packed_again():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attstorage FROM pg_attribute WHERE attname = 'packed' AND attrelid = %s::regclass",
            [Series._meta.db_table],
        )
        assert cursor.fetchone() == ("e",)


def test_companions_are_evidence_and_reach_the_reader_by_their_names(evidence_dir, program, tmp_path):
    companions = [{"name": "x", "size_bytes": 9, "sha256": sha256(YCSB_STDERR), "role": "stderr"}]
    answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN], companions=companions))
    submission = submit(make_organisation(), companion(), companion(b"hdr", "../READ.hdr")).submission
    sweep()
    with_files = [word for word in (tmp_path / "requests").read_text().split() if word.endswith((".stderr", ".hdr"))]
    assert [Path(path).read_bytes() for path in with_files] == [b"hdr", YCSB_STDERR]
    assert list(submission.companions.values_list("filename", "role")) == [("READ.hdr", ""), ("run.stderr", "stderr")]
    assert Evidence.objects.count() == 3


def test_a_second_submission_of_the_same_files_changes_nothing(evidence_dir):
    vendor = make_organisation()
    first, again = submit(vendor, companion()), submit(vendor, companion())
    assert (first.is_new, again.is_new, again.left_out, Companion.objects.count()) == (True, False, (), 1)


def test_a_companion_sent_before_the_log_is_read_is_accepted(evidence_dir):
    vendor = make_organisation()
    submit(vendor)
    assert submit(vendor, companion()).left_out == ()
    assert Companion.objects.get().filename == "run.stderr"


@pytest.mark.parametrize("state", [Reading.State.READING, Reading.State.DONE])
def test_a_companion_sent_after_the_reading_is_named_and_not_accepted(evidence_dir, state):
    vendor = make_organisation()
    submit(vendor)
    Reading.objects.update(state=state)
    assert submit(vendor, companion()).left_out == ("run.stderr",)
    assert (Companion.objects.count(), Reading.objects.get().state) == (0, state)


def test_a_failed_log_is_read_again_with_a_new_companion(evidence_dir):
    vendor = make_organisation()
    submit(vendor)
    Reading.objects.update(state=Reading.State.FAILED)
    assert submit(vendor, companion()).is_read_again
    assert (Companion.objects.count(), Reading.objects.get().state) == (1, "pending")
    Reading.objects.update(state=Reading.State.FAILED)
    assert not submit(vendor, companion()).is_read_again


def test_one_companion_over_the_limit_stores_nothing(evidence_dir):
    vendor = make_organisation()
    with pytest.raises(TooManyCompanionsError):
        submit(vendor, *[companion(b"%d" % number, f"{number}.hdr") for number in range(COMPANIONS_MAX + 1)])
    assert Evidence.objects.count() == 0
    assert submit(vendor, *[companion(b"%d" % number, f"{number}.hdr") for number in range(COMPANIONS_MAX)]).is_new


def test_a_run_names_its_file_in_the_archive(evidence_dir, program, tmp_path):
    members = [{"name": "logs/a.log", "size_bytes": 1, "sha256": sha256(b"a"), "role": "log"}]
    runs = [act_run(member="logs/a.log"), act_run(ordinal=1, member="x" * 5000)]
    answer_with(program, tmp_path, document_of(LOG, runs=runs, members=members))
    submission = send(make_organisation(), LOG)
    sweep()
    assert [run.member for run in submission.runs.order_by("ordinal")] == ["logs/a.log", "x" * 500]
    assert submission.log.readings.get().members == members
