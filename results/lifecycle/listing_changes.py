"""Versions of the public listing of runs, and the runs that changed since an earlier version.

Triggers of the database add a row for each changed run (results/models/listing_change.py). Rows are folded into one
from time to time, so that reading all of them stays cheap.
"""

from dataclasses import dataclass
from hashlib import md5
from uuid import UUID

from django.db import connection, transaction

from results.models import ListingChange

FOLDED_FROM = 500  # rows; reading as many takes less than a millisecond
FOLDED_MAX = 5_000  # ids that a row names; a process reads the states of all runs after more changes than that

VERSION = "SELECT coalesce(md5(string_agg(id::text, '' ORDER BY id)), '') FROM results_listingchange"


@dataclass(frozen=True)
class ListingState:
    """The changes that were visible at one moment: for each id the changed run, and the ids that it replaced."""

    changes: dict[UUID, tuple[int | None, frozenset[UUID]]]

    @property
    def version(self) -> str:
        """Return a name of the state, equal to that of `current_version`."""
        text = "".join(sorted(map(str, self.changes)))
        return md5(text.encode(), usedforsecurity=False).hexdigest() if text else ""

    def changed_since(self, known: frozenset[UUID]) -> set[int] | None:
        """Return the runs that changed since the state with some ids; None if any run may have changed.

        Any run may have changed if an id is gone that was not folded: this process read it in its own transaction,
        which was rolled back. The same holds
        if an id was folded that the earlier state had not.
        """
        new = [change for change_id, change in self.changes.items() if change_id not in known]
        folded = frozenset[UUID]().union(*(replaced for _, replaced in new))
        is_bulk = any(run_id is None and not replaced for run_id, replaced in new)
        if is_bulk or not folded <= known or not known - self.changes.keys() <= folded:
            return None
        return {run_id for run_id, _ in new if run_id is not None}


def current_version() -> str:
    """Return the name of the present state, in one query of a small table."""
    with connection.cursor() as cursor:
        cursor.execute(VERSION)
        (version,) = cursor.fetchone()
    return str(version)


def current_state() -> ListingState:
    """Return the present state."""
    rows = ListingChange.objects.values_list("pk", "run_id", "folded")
    return ListingState({pk: (run_id, frozenset(folded)) for pk, run_id, folded in rows})


def fold_changes() -> int:
    """Replace the rows by one, if there are many; return their number."""
    with transaction.atomic():
        rows = ListingChange.objects.select_for_update(skip_locked=True).order_by("pk")
        ids = list(rows.values_list("pk", flat=True))
        if len(ids) < FOLDED_FROM:
            return 0
        ListingChange.objects.filter(pk__in=ids).delete()
        ListingChange.objects.create(folded=ids if len(ids) <= FOLDED_MAX else [])
    return len(ids)
