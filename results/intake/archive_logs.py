"""Archives that are submitted log by log: each log becomes a submission of its own, with the drive that it ran on.

An archive with logs of several drives cannot be one submission, which has one product. The register then copies each
log and the files that belong to it out of the archive, and submits them as if they had been sent separately. Their
bytes are those that the reader hashed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results import locks
from results.errors import ReviewRefusedError
from results.evidence.staging import staged_file, temporary_directory
from results.ingest.draft_readings import log_of
from results.ingest.same_logs import LOG
from results.intake.drafts import end_draft, lock_draft, reading_of
from results.intake.submissions import (
    COMPANIONS_MAX,
    CompanionUpload,
    Receipt,
    SubmissionMetadata,
    accept_submission,
)
from results.models import Draft, Submission
from results.models.ids import new_file_key
from results.reader.archive_members import UnpackError, unpack_members
from results.reader.process import Document, ReaderKilledError

FEWEST = 2
BUSY = "Another archive of your organisation is being submitted log by log. Try again in a minute."
TOTAL_BYTES_MAX = 1024**3  # of the copied files: a request copies them while its sender waits
ENDINGS = re.compile(r"(\.(log|stdout))?(\.(gz|zst|xz))?$", re.IGNORECASE)


@dataclass(frozen=True)
class ArchiveLog:
    """A log of an archive that has runs, and the files of the archive that belong to it, as the reader reports them.

    `name` is that of the member. A tar can have several files of one name: the name of each further log has a number.
    """

    name: str
    member: Document
    files: tuple[Document, ...]
    document: Document  # the reading, with the runs of this log only

    @property
    def all_files(self) -> list[Document]:
        """Return the log and its files."""
        return [self.member, *self.files]


def logs_of_archive(document: Document | None) -> list[ArchiveLog]:
    """Return the logs of an archive if it has at least two with runs; else nothing. The same log twice is one."""
    members = document["input"].get("members", []) if document else []
    logs = [member for member in members if member["role"] == LOG]
    stems = {log["name"]: ENDINGS.sub("", log["name"]) for log in logs}
    others = [member for member in members if member["role"] != LOG]
    owners = [_owner(other["name"], stems) for other in others]
    found: dict[tuple[str, str], ArchiveLog] = {}
    for log, name, ordinal in zip(logs, _distinct_names(logs), _ordinals(logs), strict=True):
        same = sum(each["name"] == log["name"] for each in logs)
        runs = {part: _runs_of(document or {}, part, log["name"], ordinal, same) for part in ("runs", "ycsb_runs")}
        if any(runs.values()):
            own = [other for other, owner in zip(others, owners, strict=True) if owner == log["name"]]
            files = _turn(own, ordinal, same)
            key = (log["name"], log["sha256"])
            found.setdefault(key, ArchiveLog(name, log, files[:COMPANIONS_MAX], (document or {}) | runs))
    return list(found.values()) if len(found) >= FEWEST else []


def _ordinals(members: Sequence[Document]) -> list[int]:
    """Return for each member how many members before it have its name."""
    return [sum(each["name"] == member["name"] for each in members[:n]) for n, member in enumerate(members)]


def _distinct_names(logs: Sequence[Document]) -> list[str]:
    """Return a name for each log that no other one has: that of the file, with a number if an earlier file has it."""
    found: list[str] = []
    taken = {log["name"] for log in logs}
    for log, ordinal in zip(logs, _ordinals(logs), strict=True):
        numbered = (f"{log['name']} ({number})" for number in count(ordinal + 1))
        found.append(next(name for name in numbered if name not in taken) if ordinal else log["name"])
        taken.add(found[-1])
    return found


def _runs_of(document: Document, part: str, name: str, ordinal: int, logs_count: int) -> list[Document]:
    """Return the runs of a log; of one of several logs of one name, those that begin at the start of a file again.

    The reader names the file of a run, and lists the runs in the order of the files. If not every log of a name has
    runs, each of them could be that of any.
    """
    runs = [run for run in document.get(part, []) if run.get("member") == name]
    by_log: list[list[Document]] = []
    for run in runs:
        if not by_log or run["first_line"] <= by_log[-1][-1]["first_line"]:
            by_log.append([])
        by_log[-1].append(run)
    return by_log[ordinal] if len(by_log) == logs_count > 1 else runs


def _turn(files: Sequence[Document], ordinal: int, logs_count: int) -> tuple[Document, ...]:
    """Return the files of one log: of files of one name as many as logs of one name, each belongs to one log."""
    counts = Counter(file["name"] for file in files)
    return tuple(
        file
        for file, turn in zip(files, _ordinals(files), strict=True)
        if counts[file["name"]] != logs_count or turn == ordinal
    )


def _owner(name: str, stems: Mapping[str, str]) -> str | None:
    """Return the log to which a file belongs: that with the longest stem with which its name begins, as the reader."""
    matching = [log for log, stem in stems.items() if name.startswith(stem)]
    return max(matching, key=lambda log: len(stems[log]), default=None)


def submit_logs(
    draft: Draft, stated: Mapping[str, SubmissionMetadata], actor: AbstractBaseUser, origin: str
) -> list[Receipt]:
    """Submit each log of an archive with the facts about its drive, by the name of the log. All are submitted, or none.

    A repeated request returns the submissions of the first one. The logs are read again, each on its own. Raises
    ReviewRefusedError if the facts name other logs than the archive has, or if the files cannot be copied, and what
    submit_draft() raises.
    """
    if submitted := submissions_of(draft):
        return [Receipt(submission, is_new=False) for submission in submitted]
    logs = logs_of_archive(reading_of(draft).document)
    _refuse_other_logs(logs, stated)
    with _turn_of(draft.organisation_id), temporary_directory(new_file_key()) as directory:
        _copy_out(draft, logs, directory)
        with transaction.atomic():
            locked = lock_draft(draft)
            if submitted := submissions_of(locked):
                return [Receipt(submission, is_new=False) for submission in submitted]
            reading = reading_of(locked)
            if {log.name: log.member for log in logs_of_archive(reading.document)} != {
                log.name: log.member for log in logs
            }:
                raise ReviewRefusedError(
                    "The files of the draft changed meanwhile. Check the result, and submit again."
                )
            receipts = [_accept(locked, log, stated[log.name], directory, actor, origin) for log in logs]
            end_draft(locked, reading, receipts[0].submission)
            locked.other_submissions.set([receipt.submission for receipt in receipts[1:]])
    return receipts


@contextmanager
def _turn_of(organisation_id: int) -> Iterator[None]:
    """Let one archive of an organisation be copied at a time: each occupies a thread of the server, and the disk."""
    with locks.try_lock(locks.UNPACKING, organisation_id) as is_ours:
        if not is_ours:
            raise ReviewRefusedError(BUSY, "archive-busy")
        yield


def submissions_of(draft: Draft) -> list[Submission]:
    """Return the submissions that a draft became, in the order of its logs; none before."""
    if draft.submission is None:
        return []
    return [draft.submission, *draft.other_submissions.exclude(pk=draft.submission.pk).order_by("pk")]


def _refuse_other_logs(logs: Sequence[ArchiveLog], stated: Mapping[str, Any]) -> None:
    if not logs or {log.name for log in logs} != set(stated):
        expected = ", ".join(log.name for log in logs) or "none: the draft is no archive of several logs"
        got = ", ".join(sorted(stated)) or "none"
        raise ReviewRefusedError(f"Expected the drive of each log: {expected}. Got: {got}.", "other-logs")


def _copy_out(draft: Draft, logs: Sequence[ArchiveLog], directory: Path) -> None:
    wanted = {(file["size_bytes"], file["sha256"]) for log in logs for file in log.all_files}
    total_bytes = sum(size for size, _ in wanted)
    if total_bytes > TOTAL_BYTES_MAX:
        raise ReviewRefusedError(
            f"The logs and their files have {total_bytes:,} bytes; an archive can be submitted log by log up to "
            f"{TOTAL_BYTES_MAX:,}. Send the logs of each drive separately.",
            "archive-too-large",
        )
    try:
        with staged_file(log_of(draft.files.all()).key) as archive:
            unpack_members(archive, wanted, directory)
    except (UnpackError, ReaderKilledError) as error:
        raise ReviewRefusedError(
            "The register could not copy the logs out of the archive. Send the logs of each drive separately.",
            "archive-not-copied",
        ) from error


def _accept(
    draft: Draft, log: ArchiveLog, facts: SubmissionMetadata, directory: Path, actor: AbstractBaseUser, origin: str
) -> Receipt:
    in_slices = replace(facts, slice_length_s=draft.slice_length_s)
    with ExitStack() as stack:
        opened = {
            file["sha256"]: stack.enter_context((directory / file["sha256"]).open("rb")) for file in log.all_files
        }
        companions = [CompanionUpload(opened[file["sha256"]], file["name"]) for file in log.files]
        stream = opened[log.member["sha256"]]
        return accept_submission(
            draft.organisation, stream, log.member["name"], in_slices, origin, actor, companions=companions
        )
