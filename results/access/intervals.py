"""The intervals of a run: minutes from the database, seconds read again from the stored log."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager

from results import locks
from results.access.mirrors import is_mirrored, missing_log_message
from results.access.series import Packed
from results.evidence.names import companion_paths
from results.evidence.store import EvidenceDamagedError, open_evidence, path_of
from results.ingest.act import MEMBER_CHARS
from results.models import Run, Series
from results.reader import process as reader_process
from results.reader.process import Document

SLOTS = 2  # readings for onlookers at one time: each takes a processor for as long as the log is long


class NoIntervalsError(Exception):
    """The run has no intervals of that length; the sentence says why."""


class WithheldError(Exception):
    """The log is sequestered: nothing is read out of it any more."""


class BusyError(Exception):
    """All slots for reading again are taken; ask again."""


def minutes_of(run: Run) -> Packed:
    """Return the intervals that are kept with a run. Raises NoIntervalsError and WithheldError."""
    refuse_withheld(run)
    series = Series.objects.filter(run=run).first()
    if series is None and is_mirrored(run):
        raise NoIntervalsError(missing_log_message(run))
    if series is None:
        raise NoIntervalsError(
            f"Run {run.public_id} has no minutes stored: its log tells none, or was read before they were."
        )
    return Packed(series.interval_s, series.start_s, series.intervals_count, series.encoding, bytes(series.packed))


def is_withheld(run: Run) -> bool:
    """Tell whether the run's log is sequestered: then its intervals are not shown either, to nobody."""
    return run.reading is not None and run.reading.evidence.sequestered


def refuse_withheld(run: Run) -> None:
    """Raise WithheldError where the log is sequestered: interval by interval, what was read of it is the log again."""
    if is_withheld(run):
        raise WithheldError(f"The log of run {run.public_id} is withheld for legal reasons. Its bytes are kept.")


def seconds_of(run: Run, from_s: int, to_s: int) -> Packed:
    """Read the intervals of a window again, each one second long, or as long as the log's report interval.

    Raises NoIntervalsError, WithheldError, BusyError, EvidenceDamagedError, and what drivetest.read_intervals() raises.
    """
    if run.reading is None:
        raise NoIntervalsError(missing_log_message(run))
    refuse_withheld(run)
    with reading_slot():
        document = _read_again(run, from_s, to_s)
    told = next((each.get("series") for each in document["runs"] if _is_of(run, each)), None)
    if told is None:
        raise NoIntervalsError(f"Run {run.public_id} has no intervals: its log holds no report.")
    content = base64.b64decode(told["data"], validate=True)
    return Packed(told["interval_s"], told["start_s"], told["count"], told["encoding"], content)


def _read_again(run: Run, from_s: int, to_s: int) -> Document:
    assert run.reading is not None  # noqa: S101 - for the type checker
    evidence = run.reading.evidence
    open_evidence(evidence).close()  # raises where the bytes are not there
    document = reader_process.read_intervals(
        path_of(evidence.sha256), from_s, to_s, companion_paths(evidence.submission)
    )
    if document["input"]["sha256"] not in {None, evidence.sha256}:
        raise EvidenceDamagedError(f"{evidence}: its bytes have another hash now; restore a backup")
    return document


def _is_of(run: Run, told: Document) -> bool:
    """Tell a run by its place in the log: a newer reader may count the runs of a file otherwise."""
    place = ((told.get("member") or "")[:MEMBER_CHARS], told["first_line"])
    return place == (run.member, run.facts["first_line"])


@contextmanager
def reading_slot() -> Iterator[None]:
    """Hold one of the slots in which stored files are read for onlookers. Raises BusyError where none is free."""
    for slot in range(SLOTS):
        with locks.try_lock(locks.SECONDS, slot) as is_ours:
            if is_ours:
                yield
                return
    raise BusyError
