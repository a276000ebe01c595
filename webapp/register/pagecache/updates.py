"""Keeps the snapshot like the register: marks what is out of date at once, and makes it anew."""

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from results.lifecycle.embargo import disclose_due
from results.models import Certificate, Event, Run
from webapp.register.pagecache import store
from webapp.register.pagecache.rendering import NotPublicError, render
from webapp.register.pagecache.stamps import current_stamps, slugs_of_model
from webapp.register.pagecache.store import Entry, Snapshot, Writer
from webapp.register.syndication.public_addresses import EVERYTHING, PublicAddress, public_addresses, read_subjects

logger = logging.getLogger(__name__)

GLANCE_S = 10  # while a version is made, the one that stands is still held against the register so often


@dataclass
class Made:
    """What a look did: pages made anew, taken over, and left out because they are not for everyone."""

    rendered: int = 0
    kept: int = 0
    left_out: int = 0
    is_new: bool = False


def look() -> Made | None:
    """Compare the snapshot with the register, and write another version where they differ; None if somebody does."""
    root: Path = settings.SNAPSHOT_DIR
    root.mkdir(mode=0o750, parents=True, exist_ok=True)
    with _only_one(root) as is_ours:
        if not is_ours:
            return None
        store.remove_unfinished(root)
        stamps = glance(root)
        return _write_if_stale(root, stamps)


def glance(root: Path) -> dict[str, str]:
    """Purge what the register no longer says so, and note that it was looked at; return the stamps of now.

    What an embargo that has ended kept back is public from here on: a look is never a minute after another.
    """
    disclose_due()
    stamps, standing = current_stamps(), store.current(root)
    if standing is not None:
        store.purge(standing.directory, _changed(standing.entries, stamps))
        store.note_look(root)
    return stamps


def _changed(entries: dict[str, Entry], stamps: dict[str, str]) -> set[str]:
    return {entry.group for entry in entries.values() if stamps.get(entry.group) != entry.stamp}


def _write_if_stale(root: Path, stamps: dict[str, str]) -> Made:
    standing = store.current(root)
    before = _usable(standing, stamps) if standing else {}
    if standing is not None and len(before) == len(standing.entries):
        return Made(kept=len(before))
    return _write(root, stamps, standing, before)


def _usable(standing: Snapshot, stamps: dict[str, str]) -> dict[str, Entry]:
    """Return the pages that say what the register says, and are not too old."""
    oldest, purged = time.time() - settings.SNAPSHOT_AGE_MAX_S, store.purged_of(standing.directory)
    return {
        path: entry
        for path, entry in standing.entries.items()
        if stamps.get(entry.group) == entry.stamp and entry.group not in purged and entry.rendered_at >= oldest
    }


def _write(root: Path, stamps: dict[str, str], standing: Snapshot | None, before: dict[str, Entry]) -> Made:
    made, writer, glanced_at = Made(is_new=True), Writer(root), time.monotonic()
    try:
        for address in public_addresses(read_subjects()):
            _take(address, made, writer, (stamps, standing, before))
            if time.monotonic() - glanced_at > GLANCE_S:
                glance(root)
                glanced_at = time.monotonic()
        # What changed while it was made is marked before anybody sees it, and once more for the moment of the switch.
        store.purge(writer.directory, _changed(writer.entries, current_stamps()))
        writer.stand()
        glance(root)
    except BaseException:
        if (root / store.CURRENT).resolve() != writer.directory.resolve():
            writer.give_up()
        raise
    return made


Sources = tuple[dict[str, str], Snapshot | None, dict[str, Entry]]


def _take(address: PublicAddress, made: Made, writer: Writer, sources: Sources) -> None:
    """Take a page over where it stands already, else ask the site for it."""
    stamps, standing, before = sources
    entry = before.get(address.path)
    if entry and standing and writer.keep(address.path, entry, standing):
        made.kept += 1
        return
    stamp = stamps.get(address.group)
    if stamp is None:  # public only since the stamps were taken: the next look has it
        return
    try:
        rendered = render(address.path)
    except NotPublicError as error:
        logger.warning("snapshot: %s is left out: %s", address.path, error)
        made.left_out += 1
        return
    new = Entry("", address.group, stamp, time.time(), rendered.sizes, rendered.headers)
    writer.add(address.path, new, rendered.forms)
    made.rendered += 1


def purge_after(event: Event) -> None:
    """Have the pages of an event's subject purged when its transaction is through; the periodic look does the rest."""
    if event.subject_type in {"run", "certificate"}:
        transaction.on_commit(lambda: _purge_subject(event.subject_type, event.subject_id), robust=True)


def _purge_subject(subject_type: str, public_id: str) -> None:
    standing = store.standing_directory(settings.SNAPSHOT_DIR)
    if standing is None:
        return
    model: type[Run | Certificate] = Run if subject_type == "run" else Certificate
    slugs = model.objects.filter(public_id=public_id).values_list("product__slug", flat=True)
    store.purge(standing, [EVERYTHING, *slugs_of_model(slug for slug in slugs if slug)])


@contextmanager
def _only_one(root: Path) -> Iterator[bool]:
    """Hold the lock of who writes; False where another process does. It ends with the process."""
    descriptor = os.open(root / store.LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o640)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


@receiver(post_save, sender=Event, dispatch_uid="purge-snapshot")
def purge_snapshot(instance: Event, **_: Any) -> None:
    """Mark the pages that the event makes out of date, once it is committed."""
    purge_after(instance)
