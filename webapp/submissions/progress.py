"""The progress of a submission from upload to publication: its steps, its reading attempts and its full history."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from results.access.public_history import EMBARGO_CHANGED
from results.lifecycle.submission_states import DECLINED_KIND, UNFINISHED, StatedSubmission, SubmissionState
from results.models import Event, Reading
from webapp.register.runs.lifecycle import HistoryLine, line_of
from webapp.templatetags import units


@dataclass(frozen=True)
class Step:
    """One step: `place` is "done", "now" or "" for what is to come."""

    title: str
    place: str
    note: str = ""
    at: datetime | None = None


def steps_of(submission: StatedSubmission, reading: Reading | None, events: list[Event]) -> list[Step]:
    """Return the steps in their order; a decision is shown with its reason."""
    state = SubmissionState(submission.state)
    return [
        Step("Stored", "done", f"{submission.log.filename}, hash recorded", submission.received_at),
        _reading_step(state, reading),
        _identity_step(state, submission),
        _review_step(state, events),
        _publication_step(state, submission, events),
    ]


def _reading_step(state: SubmissionState, reading: Reading | None) -> Step:
    if reading is None or state == SubmissionState.RECEIVED:
        return Step("Waiting for the reader", "now")
    if state == SubmissionState.READING:
        return Step("Being read", "now", f"attempt {reading.attempts}", reading.started_at)
    if state == SubmissionState.FAILED:
        return Step("Could not be read", "now", "the file is stored", reading.finished_at)
    return Step("Read", "done", f"drivetest {reading.reader_version}", reading.finished_at)


def _identity_step(state: SubmissionState, submission: StatedSubmission) -> Step:
    if submission.product is not None:
        return Step("Identified", "done", str(submission.product))
    return Step("Identity", "now" if state == SubmissionState.AWAITING_IDENTITY else "", _unidentified(state))


def _unidentified(state: SubmissionState) -> str:
    """Return the reason for a missing product: the register searches for it only after the reading."""
    if state == SubmissionState.FAILED:
        return "no product: the log could not be read"
    if state in UNFINISHED:
        return "the product is identified after the log is read"
    return "no product of the register has exactly the stated identity; a reviewer assigns one"


def product_sentence(submission: StatedSubmission) -> str:
    """Return the text that is shown for a submission without a product."""
    state = SubmissionState(submission.state)
    return _unidentified(state) if state == SubmissionState.FAILED or state in UNFINISHED else "awaiting identity"


def _review_step(state: SubmissionState, events: list[Event]) -> Step:
    if state == SubmissionState.DECLINED:
        declined = next(event for event in reversed(events) if event.kind == DECLINED_KIND)
        return Step("Declined", "now", declined.reason, declined.at)
    if state in {SubmissionState.EMBARGOED, SubmissionState.PUBLISHED, SubmissionState.WITHDRAWN}:
        return Step("Reviewed", "done")
    return Step("Review by staff of the register", "now" if state == SubmissionState.IN_REVIEW else "")


def _publication_step(state: SubmissionState, submission: StatedSubmission, events: list[Event]) -> Step:
    until = submission.embargo_until
    if state == SubmissionState.EMBARGOED:
        return Step("Waits for the end of its embargo", "now", "it becomes public then, at a permanent address", until)
    if state == SubmissionState.WITHDRAWN:
        withdrawn = next(event for event in reversed(events) if event.kind == "run-withdrawn")
        return Step("Withdrawn", "now", withdrawn.reason, withdrawn.at)
    if state == SubmissionState.PUBLISHED:
        published = next((event for event in events if event.kind == "run-published"), None)
        return Step("Published", "done", "at a permanent address", published.at if published else None)
    if submission.is_published:
        return Step("Published at a permanent address", "", "other runs of this submission are public already")
    return Step("Published at a permanent address", "", "not before" if until else "", until)


def attempts_sentences(reading: Reading | None) -> list[str]:
    """Return sentences about unfinished attempts; empty without any."""
    if reading is None or not reading.error or "limits" not in reading.error:
        return []
    attempts = reading.counted_attempts
    met = Counter((each["limit"], each["allowed"]) for each in reading.error["limits"])
    each_met = [
        f"{_attempts(times, attempts)} reached the limit of {limit}, {allowed}"
        for (limit, allowed), times in met.items()
    ]
    tried = "once" if attempts == 1 else f"{attempts} times"
    sentences = [f"The register tried {tried} to read the log; {'; '.join(each_met) or 'no attempt reached a limit'}."]
    if reading.state == Reading.State.PENDING and reading.next_attempt_at is not None:
        sentences.append(f"The next attempt to read the log is at {units.moment(reading.next_attempt_at)}.")
    return sentences


def _attempts(times: int, attempts: int) -> str:
    if times >= attempts:
        return "the attempt" if times == 1 else "each attempt"
    return f"{times} of them"


NO_EMBARGO = "none"


def entries_of(events: Iterable[Event]) -> list[dict[str, object]]:
    """Return events, fetched with their actors, as their owners read them, with the moments of every embargo."""
    return [
        {"line": _line(event), "run_id": event.subject_id if event.subject_type == "run" else ""} for event in events
    ]


def _line(event: Event) -> HistoryLine:
    line = line_of(event)
    if event.actor is not None and not getattr(event.actor, "is_staff", False):
        line |= {"by": "its organisation"}
    if event.kind != EMBARGO_CHANGED:
        return line
    moments = (event.details[name] for name in ("before", "after"))
    before, after = (units.moment(datetime.fromisoformat(each)) if each else NO_EMBARGO for each in moments)
    return line | {"details": f"{before} -> {after}"}
