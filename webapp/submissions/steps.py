"""The way of a submission from upload to publication, as the list beside it shows."""

from dataclasses import dataclass
from datetime import datetime

from results.lifecycle.submission_states import DECLINED_KIND, UNFINISHED, StatedSubmission, SubmissionState
from results.models import Event, Reading


@dataclass(frozen=True)
class Step:
    """One step: `place` is "done", "now" or "" for what is to come."""

    title: str
    place: str
    note: str = ""
    at: datetime | None = None


def steps_of(submission: StatedSubmission, reading: Reading | None, events: list[Event]) -> list[Step]:
    """Return the steps in their order; the reason of a decision stands at its step."""
    state = SubmissionState(submission.state)
    return [
        Step("Stored", "done", f"{submission.log.filename}, hash kept", submission.received_at),
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
        return Step("Could not be read", "now", "the bytes are kept", reading.finished_at)
    return Step("Read", "done", f"drivetest {reading.reader_version}", reading.finished_at)


def _identity_step(state: SubmissionState, submission: StatedSubmission) -> Step:
    if submission.product is not None:
        return Step("Identified", "done", str(submission.product))
    return Step("Identity", "now" if state == SubmissionState.AWAITING_IDENTITY else "", _unidentified(state))


def _unidentified(state: SubmissionState) -> str:
    """Say why there is no product: it is looked for only once the log is read."""
    if state == SubmissionState.FAILED:
        return "no product is looked for: the log could not be read"
    if state in UNFINISHED:
        return "the product is looked for once the log is read"
    return "no product of the register has exactly the stated identity; a reviewer names it"


def product_sentence(submission: StatedSubmission) -> str:
    """Return what stands in the place of the product of a submission that has none."""
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
        return Step("Waits for the end of its embargo", "now", "public then, at a permanent address", until)
    if state == SubmissionState.WITHDRAWN:
        withdrawn = next(event for event in reversed(events) if event.kind == "run-withdrawn")
        return Step("Withdrawn", "now", withdrawn.reason, withdrawn.at)
    if state == SubmissionState.PUBLISHED:
        published = next((event for event in events if event.kind == "run-published"), None)
        return Step("Published", "done", "at a permanent address", published.at if published else None)
    if submission.is_published:
        return Step("Published at a permanent address", "", "others of its runs are public already")
    return Step("Published at a permanent address", "", "not before" if until else "", until)
