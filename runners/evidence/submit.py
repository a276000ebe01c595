"""Submission of results: a log with its side file, an archive of logs, or a record goes through the intake."""

import shlex
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from decimal import Decimal
from typing import IO, BinaryIO

from results.intake.submissions import SubmissionMetadata, accept_submission, store_record
from results.models import Evidence, Submission
from runners.errors import FileMissingError
from runners.evidence import drive_states
from runners.hosts.machine import check_size, scratch_dir
from runners.hosts.protocol import LabHost
from runners.models import Dispatch

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
        lab_record=drive_states.lab_record(dispatch).as_json(),
    )
