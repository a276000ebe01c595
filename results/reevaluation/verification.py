"""Proof of stored verdicts: each log is read again, and the result is compared with the rows. Nothing is written.

A re-evaluation (recompute.py) replaces results. This one only compares, with the profile by which each run was judged.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import TextChoices

from results.evidence.store import EvidenceDamagedError
from results.ingest.queue import read_evidence
from results.ingest.rows import findings_of, read_rows
from results.ingest.ycsb import ycsb_row
from results.models import YCSB, Profile, Reading, Run, Submission, Verdict
from results.reader import process as reader_process
from results.reader.process import Document, FormatError, ReaderBrokenError, ReaderKilledError, TooManySlicesError

UNREADABLE = (FormatError, TooManySlicesError, ReaderKilledError, ReaderBrokenError, EvidenceDamagedError, OSError)
LOGS_AT_ONCE = 50  # of one thread: few queries, and progress is shown often


class Part(TextChoices):
    """What differs: the log cannot be read, its run is not found, or a part of its result."""

    LOG = "log", "the log cannot be read"
    RUN = "run", "the run is not found in its log"
    VERDICT = "verdict", "another verdict"
    SHARES = "shares", "other shares"
    FINDINGS = "findings", "other findings"
    VALIDITY = "validity", "another validity"


@dataclass(frozen=True)
class Difference:
    """A run, or a log without a run, whose stored result is not what a new reading gives.

    `is_other_reader`: another version of drivetest judged it, so that the difference may be one of the versions.
    """

    submission_id: str
    run_id: str
    part: Part
    expected: str
    found: str
    is_other_reader: bool = False

    def __str__(self) -> str:
        subject = f"{self.run_id} of {self.submission_id}" if self.run_id else self.submission_id
        return f"{subject}: {self.part.label}: expected {self.expected}, found {self.found}"


@dataclass
class Verification:
    """The number of compared logs, runs and verdicts, and the differences."""

    logs_count: int = 0
    runs_count: int = 0
    verdicts_count: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: "Verification") -> None:
        """Add the result of other logs."""
        self.logs_count += other.logs_count
        self.runs_count += other.runs_count
        self.verdicts_count += other.verdicts_count
        self.differences += other.differences


def verify_verdicts(report: Callable[[Verification], None]) -> Verification:
    """Compare every run that was read from a log with a new reading. `report` gets the sum so far.

    Raises ReaderBrokenError without a reader.
    """
    reader_process.reader_version()
    read = Reading.objects.filter(state=Reading.State.DONE).values("evidence")
    logs = list(Submission.objects.filter(log__in=read).order_by("pk").values_list("pk", flat=True))
    whole = Verification()
    # Most of the time is that of drivetest, a process for each log, so threads use all processors.
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as threads:
        parts = [logs[start : start + LOGS_AT_ONCE] for start in range(0, len(logs), LOGS_AT_ONCE)]
        for part in threads.map(_verify_in_thread, parts):
            whole.add(part)
            report(whole)
    return whole


def _verify_in_thread(logs: Sequence[int]) -> Verification:
    try:
        return verify_logs(logs)
    finally:
        connection.close()  # that of this thread


def verify_logs(logs: Sequence[int]) -> Verification:
    """Compare the runs of some submissions with new readings of their logs."""
    result = Verification()
    submissions = Submission.objects.filter(pk__in=logs).select_related("log", "organisation", "side_file")
    for submission in submissions.order_by("pk"):
        result.logs_count += 1
        runs = Run.objects.filter(submission=submission, reading__isnull=False).select_related("reading", "ycsb")
        judged: dict[Profile | None, list[tuple[Run, Verdict | None]]] = defaultdict(list)
        for run in runs.prefetch_related("shares", "findings").order_by("ordinal"):
            verdict = run.verdicts.select_related("profile").first()
            judged[verdict.profile if verdict else None].append((run, verdict))
            result.runs_count += 1
            result.verdicts_count += verdict is not None
        for profile, pairs in judged.items():
            result.differences += _verify_log(submission, profile or Profile.current(), pairs)
    return result


def _verify_log(
    submission: Submission, profile: Profile, pairs: Sequence[tuple[Run, Verdict | None]]
) -> Iterator[Difference]:
    try:
        document = read_evidence(submission.log, profile)
    except UNREADABLE as error:
        yield Difference(submission.public_id, "", Part.LOG, "a readable log", str(error))
        return
    version = document["reader"]["version"]
    found = _runs_by_ordinal(document)
    for run, verdict in pairs:
        judged_by = verdict.reader_version if verdict else run.reading.reader_version if run.reading else ""
        for part, expected, now in _compare(run, verdict, found.get(run.ordinal), version, profile):
            yield Difference(submission.public_id, run.public_id, part, expected, now, judged_by != version)


def _runs_by_ordinal(document: Document) -> dict[int, Document]:
    """Return the runs as results/ingest numbers them: those of YCSB after those of ACT."""
    act_runs = document["runs"]
    numbered = {read["ordinal"]: read for read in act_runs}
    return numbered | {len(act_runs) + read["ordinal"]: read for read in document.get("ycsb_runs", [])}


def _compare(
    run: Run, verdict: Verdict | None, read: Document | None, version: str, profile: Profile
) -> Iterator[tuple[Part, str, str]]:
    if read is None:
        yield Part.RUN, f"run {run.ordinal} of the log", "none"
        return
    if run.workload == YCSB:
        stored, new = run.ycsb, ycsb_row(run, read)
        if (stored.validity, stored.reasons) != (new.validity, new.reasons):
            yield Part.VALIDITY, stored.validity, new.validity
    else:
        rows = read_rows(run, read, version, profile)
        if _judged(verdict) != _judged(rows.verdict):
            yield Part.VERDICT, _shown(verdict), _shown(rows.verdict)
        if _shares(run.shares.all()) != _shares(rows.shares):
            yield Part.SHARES, "those of the row", "others"
    findings = sorted(finding.rule_id for finding in run.findings.all())
    found_findings = sorted(finding.rule_id for finding in findings_of(run, read))
    if findings != found_findings:
        yield Part.FINDINGS, ", ".join(findings) or "none", ", ".join(found_findings) or "none"


def _judged(verdict: Verdict | None) -> tuple[Any, ...]:
    return () if verdict is None else (verdict.outcome, verdict.headline, verdict.document)


def _shown(verdict: Verdict | None) -> str:
    return "none" if verdict is None else str(verdict)


def _shares(shares: Any) -> list[tuple[Any, ...]]:
    columns = ("statistic", "threshold_us", "slice_number", "printed", "over_count", "ops_count")
    return sorted((tuple(getattr(share, name) for name in columns) for share in shares), key=str)
