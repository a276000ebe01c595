"""Submission of results: a log with its side file, an archive of logs, or a record goes through the intake.

With them go the drive states before and after the dispatch, and the last format or trim that follows from them.
"""

import shlex
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from decimal import Decimal
from typing import IO, Any, BinaryIO, TypeGuard

from results.ingest.rows import LabRecord, RecordedDrive, RecordedState
from results.intake.submissions import SubmissionMetadata, accept_submission, store_record
from results.models import Evidence, Submission
from runners.errors import DeviceUnknownError, FileMissingError
from runners.hosts.drive_keys import keys_of
from runners.hosts.machine import check_size, scratch_dir
from runners.hosts.protocol import Identity, LabHost
from runners.models import Dispatch, DriveState
from runners.models.postgres import storable
from runners.models.states import State

LOG_FILE, SIDE_FILE = "log", "side.jsonl"
PIECE_BYTES = 1024 * 1024


def submit_log(dispatch: Dispatch, host: LabHost) -> Submission:
    """Submit the log of a single run with its side file; without one if the program ended before it wrote any."""
    run = dispatch.public_id
    with host.fetch(run, LOG_FILE) as log, fetch_optional(host, run, SIDE_FILE) as side_file:
        return _submit(dispatch, log, f"{dispatch.public_id}.log", side_file)


def submit_archive(dispatch: Dispatch, members: Iterable[tuple[str, IO[bytes]]]) -> Submission:
    """Submit many files as one archive. The same files give the same bytes, so a repetition is recognised."""
    with build_archive(dispatch, members) as archive:
        return _submit(dispatch, archive, f"{dispatch.public_id}.tar", None)


@contextmanager
def build_archive(dispatch: Dispatch, members: Iterable[tuple[str, IO[bytes]]]) -> Iterator[IO[bytes]]:
    """Yield many files as one archive. Raise TooLargeError beyond the intake's limit."""
    with tempfile.TemporaryFile(dir=scratch_dir()) as archive:
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for name, stream in members:
                _add(tar, name, stream)
                check_size(f"{dispatch.public_id}.tar", archive.tell())
        archive.seek(0)
        yield archive


def store_evidence(dispatch: Dispatch, stream: IO[bytes], file: str, kind: Evidence.Kind) -> Evidence:
    """Store a file of a dispatch that is not a log as evidence; it is read for no run."""
    subject, name = ("dispatch", dispatch.public_id), f"{dispatch.public_id}-{file}"
    return store_record(dispatch.organisation, stream, name, kind, subject, dispatch.ordered_by)


def fetch_optional(host: LabHost, run: str, file: str) -> AbstractContextManager[BinaryIO | None]:
    """Open a file of a run directory; the context has None if the run has no such file."""
    try:
        return host.fetch(run, file)
    except FileMissingError:
        return nullcontext()


def command_text(argv: Iterable[str], exit_status: int | None) -> bytes:
    """Return a command line as the text that accompanies a log."""
    ended = "not seen" if exit_status is None else exit_status
    return f"{shlex.join(argv)}\n# exit status: {ended}\n".encode()


def _add(tar: tarfile.TarFile, name: str, stream: IO[bytes]) -> None:
    """Add a file under its name only: its time and owner on the host are not part of the measurement."""
    # A tar header has the length, which is not known before the host's file is read.
    with tempfile.TemporaryFile(dir=scratch_dir()) as whole:
        while piece := stream.read(PIECE_BYTES):
            whole.write(piece)
            check_size(name, whole.tell())
        as_file = tarfile.TarInfo(name)
        as_file.size = whole.tell()
        whole.seek(0)
        tar.addfile(as_file, whole)


def _submit(dispatch: Dispatch, log: BinaryIO | IO[bytes], name: str, side: BinaryIO | None) -> Submission:
    origin, actor = Submission.Origin.DISPATCH, dispatch.ordered_by
    facts = submission_facts(dispatch)
    return accept_submission(dispatch.organisation, log, name, facts, origin, actor, side_file=side).submission


def submission_facts(dispatch: Dispatch) -> SubmissionMetadata:
    """Return the product facts of the order and the lab record of drive and host, for the intake."""
    stated = dict(dispatch.facts)
    if stated.get("over_provisioning_pct") is not None:
        stated["over_provisioning_pct"] = Decimal(stated["over_provisioning_pct"])
    return SubmissionMetadata(
        **stated,
        region=dispatch.device.host.region,
        zone=dispatch.device.host.zone,
        slice_length_s=dispatch.slice_length_s,
        is_virtual=not dispatch.device.may_certify,
        lab_record=lab_record(dispatch).as_json(),
    )


PREP = "prep"  # the recipe that prepares
Moment = DriveState.Moment


