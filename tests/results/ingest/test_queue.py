"""The queue of readings: attempts, limits, failures and retries."""

import io
import json
import tempfile
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from results import locks
from results.access.intervals import histogram_slices
from results.ingest import queue as ingest_queue
from results.ingest.attempts import OvertakenError
from results.ingest.queue import read_one, sweep
from results.ingest.rows import record_runs
from results.intake.submissions import accept_submission
from results.models import Event, Evidence, Profile, Reading, Run, Share, Slice, Verdict
from tests.results.builders import FACTS, log_bytes, make_organisation, other_session, recorded_reading, send, sha256
from tests.results.documents import act_run, answer_with, document_of
from tests.results.stand_in_reader import unreadable
from tests.results.stored_files import path_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(evidence_dir):
    return send(make_organisation(), log_bytes("slow-disk-ms"))


def reading_of(submission):
    return submission.log.readings.get()


def test_a_log_becomes_a_run_with_its_verdict(submission, stand_in):
    assert sweep() == 1

    run = submission.runs.get()
    assert (run.tps, str(run.nx_load), run.duration_s, run.slice_length_s) == (900, "0.3000", 40, 10)
    assert (run.tier, run.visibility, run.statistic) == ("vendor-reported", "unreviewed", "worst-slice")
    assert run.verdicts.get().headline.startswith("fails: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %")
    assert reading_of(submission).state == Reading.State.DONE


def test_a_run_keeps_its_shares_slices_findings_and_facts(submission, stand_in):
    sweep()

    run = submission.runs.get()
    worst = run.shares.filter(statistic="worst-slice").values_list("threshold_us", "printed", "slice_number")
    assert list(worst) == [(1000, "5.83", 4), (8000, "1.33", 4), (64000, "0.33", 2)]
    assert run.shares.filter(statistic="overall").count() == 3
    assert histogram_slices(run.slices.of_histogram(0))[3].ops_count == 6006
    assert [finding.rule_id for finding in run.findings.all()] == ["arrivals-lockstep"]
    assert run.facts["stop"] == {"kind": "finished", "line": None, "text": ""}


def test_the_reading_records_the_hash_of_the_content_and_the_version_of_the_reader(submission, stand_in):
    sweep()
    submission.log.refresh_from_db()
    assert submission.log.content_sha256 == sha256(log_bytes("slow-disk-ms"))
    assert reading_of(submission).reader_version == "0.1.0"


def test_a_finished_reading_is_not_changed(submission, stand_in):
    sweep()
    assert sweep() == 0
    assert read_one(reading_of(submission).pk) is False
    assert reading_of(submission).attempts == 1


def test_a_document_written_twice_adds_no_rows(submission, stand_in):
    sweep()
    before = [model.objects.count() for model in (Run, Slice, Share, Verdict)]
    record_runs(reading_of(submission), recorded_reading("slow-disk-ms"), Profile.objects.get())
    assert [model.objects.count() for model in (Run, Slice, Share, Verdict)] == before


def test_an_unreadable_log_fails_with_its_error_and_its_bytes_stay(evidence_dir, stand_in):
    submission = send(make_organisation(), b"no log")
    sweep()

    reading = reading_of(submission)
    assert (reading.state, reading.error["id"], reading.error["line"]) == ("failed", "no-act-log", 1)
    assert path_of(sha256(b"no log")).read_bytes() == b"no log"
    assert Evidence.objects.get().content_size_bytes == 6


def test_one_bad_log_does_not_stop_the_others(evidence_dir, stand_in):
    vendor = make_organisation()
    bad, good = send(vendor, b"no log"), send(vendor, log_bytes("four-us"))
    assert sweep() == 2
    assert (reading_of(bad).state, reading_of(good).state) == ("failed", "done")


def test_a_missing_reader_uses_no_attempt(submission, program):
    program("true").unlink()
    assert sweep() == 0
    assert (reading_of(submission).state, reading_of(submission).attempts) == ("pending", 0)


def test_a_reader_that_always_fails_is_given_up_with_a_reason(submission, program, settings):
    program('[ "$1" = --version ] && echo drivetest 1 || exit 7')
    for attempt in range(settings.READ_MAX_ATTEMPTS):
        assert (reading_of(submission).state, reading_of(submission).attempts) == ("pending", attempt)
        sweep()
        end_pauses()
    reading = reading_of(submission)
    assert (reading.state, reading.error["id"], reading.attempts) == ("failed", "reader-gave-up", 3)
    assert "exit status 0 or 3, got 7" in reading.error["sentence"]


def end_pauses():
    Reading.objects.update(next_attempt_at=None)


def pause_of(submission):
    """Return the pause from the attempt's start. It is at least the configured pause, also on a slow machine."""
    reading = reading_of(submission)
    return (reading.next_attempt_at - reading.started_at).total_seconds()


