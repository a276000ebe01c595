"""The scrub: every stored file is hashed again, pass after pass, within a limit of bandwidth.

A pass goes through the hashes in their order and stores how far it is, so that another process goes on after a restart.
"""

import hashlib
import math
import os
import time
from contextlib import suppress
from datetime import timedelta
from typing import BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.dispatch import Signal
from django.utils import timezone

from results import locks
from results.evidence.base import CHUNK_BYTES, EvidenceDamagedError, Stored, StoreUnavailableError
from results.evidence.store import addresses, configured_store, open_address
from results.models import Evidence, ObjectionFile, Scrub, ScrubFault

# Sent with `scrub` and `faults_count` in the transaction that marks new faults as announced.
faults_found = Signal()

PREFIXES = [f"{number:02x}" for number in range(256)]  # the hashes of one are in memory at a time
SAVED_EVERY_S = 5  # a process that is killed repeats as much
SLICE_S = 10  # of a periodic task; the file that it began is read to its end
Kind = ScrubFault.Kind


def is_due() -> bool:
    """Return whether a pass is under way, or the last one began a period ago."""
    last = Scrub.objects.first()
    period = timedelta(days=settings.SCRUB_PERIOD_DAYS)
    return last is None or last.ended_at is None or last.started_at <= timezone.now() - period


def scrub_slice() -> bool:
    """Check files for SLICE_S if a pass is due. Return False if none is, or if another process checks files.

    Raises StoreUnavailableError.
    """
    if not is_due():
        return False
    with locks.try_lock(locks.SCRUB, 0) as is_ours:
        if is_ours:
            advance(current_pass(), settings.SCRUB_BYTES_PER_S, SLICE_S)
    return is_ours


def current_pass(*, afresh: bool = False) -> Scrub:
    """Return the pass that is under way, or a new one. `afresh` begins with the first file again."""
    scrub = Scrub.objects.filter(ended_at=None).first()
    if scrub is None:
        return Scrub.objects.create(started_at=timezone.now())
    if afresh:
        scrub.started_at, scrub.cursor = timezone.now(), ""
        scrub.files_count = scrub.bytes_count = scrub.unreferenced_count = 0
        scrub.save()
    return scrub


def advance(scrub: Scrub, bytes_per_s: int, seconds: float = math.inf) -> None:
    """Check files from the cursor on until the pass or the time ends. The caller holds the lock of the scrub.

    Raises StoreUnavailableError: a store that does not answer has no faults, and the pass goes on later.
    """
    pace, ends = _Pace(bytes_per_s), time.monotonic() + seconds
    try:
        for prefix in [each for each in PREFIXES if each >= scrub.cursor[:2]]:
            if not _advance_within(scrub, prefix, pace, ends):
                return
        scrub.cursor, scrub.ended_at = "", timezone.now()
    finally:
        scrub.save()
        announce_faults(scrub)


def announce_faults(scrub: Scrub) -> None:
    """Notify of the open faults that were not announced yet, once."""
    with transaction.atomic():
        new = ScrubFault.objects.filter(closed_at=None, announced_at=None)
        faults_count = new.update(announced_at=timezone.now())
        if faults_count:
            faults_found.send(sender=ScrubFault, scrub=scrub, faults_count=faults_count)


def open_faults() -> QuerySet[ScrubFault]:
    """Return the faults that the newest check of their file has found."""
    return ScrubFault.objects.filter(closed_at=None)


class _Pace:
    """The limit of bandwidth of a process."""

    def __init__(self, bytes_per_s: int) -> None:
        self.bytes_per_s, self.started, self.bytes_count = bytes_per_s, time.monotonic(), 0

    def wait(self, bytes_count: int) -> None:
        """Wait until the bytes that were read so far are within the limit."""
        self.bytes_count += bytes_count
        ahead_s = self.bytes_count / self.bytes_per_s - (time.monotonic() - self.started)
        if ahead_s > 0:
            time.sleep(ahead_s)


def _advance_within(scrub: Scrub, prefix: str, pace: _Pace, ends: float) -> bool:
    """Check the files of a prefix, and return whether all are checked. At its start, count what no row refers to."""
    sizes = _referenced(prefix)
    if len(scrub.cursor) <= len(prefix):
        scrub.unreferenced_count += sum(stored.sha256 not in sizes for stored in addresses(prefix))
        scrub.cursor = f"{prefix}/"  # before all of its hashes
    saved = time.monotonic()
    for sha256 in sorted(each for each in sizes if each > scrub.cursor):
        if time.monotonic() >= ends:
            return False
        stored = Stored(sha256, sizes[sha256])
        _record(stored, _check(stored, pace))
        scrub.files_count += 1
        scrub.bytes_count += stored.size_bytes
        scrub.cursor = sha256
        if time.monotonic() - saved > SAVED_EVERY_S:
            scrub.save()
            saved = time.monotonic()
    following = PREFIXES.index(prefix) + 1
    scrub.cursor = PREFIXES[following] if following < len(PREFIXES) else "g"
    return True


def _referenced(prefix: str) -> dict[str, int]:
    """Return the sizes of the files to which rows refer, by hash."""
    return {
        sha256: size_bytes
        for model in (Evidence, ObjectionFile)
        for sha256, size_bytes in model._default_manager.filter(sha256__startswith=prefix).values_list(
            "sha256", "size_bytes"
        )
    }


def _check(stored: Stored, pace: _Pace) -> tuple[Kind, int | None] | None:
    """Return the fault of a file and the length that it has; None for the bytes as they were received."""
    try:
        with open_address(stored) as file:
            _drop_from_cache(file)
            digest = hashlib.sha256()
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                pace.wait(len(chunk))
            _drop_from_cache(file)
    except EvidenceDamagedError as error:
        return _fault_of_length(stored, error.found_bytes)
    except StoreUnavailableError:
        raise
    except OSError:
        return Kind.UNREADABLE, None
    return None if digest.hexdigest() == stored.sha256 else (Kind.ALTERED, stored.size_bytes)


def _fault_of_length(stored: Stored, found_bytes: int | None) -> tuple[Kind, int | None]:
    if found_bytes is None:
        configured_store().check()  # in a directory that is not mounted, every file would be missing
        return Kind.MISSING, None
    return (Kind.SHORTER if found_bytes < stored.size_bytes else Kind.ALTERED), found_bytes


def _drop_from_cache(file: BinaryIO) -> None:
    """Let the kernel forget a file, so that its bytes come from the disk, and leave the cache to the readers."""
    with suppress(OSError):  # a stream of object storage is no file of this machine
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _record(stored: Stored, fault: tuple[Kind, int | None] | None) -> None:
    now, current = timezone.now(), ScrubFault.objects.filter(sha256=stored.sha256, closed_at=None)
    if fault is None:
        current.update(closed_at=now)
        return
    kind, found_bytes = fault
    ScrubFault.objects.update_or_create(
        sha256=stored.sha256,
        closed_at=None,
        defaults={"kind": kind, "found_bytes": found_bytes, "last_seen_at": now},
        create_defaults={
            "kind": kind,
            "found_bytes": found_bytes,
            "last_seen_at": now,
            "first_seen_at": now,
            "size_bytes": stored.size_bytes,
        },
    )
