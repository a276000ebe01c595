"""The path from bytes to rows with the real drivetest, on real logs."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from results.access.intervals import histogram_slices
from results.evidence.store import open_evidence
from results.ingest.queue import retry_reading, sweep
from results.models import Reading, Run
from tests.results.builders import FACTS, LOGS, log_bytes, make_organisation, recorded_reading, send, sha256

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_reader")]


def read_in(content, facts=FACTS):
    submission = send(make_organisation(), content, facts=facts)
    assert sweep() == 1
    return submission, submission.log.readings.get()


def without_empty_end(counts):
    """Return counts as the reader prints them; in a slice's row all histograms are as long as the longest."""
    return counts[: max((bucket + 1 for bucket, count in enumerate(counts) if count), default=0)]


@pytest.mark.parametrize("case", ["four-us", "slow-disk-ms"])
def test_every_count_of_a_run_is_the_one_in_the_log(evidence_dir, case):
    submission, reading = read_in(log_bytes(case))
    assert reading.state == Reading.State.DONE
    expected = recorded_reading(case)["runs"][0]
    run = submission.runs.get()
    counts = {histogram.ordinal: (histogram.name, histogram.counts) for histogram in run.histograms.all()}
    assert counts == {entry["ordinal"]: (entry["name"], entry["counts"]) for entry in expected["histograms"]}
    for ordinal in counts:
        slices = [piece["histograms"][ordinal] for piece in expected["slices"]]
        found = histogram_slices(run.slices.of_histogram(ordinal))
        assert [each.ops_count for each in found] == [piece["ops_count"] for piece in slices]
        assert [without_empty_end(each.counts) for each in found] == [piece["counts"] for piece in slices]


def test_a_slow_disk_fails_and_its_largest_excess_comes_first(evidence_dir):
    submission, _ = read_in(log_bytes("slow-disk-ms"))
    verdict = submission.runs.get().verdicts.get()
    assert verdict.outcome == "fail"
    assert verdict.headline.startswith("fails: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %")
    expected = recorded_reading("slow-disk-ms")["runs"][0]["verdict"]["violations"]
    keys = ["slice", "threshold_us", "share_pct", "limit_pct", "over_count", "ops_count"]
    assert [[entry[key] for key in keys] for entry in verdict.document["violations"]] == [
        [entry[key] for key in keys] for entry in expected
    ]


def test_a_gzipped_log_is_the_same_run_with_both_hashes(evidence_dir):
    packed = gzip.compress(log_bytes("four-us"))
    submission, reading = read_in(packed)
    submission.log.refresh_from_db()
    assert (submission.log.sha256, submission.log.content_sha256) == (sha256(packed), sha256(log_bytes("four-us")))
    ops_count = recorded_reading("four-us")["runs"][0]["histograms"][0]["ops_count"]
    assert submission.runs.get().histograms.get(name="reads").ops_count == ops_count
    assert reading.findings == []


def test_a_log_truncated_within_a_line_is_void_and_names_the_line(evidence_dir):
    submission, reading = read_in(log_bytes("truncated-midline"))
    run = submission.runs.get()
    assert (reading.state, run.verdicts.get().outcome, run.facts["stop"]["kind"]) == ("done", "void", "cut")
    assert run.findings.get(severity="decides").line == len(log_bytes("truncated-midline").split(b"\n"))


def test_a_truncated_gzip_is_void_without_a_hash_of_its_content(evidence_dir):
    packed = gzip.compress(log_bytes("slow-disk-ms"))
    submission, reading = read_in(packed[: len(packed) // 2])
    submission.log.refresh_from_db()
    assert (reading.state, reading.attempts, submission.log.content_sha256) == ("done", 1, "")
    assert submission.log.content_size_bytes is None
    rule_ids = submission.runs.get().findings.values_list("rule_id", flat=True)
    assert {"cut", "compression-damaged"} <= set(rule_ids)
    assert submission.runs.get().verdicts.get().outcome in {"fail", "void"}


@pytest.mark.parametrize(("case", "line"), [("record8M-crash", None), ("no-header", 1)])
def test_an_unreadable_log_fails_with_expected_got_line_and_remedy(evidence_dir, case, line):
    submission, reading = read_in(log_bytes(case))
    assert (reading.state, reading.error["line"]) == ("failed", line)
    assert all(reading.error[key] for key in ["id", "sentence", "expected", "got", "remedy"])
    assert submission.runs.count() == 0
    with open_evidence(submission.log) as stored:
        assert stored.read() == log_bytes(case)


def test_a_run_that_never_started_is_stored_as_void(evidence_dir):
    submission, reading = read_in(log_bytes("nodev"))
    assert reading.state == "done"
    assert submission.runs.get().verdicts.get().outcome == "void"


@pytest.mark.long
def test_no_real_log_breaks_the_reader_or_the_register(evidence_dir):
    """Check that each log of 6.6 is read or refused with a reason, and never ends in an internal error."""
    vendor = make_organisation()
    for path in sorted(LOGS.glob("*.log")):
        send(vendor, path.read_bytes())
    while sweep():
        pass
    assert not Reading.objects.unfinished().exists()
    ours = Reading.objects.filter(error__id__in=["reader-gave-up", "too-many-slices", "value-out-of-range"])
    assert [reading.error for reading in ours] == []
    assert Reading.objects.filter(state="done").count() == Run.objects.values("submission").distinct().count() > 50


@pytest.fixture
def long_log():
    """Return four-us.log extended by forty minutes: its blocks with later labels, more than seven thousand slices."""
    head, *blocks = log_bytes("four-us").split(b"after ")
    later = [b"%d sec:%s" % (60 + number, block.partition(b" sec:")[2]) for number, block in enumerate(blocks * 40, 1)]
    return b"after ".join([head, *blocks, *later])


@pytest.mark.parametrize(
    ("limit", "value", "error"),
    [
        ("READ_TIMEOUT_S", 0, "reader-gave-up"),
        ("READ_MEMORY_BYTES", 4 * 1024**2, "reader-gave-up"),
        ("READ_OUTPUT_BYTES", 1000, "reading-too-large"),
    ],
)
def test_a_reader_ended_by_a_limit_leaves_a_named_state_and_can_be_repeated(
    evidence_dir, settings, long_log, limit, value, error
):
    settings.READ_MAX_ATTEMPTS = 1
    allowed = getattr(settings, limit)
    # The program itself counts as memory. With less, the kernel ends it with SIGSEGV before it reads.
    program_bytes = Path(settings.DRIVETEST).stat().st_size if limit == "READ_MEMORY_BYTES" else 0
    setattr(settings, limit, program_bytes + value)
    submission, reading = read_in(long_log, replace(FACTS, slice_length_s=1))
    assert (reading.state, reading.error["id"]) == ("failed", error)
    assert limit.split("_")[1].lower().replace("timeout", "time") in reading.error["sentence"]
    with open_evidence(submission.log) as stored:
        assert stored.read() == long_log

    setattr(settings, limit, allowed)
    assert retry_reading(submission, None, {})
    sweep()
    reading.refresh_from_db()
    assert (reading.state, submission.runs.count()) == ("done", 1)