def test_pauses_between_attempts_grow(submission, program):
    program('[ "$1" = --version ] && echo drivetest 1 || exit 7')
    sweep()
    assert (sweep(), read_one(reading_of(submission).pk)) == (0, False)
    assert 30 <= pause_of(submission) < 300
    Reading.objects.update(next_attempt_at=timezone.now())
    assert sweep() == 1
    assert pause_of(submission) >= 300


def test_a_log_that_kills_its_worker_is_given_up_too(submission, stand_in, settings):
    Reading.objects.update(state="reading", attempts=3, counted_attempts=3)
    sweep()
    assert (reading_of(submission).state, reading_of(submission).error["id"]) == ("failed", "reader-gave-up")


def test_a_full_disk_uses_no_attempt(submission, stand_in, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    for attempt in range(1, 6):
        sweep()
        assert (reading_of(submission).state, reading_of(submission).attempts) == ("pending", attempt)
        assert 20 <= pause_of(submission) < 60
        end_pauses()
    monkeypatch.setattr(tempfile, "tempdir", None)
    sweep()
    assert (reading_of(submission).state, reading_of(submission).error) == ("done", None)


def test_bytes_restored_from_a_backup_are_read_after_many_attempts(submission, stand_in):
    path = path_of(submission.log.sha256)
    path.rename(path.with_suffix(".away"))
    for _ in range(5):
        sweep()
        assert pause_of(submission) >= 60
        end_pauses()
    path.with_suffix(".away").rename(path)
    sweep()
    assert reading_of(submission).state == "done"


def test_a_reading_whose_worker_died_is_repeated(submission, stand_in):
    Reading.objects.update(state="reading", attempts=1)
    sweep()
    assert (reading_of(submission).state, reading_of(submission).attempts) == ("done", 2)


def test_a_reading_locked_by_another_worker_is_skipped_until_its_session_ends(submission, stand_in):
    with other_session() as worker:
        worker.execute("SELECT pg_advisory_lock(%s, %s)", [locks.READING, reading_of(submission).pk])
        assert sweep() == 0
    assert sweep() == 1


def test_an_attempt_that_another_one_replaced_writes_nothing(submission, stand_in):
    reading = Reading.objects.select_related("evidence__submission__organisation").get()
    Reading.objects.update(state="reading", attempts=2)
    reading.attempts = 1
    with pytest.raises(OvertakenError):
        ingest_queue.EvidenceJob(reading).finish(recorded_reading("slow-disk-ms"), Profile.objects.get())
    assert Run.objects.count() == 0


def test_damaged_bytes_do_not_count_against_the_log(submission, stand_in):
    path = path_of(submission.log.sha256)
    path.chmod(0o600)
    path.write_bytes(b"x" * submission.log.size_bytes)
    sweep()
    assert reading_of(submission).state == "pending"
    assert "restore a backup" in reading_of(submission).error["sentence"]


def test_a_reading_of_other_bytes_is_never_recorded(evidence_dir, program, tmp_path):
    submission = send(make_organisation(), b"log")
    answer(program, tmp_path, recorded_reading("slow-disk-ms"))
    sweep()
    assert "restore a backup" in reading_of(submission).error["sentence"]
    assert Run.objects.count() == 0


def answer(program, tmp_path, document):
    (tmp_path / "answer").write_text(json.dumps(document))
    program(f'[ "$1" = --version ] && echo drivetest 0.1.0 || cat {tmp_path}/answer')


@pytest.mark.parametrize(("error_id", "state"), [("content-too-large", "failed"), ("file-unreadable", "pending")])
def test_bytes_that_were_not_read_to_the_end_have_no_hash_to_compare(submission, program, tmp_path, error_id, state):
    document = unreadable("0" * 64, 1)
    document["input"] |= {"sha256": None, "content_sha256": None}
    document["error"]["id"] = error_id
    answer(program, tmp_path, document)
    sweep()
    assert reading_of(submission).state == state
    submission.log.refresh_from_db()
    assert (submission.log.content_sha256, submission.log.content_size_bytes) == ("", None)


def test_a_number_too_large_for_its_column_fails_the_log(submission, program, tmp_path):
    document = recorded_reading("slow-disk-ms")
    document["runs"][0]["asked_reads_per_s"] = "9" * 20
    answer(program, tmp_path, document)
    sweep()
    assert (reading_of(submission).state, reading_of(submission).error["id"]) == ("failed", "value-out-of-range")


def test_too_many_slices_fail_with_a_remedy(submission, program, tmp_path):
    document = recorded_reading("slow-disk-ms")
    document["runs"][0]["slices"] *= 10_000
    answer(program, tmp_path, document)
    sweep()
    error = reading_of(submission).error
    assert (error["id"], error["got"]) == ("too-many-slices", "160014")


def test_a_reading_is_recorded_as_events(submission, stand_in):
    sweep()
    kinds = Event.objects.filter(subject_id=submission.public_id).values_list("kind", flat=True)
    assert list(kinds) == ["submission-received", "reading-done"]


def test_output_over_its_limit_fails_at_once_with_a_remedy(submission, program, settings):
    settings.READ_OUTPUT_BYTES = 1000
    program('[ "$1" = --version ] && echo drivetest 1 || exec head -c 1001 /dev/zero')
    sweep()
    reading = reading_of(submission)
    assert (reading.state, reading.error["id"], reading.attempts) == ("failed", "reading-too-large", 1)
    assert "longer slices" in reading.error["remedy"]
    assert path_of(submission.log.sha256).read_bytes() == log_bytes("slow-disk-ms")


@pytest.mark.parametrize("kinds", [None, [], ["nvme"], ["nvme", "virtual"]])
def test_a_run_whose_side_file_names_no_drive_is_virtual(submission, program, tmp_path, kinds):
    side_file = None if kinds is None else {"drives": [{"kind": kind} for kind in kinds]}
    run = act_run(
        side_file=side_file, is_virtual_device=True
    )  # also by its name, which on its own only a reviewer judges
    answer_with(program, tmp_path, document_of(log_bytes("slow-disk-ms"), runs=[run]))
    sweep()
    assert submission.runs.get().is_virtual is ("virtual" in (kinds or []))


pytestmark = pytest.mark.django_db


@pytest.fixture
def failed(evidence_dir, program, settings):
    """Return a valid log whose reading was given up because the reader was broken."""
    settings.READ_MAX_ATTEMPTS = 1
    submission = send(make_organisation(), log_bytes("four-us"))
    program('[ "$1" = --version ] && echo drivetest 1 || exit 7')
    sweep()
    assert submission.log.readings.get().state == "failed"
    return submission


def test_a_failed_reading_is_read_again_with_all_its_attempts(failed, stand_in):
    call_command("read_again", failed.public_id)
    reading = Reading.objects.get()
    assert (reading.state, reading.counted_attempts, reading.error) == ("pending", 0, None)
    sweep()
    reading.refresh_from_db()
    assert (reading.state, reading.attempts, failed.runs.count()) == ("done", 2, 1)


def test_a_repeated_reading_is_recorded_as_an_event(failed):
    call_command("read_again", failed.public_id)
    event = Event.objects.get(kind="reading-queued-again")
    assert (event.subject_id, event.details["error"]) == (failed.public_id, "reader-gave-up")


OTHER_SLICES = replace(FACTS, slice_length_s=20, model="EX5", over_provisioning_pct=Decimal("7.00"))


def test_the_same_bytes_in_other_slices_are_read_again_with_the_newly_stated_facts(failed, stand_in):
    again = accept_submission(failed.organisation, io.BytesIO(log_bytes("four-us")), "b.log", OTHER_SLICES, "api", None)
    assert (again.is_new, again.is_read_again, again.submission) == (False, True, failed)
    sweep()
    failed.refresh_from_db()
    assert (failed.slice_length_s, failed.model, failed.log.readings.get().state) == (20, "EX5", "done")
    details = Event.objects.get(kind="reading-queued-again").details
    assert details["facts"] == {
        "slice_length_s": ["10", "20"], "model": ["EX4", "EX5"], "over_provisioning_pct": ["None", "7.00"],
    }  # fmt: skip


def test_the_same_bytes_in_the_same_slices_stay_failed(failed):
    again = accept_submission(
        failed.organisation, io.BytesIO(log_bytes("four-us")), "b.log", replace(FACTS, model="EX5"), "api", None
    )
    failed.refresh_from_db()
    assert (again.is_read_again, failed.model, failed.log.readings.get().state) == (False, "EX4", "failed")


def test_a_finished_reading_keeps_its_facts_when_other_slices_are_requested(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("four-us"))
    for expected in ("pending", "done"):
        assert submission.log.readings.get().state == expected
        again = send(submission.organisation, log_bytes("four-us"), facts=OTHER_SLICES)
        assert (again.slice_length_s, again.model) == (10, "EX4")
        sweep()


def test_only_failed_readings_are_repeated(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("four-us"))
    for _ in range(2):
        with pytest.raises(CommandError, match="expected a failed reading"):
            call_command("read_again", submission.public_id)
        sweep()
    with pytest.raises(CommandError, match="expected the id of a submission"):
        call_command("read_again", "s-nothing")
    assert not Event.objects.filter(kind="reading-queued-again").exists()
