"""The intake of all logs: from the form, the API and the dispatches.

The bytes are safe before anything reads them; evidence, submission, reading and event are one transaction; the worker
is notified after the commit.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.errors import ReviewRefusedError
from results.evidence.staging import StagedBytes, adopt
from results.evidence.store import ByteStream, Stored, store
from results.history import record_event
from results.ingest.queue import notify_reader, retry_reading
from results.lifecycle.embargo import move_end, refuse_moment
from results.logs.context import bind_until_the_end
from results.models import Companion, Event, Evidence, Organisation, Reading, Submission
from results.models.evidence import SLICE_LENGTH_DEFAULT_S

FILENAME_CHARS = 255
SIDE_FILENAME = "side.jsonl"
COMPANIONS_MAX = 32  # YCSB writes an HDR file for each operation: a dozen; more belong into an archive


class TooManyCompanionsError(Exception):
    """Too many companion files for one log; the sender can put them into one archive with the log."""


@dataclass(frozen=True)
class SubmissionMetadata:
    """The statements of a sender about the product and the reading; capacity in GB of 10^9 bytes.

    `embargo_until` is a request; results/lifecycle/embargo.py decides about it once the bytes are known.
    `is_virtual` is no statement of a sender: only the lab knows that it ran on a device that is no drive. Nor is
    `lab_record`, what the lab recorded of the drives (results/ingest/rows.py), or `demo_run_id`, the fixed id of an
    example run (results/demonstration).
    """

    vendor: str = ""
    model: str = ""
    part_number: str = ""
    capacity_gb: int | None = None
    firmware: str = ""
    category: str = ""
    over_provisioning_pct: Decimal | None = None
    region: str = ""
    zone: str = ""
    slice_length_s: int = SLICE_LENGTH_DEFAULT_S
    notes: str = ""
    embargo_until: datetime | None = None
    is_virtual: bool = False
    demo_run_id: str = ""
    lab_record: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CompanionUpload:
    """A companion file of a log: stderr, command line, configuration, an HDR file."""

    stream: ByteStream | StagedBytes
    filename: str


@dataclass(frozen=True)
class Receipt:
    """The submission of the received bytes, and whether the register received them for the first time.

    `is_read_again`: the failed reading of known bytes is queued again. `left_out` names the companions that came too
    late: the reader read the log without them. `is_embargo_changed`: known bytes came with another end of their
    embargo, and it replaced the earlier one.
    """

    submission: Submission
    is_new: bool
    is_read_again: bool = False
    left_out: tuple[str, ...] = ()
    is_embargo_changed: bool = False


def accept_submission(  # noqa: PLR0913, PLR0917 - what the three senders know, and no more
    organisation: Organisation,
    stream: ByteStream | StagedBytes,
    filename: str,
    facts: SubmissionMetadata,
    origin: str,
    actor: AbstractBaseUser | None,
    side_file: ByteStream | None = None,
    companions: Sequence[CompanionUpload] = (),
    key: str = "",
) -> Receipt:
    """Store a log and its companion files, and return whether the bytes are new.

    Streams are copied into the store. The staged bytes of a draft are linked into it.

    The submission is the earlier one if this organisation sent the same bytes before. Raises StoreError if the bytes
    cannot be stored; nothing is recorded then.

    The reading of known bytes is queued again if it failed, and the slice length or the companion files are new. It
    then uses the facts of this request. A stated embargo also changes that of known bytes. It does not if the sender's
    `key` already names them: such a request is a repetition, and the embargo may have changed since.

    Raises TooManyCompanionsError before anything is stored. Raises MomentError if the end of the embargo is not valid,
    and ReviewRefusedError if a run of the submission has been public; no row is written then.
    """
    if len(companions) > COMPANIONS_MAX:
        raise TooManyCompanionsError(f"expected at most {COMPANIONS_MAX} companion files, got {len(companions)}")
    stored = _keep(stream)
    stored_side_file = store(side_file) if side_file is not None else None
    stored_companions = [(_keep(companion.stream), clean_filename(companion.filename)) for companion in companions]
    with transaction.atomic():
        log = _record_evidence(organisation, stored, filename)
        stated = asdict(facts) | {"organisation": organisation, "submitted_by": actor, "origin": origin}
        if stored_side_file is not None:
            stated["side_file"] = _record_evidence(organisation, stored_side_file, SIDE_FILENAME)
        submission, is_new = Submission.objects.get_or_create(log=log, defaults=stated)
        if is_new:
            refuse_moment(facts.embargo_until)
            _add_companions(submission, stored_companions)
            _queue_reading(submission)
            bind_until_the_end(submission=submission.public_id)
            return Receipt(submission, is_new)
        if key and submission.keys.filter(key=key).exists():
            facts = replace(facts, embargo_until=None)
        return _receive_again(submission, facts, stored_companions, actor)


def _keep(source: ByteStream | StagedBytes) -> Stored:
    return adopt(source) if isinstance(source, StagedBytes) else store(source)


def store_record(
    organisation: Organisation,
    stream: ByteStream,
    filename: str,
    kind: Evidence.Kind,
    subject: tuple[str, str],
    actor: AbstractBaseUser | None,
) -> Evidence:
    """Store a record that is not a log, for example of a preparation, as evidence with an event.

    The same bytes again are the same evidence. Raises StoreError if the bytes cannot be stored.
    """
    stored = store(stream)
    with transaction.atomic():
        evidence = _record_evidence(organisation, stored, filename, kind)
        details = {"kind": kind, "sha256": stored.sha256, "bytes": stored.size_bytes}
        events = Event.objects.filter(kind="evidence-kept", subject_type=subject[0], subject_id=subject[1])
        if not events.filter(details=details).exists():
            record_event(actor, "evidence-kept", subject, "", details)
    return evidence


def _receive_again(
    submission: Submission,
    facts: SubmissionMetadata,
    companions: list[tuple[Stored, str]],
    actor: AbstractBaseUser | None,
) -> Receipt:
    """Store what is new about known bytes. A log that was read keeps the companions of its reading."""
    # The reading before the submission: the lock order of results/models/row_operations.py.
    reading = Reading.objects.select_for_update().filter(evidence=submission.log_id).order_by("-created_at").first()
    is_moved = _take_embargo(submission, facts.embargo_until, actor)
    known = set(submission.companions.values_list("evidence__sha256", flat=True))
    missing = [(stored, name) for stored, name in companions if stored.sha256 not in known]
    if missing and reading is not None and reading.state in {Reading.State.READING, Reading.State.DONE}:
        left_out = tuple(name for _, name in missing)
        return Receipt(submission, is_new=False, left_out=left_out, is_embargo_changed=is_moved)
    added = _add_companions(submission, missing)
    is_read_again = _read_again_otherwise(submission, facts, added, actor)
    return Receipt(submission, is_new=False, is_read_again=is_read_again, is_embargo_changed=is_moved)


def _take_embargo(submission: Submission, until: datetime | None, actor: AbstractBaseUser | None) -> bool:
    """Apply an embargo that was sent with known bytes, and return whether it changed.

    A missing embargo ends none: a script that sends again may have omitted it. The current one may be
    stated again, also when it has passed.
    """
    if until is None or until == submission.embargo_until:
        return False
    refuse_moment(until)
    try:
        is_moved = move_end(submission, until, actor)
    except ReviewRefusedError as refusal:
        raise ReviewRefusedError(f"These bytes are submission {submission.public_id} already. {refusal}") from refusal
    submission.embargo_until = until
    return is_moved


def _add_companions(submission: Submission, companions: list[tuple[Stored, str]]) -> list[str]:
    """Record each file as evidence of its own and bind it to the log; return the names."""
    for stored, name in companions:
        evidence = _record_evidence(submission.organisation, stored, name)
        Companion.objects.get_or_create(submission=submission, evidence=evidence, filename=name)
    return [name for _, name in companions]


def _record_evidence(
    organisation: Organisation, stored: Stored, filename: str, kind: Evidence.Kind = Evidence.Kind.RUN
) -> Evidence:
    """Return the organisation's row for these bytes; of two that arrive at once the database lets one create it."""
    evidence, _ = Evidence.objects.get_or_create(
        organisation=organisation,
        sha256=stored.sha256,
        defaults={"size_bytes": stored.size_bytes, "filename": clean_filename(filename), "kind": kind},
    )
    return evidence


