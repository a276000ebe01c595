"""Re-evaluation of stored logs: changes by a new reader or rule version are reported, then applied with a reason.

Each log is read by the same confined reader as at first and written in one transaction; a dry run is the same
transaction, rolled back. A run retains its row and its public id, and gets columns, slices, shares, findings and
verdict of the newest reading; the earlier result stays readable (docs/decisions/0005).
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import InvalidOperation
from typing import Any

from django.db import DataError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from results import locks
from results.certification.certificates import refresh_certificates
from results.evidence.store import EvidenceDamagedError
from results.history import record_event, run_subject
from results.ingest.queue import read_evidence
from results.ingest.rows import record_input, record_runs
from results.lifecycle.visibility import require_new_approvals
from results.models import EarlierResult, Event, Profile, Reading, Run, Submission, Verdict, VoidReason
from results.models.row_operations import lock_log
from results.reader import process as reader_process
from results.reader.process import Document, FormatError, ReaderBrokenError, ReaderKilledError, TooManySlicesError
from results.reevaluation.run_rows import Place, document_of, hand_over, match_places, read_columns

logger = logging.getLogger(__name__)

REEVALUATED, NOT_FOUND_AGAIN = "run-judged-anew", "run-not-found-again"
UNREADABLE = (FormatError, TooManySlicesError, ReaderKilledError, ReaderBrokenError, EvidenceDamagedError, OSError,
              DataError, InvalidOperation)  # fmt: skip
# In the order of their weight; a case is named by the first that differs.
OUTCOME, HEADLINE, SHARES, FINDINGS, DETAILS = "outcome", "headline", "shares", "findings", "details"
SAME, NEW, GONE, UNREADABLE_NOW, BUSY = "same", "new run", "run not found", "unreadable now", "busy"
KINDS = (OUTCOME, HEADLINE, SHARES, FINDINGS, DETAILS, SAME, NEW, GONE, UNREADABLE_NOW, BUSY)


@dataclass(frozen=True)
class Judged:
    """Outcome and headline of a run, with the reader and the rule version that produced them."""

    outcome: str
    headline: str
    reader_version: str
    profile: str

    def __str__(self) -> str:
        return f"{self.headline or 'not judged'} [drivetest {self.reader_version}, {self.profile or 'no profile'}]"


@dataclass(frozen=True)
class Case:
    """The change of one run, or one log that cannot be read now (`run_id` empty)."""

    kind: str
    submission_id: str
    run_id: str = ""
    visibility: str = ""
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        subject = f"{self.run_id} ({self.visibility}) of {self.submission_id}" if self.run_id else self.submission_id
        return f"{self.kind}: {subject}: {self.before} -> {self.after}" if self.before else (
            f"{self.kind}: {subject}: {self.after}")  # fmt: skip


@dataclass
class Report:
    """Report of a recomputation, applied or dry: the reader, the rules, the number of examined runs and the changes."""

    reader_version: str
    profile: str
    runs_count: int
    cases: list[Case] = field(default_factory=list)
    last_submission_id: str = ""
    remaining: int = 0


@dataclass(frozen=True)
class Order:
    """Options of a recomputation: the runs, the reason, and whether to write the result."""

    reason: str
    is_dry: bool
    limit: int | None = None
    run_ids: tuple[str, ...] = ()
    after: str = ""


def recompute(order: Order) -> Report:
    """Re-evaluate every log whose runs were judged by another reader or rule version, oldest submission first.

    Raises ReaderBrokenError if the reader is missing. It can be stopped and restarted at any time without losing work.
    """
    profile, version = Profile.current(), reader_process.reader_version()
    chosen = _chosen(order)
    examined = Run.objects.filter(reading__state=Reading.State.DONE, submission__in=chosen)
    waiting = stale_submissions(profile, version).filter(pk__in=chosen)
    waiting = waiting.select_related("log", "organisation").order_by("pk")
    report = Report(version, str(profile), examined.count(), remaining=waiting.count())
    for submission in waiting[: order.limit] if order.limit else waiting:
        report.cases += _recompute_one(submission, profile, order)
        report.last_submission_id = submission.public_id
        report.remaining -= 1
    return report


def _chosen(order: Order) -> QuerySet[Submission]:
    """Return the submissions that an order is about, those of its runs where it names some."""
    submissions = Submission.objects.all()
    if order.run_ids:
        submissions = submissions.filter(pk__in=Run.objects.filter(public_id__in=order.run_ids).values("submission"))
    if order.after:
        submissions = submissions.filter(pk__gt=Submission.objects.get(public_id=order.after).pk)
    return submissions


def stale_submissions(profile: Profile, reader_version: str) -> QuerySet[Submission]:
    """Return the submissions with a run whose figures or newest verdict are not of this reader and profile."""
    newest = Verdict.objects.filter(run=OuterRef("pk")).order_by("-created_at", "-id")
    missed = Event.objects.filter(
        kind=NOT_FOUND_AGAIN, subject_type="run", subject_id=OuterRef("public_id"), details__reader=reader_version
    )
    read = Run.objects.filter(reading__state=Reading.State.DONE).annotate(
        judged_by=Subquery(newest.values("reader_version")[:1]), judged_under=Subquery(newest.values("profile")[:1])
    )
    stale = read.filter(
        ~Q(reading__reader_version=reader_version)
        | Q(judged_by__isnull=False) & (~Q(judged_by=reader_version) | ~Q(judged_under=profile.pk))
    ).exclude(Exists(missed))
    return Submission.objects.filter(pk__in=stale.values("submission"))


def _recompute_one(submission: Submission, profile: Profile, order: Order) -> list[Case]:
    with locks.try_lock(locks.RECOMPUTE, submission.pk) as is_ours:
        if not is_ours:
            return [Case(BUSY, submission.public_id, after="another recomputation is at it")]
        try:
            document = read_evidence(submission.log, profile)
            return rewrite_runs(submission, document, profile, order)
        except UNREADABLE as error:
            logger.warning("%s: not re-evaluated: %s", submission.public_id, error)
            return [Case(UNREADABLE_NOW, submission.public_id, after=f"{error}; nothing was changed")]


def rewrite_runs(submission: Submission, document: Document, profile: Profile, order: Order) -> list[Case]:
    """Replace the runs of a log with those of a new reading; a dry run reports the changes and rolls back."""
    with transaction.atomic():
        cases = list(_replace(submission, document, profile, order.reason))
        transaction.set_rollback(order.is_dry)
    return cases


def _replace(submission: Submission, document: Document, profile: Profile, reason: str) -> Iterator[Case]:
    """Write the document as new runs, hand what they hold to the runs of old, and leave only what is really new."""
    lock_log(submission)
    runs = list(Run.objects.filter(submission=submission, reading__isnull=False).order_by("pk"))
    readings = {run.pk: run.reading for run in runs}
    for run in runs:
        require_new_approvals(run, None, VoidReason.RE_EVALUATED, f"read again: {reason}")
    reading = _reading_of(submission, document)
    Run.objects.filter(pk__in=readings).update(reading=None)  # the places in the reading are the new rows' for now
    record_input(submission.log, document)
    record_runs(reading, document, profile)
    written = list(Run.objects.filter(reading=reading).order_by("ordinal"))
    pairs = match_places([_place(run) for run in runs], [_place(run) for run in written])
    for index, run in enumerate(runs):
        run.reading = readings[run.pk]
        found = written[pairs[index]] if index in pairs else None
        yield _take_over(run, found, reading, reason) if found else _leave_unchanged(run, reading, len(written) + index)
    for index, run in enumerate(written):
        if index not in pairs.values():
            yield Case(NEW, submission.public_id, run.public_id, run.visibility, after=str(_judged(run)))
    refresh_certificates([run.product_id for run in runs])


def _reading_of(submission: Submission, document: Document) -> Reading:
    done = {"state": Reading.State.DONE, "error": None, "findings": document["findings"]}
    done |= {"members": document["input"].get("members", [])}
    reading, _ = Reading.objects.update_or_create(
        evidence=submission.log,
        reader_version=document["reader"]["version"],
        defaults=done | {"finished_at": timezone.now()},
        create_defaults=done | {"started_at": timezone.now(), "finished_at": timezone.now()},
    )
    reading.evidence = submission.log
    return reading


def _place(run: Run) -> Place:
    first_line, last_line = (run.facts.get(name) or 0 for name in ("first_line", "last_line"))
    return Place(run.member, first_line, last_line, run.ordinal)


def _take_over(run: Run, found: Run, reading: Reading, reason: str) -> Case:
    """Replace the result of a run by that of the new reading, under the same id, and store the earlier result."""
    before, was, verdict = _judged(run), document_of(run), run.verdicts.first()
    after, now = _judged(found), document_of(found)
    kind = _kind(before, after, was, now)
    number = None
    if kind != SAME:
        assert run.reading is not None  # noqa: S101 - only runs that were read come here; for the type checker
        number = run.earlier_results.count() + 1
        EarlierResult.objects.create(run=run, number=number, reading=run.reading, verdict=verdict, document=was)
    hand_over(found, run)
    ordinal, columns = found.ordinal, {name: getattr(found, name) for name in read_columns()}
    found.delete()  # an empty row by now, never visible outside of this transaction
    Run.objects.filter(pk=run.pk).update(reading=reading, ordinal=ordinal, **columns)
    details = {"kind": kind, "before": str(before), "after": str(after), "earlier_result": number}
    details |= _difference(before, after, was, now)
    record_event(None, REEVALUATED, run_subject(run), reason, details)
    return _case(kind, run, str(before), str(after))


def _leave_unchanged(run: Run, reading: Reading, free_ordinal: int) -> Case:
    """Leave a run unchanged that the new reading does not find, and write one event for each reader version."""
    ordinal = free_ordinal if run.reading == reading else run.ordinal
    Run.objects.filter(pk=run.pk).update(reading=run.reading, ordinal=ordinal)
    record_event(None, NOT_FOUND_AGAIN, run_subject(run), "", {"reader": reading.reader_version})
    after = f"drivetest {reading.reader_version} finds no such run in the log; a reviewer has to look"
    return _case(GONE, run, str(_judged(run)), after)


def _case(kind: str, run: Run, before: str, after: str) -> Case:
    return Case(kind, run.submission.public_id if run.submission else "", run.public_id, run.visibility, before, after)


def _judged(run: Run) -> Judged:
    version = run.reading.reader_version if run.reading else ""
    verdict = run.verdicts.select_related("profile").first()
    if verdict is None:
        return Judged("", "", version, "")
    return Judged(verdict.outcome, verdict.headline, version, str(verdict.profile))


def _kind(before: Judged, after: Judged, was: dict[str, Any], now: dict[str, Any]) -> str:
    differing = (
        (OUTCOME, before.outcome != after.outcome),
        (HEADLINE, before.headline != after.headline),
        (SHARES, _shares(was) != _shares(now)),
        (FINDINGS, _finding_ids(was) != _finding_ids(now)),
        (DETAILS, was != now),
    )
    return next((kind for kind, differs in differing if differs), SAME)


def _difference(before: Judged, after: Judged, was: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return old and new outcome, profile, reader and validity, and the shares that differ, as the event stores them.

    Only runs of YCSB have a validity. All are results of the log itself, so they stay public if another file of the log
    is withheld.
    """
    return {
        "outcomes": [before.outcome, after.outcome],
        "profiles": [before.profile, after.profile],
        "readers": [before.reader_version, after.reader_version],
        "validities": [_validity(was), _validity(now)],
        "shares": _changed_shares(was, now),
    }


def _validity(document: dict[str, Any]) -> str:
    return "".join(row["validity"] for row in document["below"].get("ycsbrun", []))


def _changed_shares(was: dict[str, Any], now: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the printed shares that differ, by statistic and threshold; None for one that is missing."""
    old, new = ({(name, us): printed for name, us, printed in _shares(each)} for each in (was, now))
    return [
        {"statistic": name, "threshold_us": us, "before": old.get((name, us)), "after": new.get((name, us))}
        for name, us in sorted(old.keys() | new.keys())
        if old.get((name, us)) != new.get((name, us))
    ]


def _shares(document: dict[str, Any]) -> Sequence[tuple[str, int, str]]:
    rows = document["below"].get("share", [])
    return sorted((row["statistic"], row["threshold_us"], row["printed"]) for row in rows)


def _finding_ids(document: dict[str, Any]) -> list[str]:
    return sorted(row["rule_id"] for row in document["below"].get("finding", []))