def record_drive_state(dispatch: Dispatch, host: LabHost, moment: Moment) -> None:
    """Identify the drive and store its state. Also store that it cannot be identified any more. Repeatable."""
    if dispatch.drive_states.filter(moment=moment).exists():
        return
    try:
        store_drive_state(dispatch, moment, host.identify(dispatch.device.path))
    except DeviceUnknownError as error:
        _create(dispatch, moment, {"reason": storable(str(error))})


def store_drive_state(dispatch: Dispatch, moment: Moment, identity: Identity) -> None:
    """Store a drive's state from its identity; the first of a moment stays. Another drive's state is not stored."""
    if dispatch.drive_key not in keys_of(identity.drive_key):
        reason = f"{identity.path}: expected drive {dispatch.drive_key}, found {identity.drive_key}"
        _create(dispatch, moment, {"reason": storable(reason)})
        return
    document = identity.document
    discards = document.get("discards") or {}
    health = document.get("health") or {}
    columns = {
        "firmware": document.get("firmware"),
        "size_bytes": identity.size_bytes,
        "over_provisioning_pct": _over_provisioning_pct(dispatch, identity.size_bytes),
        "temperature_c": document.get("temperature_c"),
        "wear_pct": document.get("wear_pct"),
        "throttled_s": health.get("throttled_s"),
        "boot_id": discards.get("boot_id"),
        "discards_count": discards.get("requests_count"),
        "document": dict(document),
    }
    _create(dispatch, moment, columns)


def _create(dispatch: Dispatch, moment: Moment, columns: dict[str, Any]) -> None:
    defaults = {"drive_key": dispatch.drive_key} | columns
    DriveState.objects.get_or_create(dispatch=dispatch, moment=moment, defaults=defaults)


def _over_provisioning_pct(dispatch: Dispatch, size_bytes: int) -> Decimal | None:
    """Return the order's over-provisioning if the drive still has its size of that time: no drive reports it."""
    stated = dispatch.facts.get("over_provisioning_pct")
    return None if stated is None or size_bytes != dispatch.device.size_bytes else Decimal(stated)


def lab_record(dispatch: Dispatch) -> LabRecord:
    """Return what the lab recorded about the run and its drive, for the intake."""
    prepared = last_preparation_attempt(dispatch)
    finished = prepared if prepared and prepared.preparation_id else None
    states = {state.moment: state for state in dispatch.drive_states.all()}
    before, after = (_recorded(dispatch, finished, states.get(moment)) for moment in (Moment.BEFORE, Moment.AFTER))
    drive = RecordedDrive(dispatch.drive_key, finished.preparation_id if finished else None, before, after)
    return LabRecord(begun_at(dispatch), (drive,))


def begun_at(dispatch: Dispatch) -> datetime | None:
    """Return when the register began to start it, by its own clock: before that its program did nothing."""
    return dispatch.steps.filter(to_state=State.PREPARING).values_list("at", flat=True).first()


def last_preparation_attempt(dispatch: Dispatch) -> Dispatch | None:
    """Return the last attempt to prepare the drive before a dispatch, also one that failed: it wrote over the drive.

    One whose start was never answered may have written too; it counts unless the host has shut it out.
    """
    earlier = Dispatch.objects.filter(drive_key=dispatch.drive_key, generation__lt=dispatch.generation)
    begun = earlier.filter(recipe=PREP, steps__to_state=State.PREPARING, is_never_started=False)
    return begun.order_by("-generation").first()


def _recorded(dispatch: Dispatch, prepared: Dispatch | None, state: DriveState | None) -> RecordedState:
    if state is None:
        return RecordedState()
    reset_at, never = _last_reset(dispatch, prepared, state) if prepared else (None, None)
    return RecordedState(state.firmware, state.over_provisioning_pct, reset_at, never)


def _last_reset(dispatch: Dispatch, prepared: Dispatch, state: DriveState) -> tuple[datetime | None, bool | None]:
    """Return when the drive was last formatted or trimmed since its preparation began, or that it never was.

    The register's own formats are known. Others show in the kernel's count of discards, from the state before the
    preparation to this one. A reboot in between resets the count; then nothing is known.
    """
    ours = Dispatch.objects.filter(
        drive_key=dispatch.drive_key, resets_drive_at__isnull=False, generation__gt=prepared.generation,
        generation__lte=dispatch.generation,
    )  # fmt: skip
    reset = ours.order_by("-resets_drive_at").first()
    if reset is not None:
        return reset.resets_drive_at, None
    earlier = prepared.drive_states.filter(moment=Moment.BEFORE).first()
    if not _is_comparable(earlier, state):
        return None, None
    return (None, True) if earlier.discards_count == state.discards_count else (state.at, None)


def _is_comparable(earlier: DriveState | None, later: DriveState) -> TypeGuard[DriveState]:
    """Return whether both states counted discards since the same boot of the host."""
    if earlier is None or earlier.discards_count is None or later.discards_count is None:
        return False
    return later.boot_id is not None and earlier.boot_id == later.boot_id
