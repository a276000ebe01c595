"""Uploads into the staging area: pieces in order, never more reported as received than what is safe on disk.

Each piece is one short transaction that holds the lock of the file's row. Of two requests that send the same piece, one
writes it, and the other learns the new offset. A client that stops in the middle holds no lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone

from results.evidence import staging
from results.evidence.store import ByteStream
from results.ingest.queue import notify_draft_reader
from results.intake.submissions import COMPANIONS_MAX, clean_filename
from results.models import Draft, DraftFile, DraftReading, Organisation
from results.models.evidence import SLICE_LENGTH_DEFAULT_S

KEPT_FROM_START = timedelta(days=7)
PIECE_BYTES = 4 * 1024**2  # one transaction and one fsync each; a request holds one in memory
Role = DraftFile.Role


@dataclass(frozen=True)
class ArrivedFile:
    """A file of a form."""

    stream: ByteStream
    filename: str
    size_bytes: int
    role: DraftFile.Role


@dataclass(frozen=True)
class DraftUsage:
    """The files and announced bytes of the open drafts of an organisation, and when the first draft expires."""

    files_count: int
    total_bytes: int
    first_ends_at: datetime | None


class UploadRefusedError(Exception):
    """The register does not accept the upload; the message has the reason and the remedy."""


class FileTooLargeError(UploadRefusedError):
    """More bytes than one file may have."""


class QuotaReachedError(UploadRefusedError):
    """The organisation has too many files or bytes in its drafts."""


class DraftGoneError(Exception):
    """The draft was submitted or deleted, or has expired."""


class OffsetError(Exception):
    """The piece does not begin where the file ends; `received_bytes` is where it ends."""

    def __init__(self, received_bytes: int) -> None:
        self.received_bytes = received_bytes
        super().__init__(f"expected a piece at offset {received_bytes}")


def open_drafts(organisation: Organisation | None = None) -> QuerySet[Draft]:
    """Return the drafts that are neither submitted nor expired, newest first."""
    drafts = Draft.objects.filter(submission=None, expires_at__gt=timezone.now()).order_by("-pk")
    return drafts if organisation is None else drafts.filter(organisation=organisation)


def create_draft(
    organisation: Organisation, user: AbstractBaseUser, slice_length_s: int = SLICE_LENGTH_DEFAULT_S
) -> Draft:
    """Create a draft without files."""
    expires_at = timezone.now() + KEPT_FROM_START
    return Draft.objects.create(
        organisation=organisation, created_by_id=user.pk, slice_length_s=slice_length_s, expires_at=expires_at
    )


def add_file(draft: Draft, filename: str, size_bytes: int, role: Role | None = None) -> DraftFile:
    """Announce a file. Without a role, the first file of a draft is its log, and the others belong to it.

    Raises UploadRefusedError beyond the limits of a file, of a draft and of the organisation.
    """
    if size_bytes > settings.UPLOAD_MAX_BYTES:
        raise FileTooLargeError(
            f"The file has {size_bytes:,} bytes. A file may have at most {settings.UPLOAD_MAX_BYTES:,} bytes. Compress "
            "it with gzip, xz or zstd, and send it again."
        )
    with transaction.atomic():
        # The lock makes the uploads of an organisation count together; it does not block rows that refer to it.
        Organisation.objects.select_for_update(no_key=True).get(pk=draft.organisation_id)
        locked = _lock(draft)
        roles = list(locked.files.values_list("role", flat=True))
        role = role or (Role.COMPANION if Role.LOG in roles else Role.LOG)
        refuse_role(roles, role, size_bytes)
        _refuse_quota(locked.organisation_id, size_bytes)
        return locked.files.create(filename=clean_filename(filename), size_bytes=size_bytes, role=role)


def refuse_role(roles: Sequence[str], role: Role, size_bytes: int) -> None:
    """Raise UploadRefusedError if a draft with files of these roles takes no file of another role."""
    if role == Role.LOG and Role.LOG in roles:
        raise UploadRefusedError("The draft has a log already. Send each log in a draft of its own, or all in one tar.")
    if role == Role.LOG and size_bytes == 0:
        raise UploadRefusedError(
            "The log is empty. Expected the standard output of act_storage or drivetest. A load that crashed before "
            "its first report leaves an empty file: run it again."
        )
    if roles.count(Role.COMPANION) >= COMPANIONS_MAX and role == Role.COMPANION:
        raise UploadRefusedError(
            f"The draft has {COMPANIONS_MAX} companion files, which is the maximum. Put log and files into one tar."
        )


def draft_usage(organisation_id: int) -> DraftUsage:
    """Return what the open drafts of an organisation use of their quotas."""
    drafts = open_drafts().filter(organisation=organisation_id)
    files = DraftFile.objects.filter(draft__in=drafts)
    used = files.aggregate(files=Count("pk"), total_bytes=Sum("size_bytes", default=0))
    ends_at = files.aggregate(first=Min("draft__expires_at"))["first"]
    return DraftUsage(used["files"], used["total_bytes"], ends_at)


def _refuse_quota(organisation_id: int, size_bytes: int) -> None:
    used = draft_usage(organisation_id)
    remedy = "Submit or delete a draft of your organisation, and send the file again."
    if used.files_count >= settings.DRAFT_FILES_MAX:
        raise QuotaReachedError(
            f"The drafts of your organisation have {used.files_count:,} files. They may have at most "
            f"{settings.DRAFT_FILES_MAX:,}. {remedy}"
        )
    if used.total_bytes + size_bytes > settings.DRAFT_BYTES_MAX:
        raise QuotaReachedError(
            f"The drafts of your organisation have {used.total_bytes:,} bytes, and the file has {size_bytes:,}. "
            f"Together they may have at most {settings.DRAFT_BYTES_MAX:,} bytes. {remedy}"
        )


def append_piece(key: str, offset: int, piece: bytes) -> int:
    """Write the next piece of a file, and return the new offset. The bytes are on disk before the offset is stored.

    Raises OffsetError, DraftGoneError, UploadRefusedError for more bytes than announced, StoreFullError, and
    StagedBytesLostError.
    """
    with transaction.atomic():
        file = DraftFile.objects.select_for_update(of=("self",)).filter(key=key).first()
        if file is None:
            raise DraftGoneError(key)
        if file.received_bytes != offset:
            raise OffsetError(file.received_bytes)
        after = offset + len(piece)
        if after > file.size_bytes:
            raise UploadRefusedError(f"Expected {file.size_bytes:,} bytes as announced, got at least {after:,}.")
        if piece:
            staging.append(key, offset, piece)
            DraftFile.objects.filter(pk=file.pk).update(received_bytes=after)
    return after


def store_files(draft: Draft, files: Sequence[ArrivedFile]) -> None:
    """Store files that have arrived as a whole, the log first, and queue their reading. Raises as add_file().

    The rows come first: a quota refuses all files before any byte is copied.
    """
    with transaction.atomic():
        rows = [add_file(draft, file.filename, file.size_bytes, file.role) for file in files]
    for row, file in zip(rows, files, strict=True):
        offset = 0
        while piece := file.stream.read(PIECE_BYTES):
            offset = append_piece(row.key, offset, piece)
    complete(draft)


def complete(draft: Draft) -> None:
    """Hash the files that have arrived, and queue the reading once all announced files are there.

    A file of a draft that arrives later queues it again.
    """
    with transaction.atomic():
        locked = _lock(draft)
        files = list(locked.files.all())
        arrived = [file for file in files if file.is_complete and not file.sha256]
        for file in arrived:
            file.sha256 = staging.seal(file.key, file.size_bytes).sha256
            file.save(update_fields=["sha256"])
        is_ready = all(file.sha256 for file in files) and any(file.role == Role.LOG for file in files)
        if is_ready and (arrived or not DraftReading.objects.filter(draft=locked).exists()):
            queue_reading(locked)


def queue_reading(draft: Draft) -> None:
    """Queue the reading of a draft, again if it has one. An attempt that is under way then writes nothing."""
    afresh = DraftReading.AFRESH | {"document": None, "result_key": ""}
    reading, _ = DraftReading.objects.update_or_create(draft=draft, defaults=afresh)
    notify_draft_reader(reading.pk)


def _lock(draft: Draft) -> Draft:
    """Lock an open draft until the transaction ends. Raises DraftGoneError."""
    locked = open_drafts().select_for_update(of=("self",)).filter(pk=draft.pk).first()
    if locked is None:
        raise DraftGoneError(draft.public_id)
    return locked