def clean_filename(filename: str) -> str:
    """Return the last part of a sender's path without control characters: it is shown, never opened."""
    name = filename.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in name if character.isprintable())[-FILENAME_CHARS:] or "log"


def _read_again_otherwise(
    submission: Submission, facts: SubmissionMetadata, added: list[str], actor: AbstractBaseUser | None
) -> bool:
    """Queue a failed reading again where slices or companions are others; the event keeps the facts before."""
    if facts.slice_length_s == submission.slice_length_s and not added:
        return False
    stated = asdict(facts).items()
    changes = {name: [getattr(submission, name), value] for name, value in stated if value != getattr(submission, name)}
    changes.pop("embargo_until", None)  # it has an event of its own (_take_embargo)
    changed_values = {name: [str(before), str(after)] for name, (before, after) in changes.items()}
    if not retry_reading(submission, actor, {"facts": changed_values, "companions": added}):
        return False
    for name in changes:
        setattr(submission, name, getattr(facts, name))
    submission.save(update_fields=list(changes))
    return True


def _queue_reading(submission: Submission) -> None:
    """Insert the pending reading; which reader's version reads it is known when it is taken up."""
    reading = Reading.objects.create(evidence=submission.log)
    details = {
        "origin": submission.origin,
        "sha256": submission.log.sha256,
        "bytes": submission.log.size_bytes,
        "companions": [companion.evidence.sha256 for companion in submission.companions.select_related("evidence")],
    }
    subject = ("submission", submission.public_id)
    record_event(submission.submitted_by, "submission-received", subject, "", details)
    notify_reader(reading.pk)
