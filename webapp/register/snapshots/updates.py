"""Updates of the snapshot: pages that no longer match the register are purged at once and rendered again."""

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from results.lifecycle.embargo import disclose_due
from results.locks import file_lock
from results.models import Certificate, Event, Run
from webapp.register.snapshots import store
from webapp.register.snapshots.rendering import NotPublicError, render
from webapp.register.snapshots.stamps import current_stamps, slugs_of_model
from webapp.register.snapshots.store import Entry, Snapshot, Writer
from webapp.register.syndication.public_addresses import EVERYTHING, PublicAddress, page_group, public_addresses

logger = logging.getLogger(__name__)

PURGE_INTERVAL_S = 10  # while a version is being written, the current one is compared with the register this often


@dataclass
class UpdateResult:
    """Counts of an update: pages rendered, pages reused, and pages left out because they are not public."""

    rendered: int = 0
    reused: int = 0
    left_out: int = 0
    is_new: bool = False


def update_snapshot() -> UpdateResult | None:
    """Compare the snapshot with the register, and write a new version if they differ.

    None if another process is doing the same.
    """
    root: Path = settings.SNAPSHOT_DIR
    root.mkdir(mode=0o750, parents=True, exist_ok=True)
    with file_lock(root / store.LOCK, waits=False) as is_ours:
        if not is_ours:
            return None
        store.remove_unfinished(root)
        stamps, current = purge_outdated(root), store.current(root)
        reusable = _reusable(current, stamps) if current else {}
        if current is not None and len(reusable) == len(current.entries):
            return UpdateResult(reused=len(reusable))
        return _write(root, stamps, current, reusable)


def purge_outdated(root: Path) -> dict[str, str]:
    """Purge pages that no longer match the register, record the time of the comparison, and return the current stamps.

    Embargoes that have ended are disclosed first, so that their runs become public within a minute.
    """
    disclose_due()
    stamps, current = current_stamps(), store.current(root)
    if current is not None:
        store.purge(current.directory, _changed_groups(current.entries, stamps))
        store.record_comparison(root)
    return stamps


def _changed_groups(entries: dict[str, Entry], stamps: dict[str, str]) -> set[str]:
    return {entry.group for entry in entries.values() if stamps.get(entry.group) != entry.stamp}


def _reusable(current: Snapshot, stamps: dict[str, str]) -> dict[str, Entry]:
    """Return the pages that match the register and are not too old."""
    oldest, purged = time.time() - settings.SNAPSHOT_AGE_MAX_S, store.purged_of(current.directory)
    return {
        path: entry
        for path, entry in current.entries.items()
        if stamps.get(entry.group) == entry.stamp and entry.group not in purged and entry.rendered_at >= oldest
    }


def _write(root: Path, stamps: dict[str, str], current: Snapshot | None, reusable: dict[str, Entry]) -> UpdateResult:
    result, writer, purged_at = UpdateResult(is_new=True), Writer(root), time.monotonic()
    try:
        for address in public_addresses():
            entry, stamp = reusable.get(address.path), stamps.get(address.group)
            if entry and current and writer.reuse(address.path, entry, current):
                result.reused += 1
            elif stamp is not None:  # if it is public only since the stamps were read, the next update includes it
                _render_page(address, stamp, result, writer)
            if time.monotonic() - purged_at > PURGE_INTERVAL_S:
                purge_outdated(root)
                purged_at = time.monotonic()
        # Changes during the rendering are purged before the switch, and those at the moment of the switch after it.
        store.purge(writer.directory, _changed_groups(writer.entries, current_stamps()))
        writer.publish()
        purge_outdated(root)
    finally:
        if (root / store.CURRENT).resolve() != writer.directory.resolve():
            writer.discard()
    return result


def _render_page(address: PublicAddress, stamp: str, result: UpdateResult, writer: Writer) -> None:
    try:
        headers, forms = render(address.path)
    except NotPublicError as error:
        logger.warning("snapshot: %s is left out: %s", address.path, error)
        result.left_out += 1
        return
    plain, by_gzip, by_zstd = map(len, forms)
    writer.add(address.path, Entry("", address.group, stamp, time.time(), (plain, by_gzip, by_zstd), headers), forms)
    result.rendered += 1


@receiver(post_save, sender=Event, dispatch_uid="purge-snapshot")
def purge_after(instance: Event, **_: Any) -> None:
    """Purge the pages of an event's subject when its transaction commits. The periodic update does the rest."""
    if instance.subject_type in {"run", "certificate"}:
        transaction.on_commit(lambda: _purge_subject(instance.subject_type, instance.subject_id), robust=True)
    elif instance.subject_type == "product":
        slugs = {instance.subject_id, *instance.details.get("slugs", ())}
        transaction.on_commit(lambda: _purge_products(slugs), robust=True)
    elif instance.subject_type == "objection":  # not public yet, but the list counts it
        transaction.on_commit(lambda: _purge_products(set()), robust=True)


def _purge_subject(subject_type: str, public_id: str) -> None:
    model: type[Run | Certificate] = Run if subject_type == "run" else Certificate
    slugs = model.objects.filter(public_id=public_id).values_list("product__slug", flat=True)
    _purge_products({slug for slug in slugs if slug})


def _purge_products(slugs: set[str]) -> None:
    """Purge the pages of products, also of former slugs, and of the other capacities of their models."""
    directory = store.current_directory(settings.SNAPSHOT_DIR)
    if directory is not None:
        purged = slugs | slugs_of_model(slugs)
        store.purge(directory, [EVERYTHING, *purged, *map(page_group, purged)])
