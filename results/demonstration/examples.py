"""Example runs: real runs of drivetest on a loop device, which show a complete result on a register without any.

Their logs take the one intake path: evidence, reading, rows. Each run has a fixed public id and the flag `is_demo`, by
which RunQuerySet.public() leaves it out of everything but its own address. Removing an example deletes nothing.
"""

import lzma
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone

from results.errors import ReviewRefusedError
from results.ingest import queue
from results.intake.submissions import SubmissionMetadata, accept_submission
from results.lifecycle.visibility import EXAMPLE_TRANSITIONS, remove_example, show_example
from results.models import Event, Organisation, Reading, Run, Submission, Visibility

LOGS = Path(__file__).parent / "logs"
SENDER_SLUG, SENDER_NAME = "drivecert-examples", "Drivecert examples"
NOTES = (
    "An example of the register. drivetest made this run on a loop device: a file that the kernel shows as a device."
)
READING_TIMEOUT_S = 180  # three attempts of at most 60 s
POLL_INTERVAL_S = 0.2


class ExampleError(Exception):
    """An example run cannot be shown; the message gives the reason."""


@dataclass(frozen=True)
class Example:
    """A stored run. Its files are `<run_id>.log.xz` and `<run_id>.jsonl.xz`."""

    run_id: str
    slice_length_s: int


MAIN = Example("demo-loop", 120)
EXAMPLES = (MAIN, Example("demo-loop-light", 60), Example("demo-loop-heavy", 60))


def was_created() -> bool:
    """Return whether the register has ever shown all example runs, or whether one was removed.

    After an interruption, some were shown or none. A removed one must not come back by itself.
    """
    ids = [example.run_id for example in EXAMPLES]
    events = Event.objects.filter(subject_type="run", subject_id__in=ids)
    if events.filter(kind=EXAMPLE_TRANSITIONS["remove-example"].event_kind).exists():
        return True
    shown = events.filter(kind=EXAMPLE_TRANSITIONS["show-example"].event_kind)
    return set(shown.values_list("subject_id", flat=True)) == set(ids)


def create() -> list[Run]:
    """Show all example runs, and return them. What is there already stays as it is.

    Raises ExampleError if a log cannot be read, and StoreError if it cannot be stored.
    """
    return [_show(_run_of(example) or _read(example)) for example in EXAMPLES]


def remove(reason: str) -> list[Run]:
    """Remove the example runs from the site, and return those that were shown. Their evidence stays."""
    runs = {run.public_id: run for run in Run.objects.examples()}
    shown = [runs[example.run_id] for example in EXAMPLES if example.run_id in runs]
    for run in shown:
        remove_example(run, reason)
    return shown


def _submit(example: Example) -> Submission:
    """Store the log and the side file of an example; the same bytes are the same submission."""
    sender, _ = Organisation.objects.get_or_create(
        slug=SENDER_SLUG,
        defaults={"name": SENDER_NAME, "kind": Organisation.Kind.REGISTER, "confirmed_at": timezone.now()},
    )
    facts = SubmissionMetadata(
        slice_length_s=example.slice_length_s, notes=NOTES, is_virtual=True, demo_run_id=example.run_id
    )
    stored = LOGS / example.run_id
    with lzma.open(f"{stored}.log.xz") as log, lzma.open(f"{stored}.jsonl.xz") as side_file:
        origin = Submission.Origin.DEMO
        return accept_submission(sender, log, f"{example.run_id}.log", facts, origin, None, side_file).submission


def stored_files(example: Example) -> dict[str, bytes]:
    """Return the log and the side file of an example, by name."""
    stored = LOGS / example.run_id
    return {
        f"{example.run_id}.{ending}": lzma.decompress(Path(f"{stored}.{ending}.xz").read_bytes())
        for ending in ("log", "jsonl")
    }


def _run_of(example: Example) -> Run | None:
    return Run.objects.filter(public_id=example.run_id, is_demo=True).first()


def _read(example: Example) -> Run:
    """Have the log of an example read, here or by a worker, and return its run."""
    submission = _submit(example)
    queue.retry_reading(submission, None, {"by": "demo"})  # nothing happens unless the reading has failed
    for reading in _attempts(submission):
        if reading.state == Reading.State.FAILED:
            raise ExampleError(f"{submission.log.filename}: expected a log that can be read, got {reading.error}")
        if reading.state == Reading.State.DONE:
            break
        if not queue.read_one(reading.pk):  # a worker reads it, or it waits after an attempt
            time.sleep(POLL_INTERVAL_S)
    if run := _run_of(example):
        return run
    raise ExampleError(
        f"{submission.log.filename}: expected a run within {READING_TIMEOUT_S} s, but the log is not read yet. "
        "Run `manage.py demo` again when the workers have less to read."
    )


def _attempts(submission: Submission) -> Iterator[Reading]:
    """Yield the newest reading of a log again and again until the time is over."""
    deadline = time.monotonic() + READING_TIMEOUT_S
    while time.monotonic() < deadline:
        yield Reading.objects.filter(evidence=submission.log_id).latest("created_at", "pk")


def _show(run: Run) -> Run:
    if run.visibility != Visibility.PUBLIC:
        with suppress(ReviewRefusedError):  # another process was faster
            show_example(run)
        run.refresh_from_db()
    return run
