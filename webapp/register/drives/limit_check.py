"""Sets of rows within limits. Shares are stored rounded up to nine places, so one comparison serves everywhere."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import reduce
from operator import or_

from results.models import Verdict
from webapp.register.drives.store.encoded_columns import BILLIONTHS, ColumnStore, Rows, rows_of
from webapp.register.drives.store.ranking import current_rows
from webapp.register.limits.reader_limits import NAMED_AT_MOST, Named, YourLimits, changed_sentence
from webapp.register.tables.columns import share_code
from webapp.register.tables.sentences import devices_words


def over_flags(shares: Iterable[float], limit_pct: Decimal) -> list[bool]:
    """Return for each share, in billionths of a percent, whether it is over a limit."""
    limit = int(limit_pct * BILLIONTHS)
    return [share > limit for share in shares]


class LimitCheck:
    """The rows of a store that pass a reader's limits and those that pass the profile, as sets."""

    def __init__(self, store: ColumnStore, limits: YourLimits) -> None:
        outcome = store.columns["outcome"]
        profile = limits.profile_by_threshold
        self.over_profile: Rows = store.cached(("over", *profile.items()), lambda: _over(store, profile))
        self.over: Rows = _over(store, limits.by_threshold) if limits.is_own else self.over_profile
        not_passed = [outcome.of(word) for word in Verdict.Outcome if word != Verdict.Outcome.PASS]
        self.passes_profile = store.all_rows & ~reduce(or_, not_passed, self.over_profile)
        # The same rule as reader_limits.passes_limits.
        not_by_limits = store.columns["decided_by_limits"].of("no")
        self.passes = store.all_rows & ~(self.over | not_by_limits) if limits.is_own else self.passes_profile


def _over(store: ColumnStore, limits: Mapping[int, Decimal]) -> Rows:
    """Return the rows with a share over one of the limits."""
    rows = 0
    for threshold_us, limit_pct in limits.items():
        encoded = store.columns[share_code(threshold_us)]
        rows |= encoded.stated & ~encoded.up_to(int(limit_pct * BILLIONTHS))
    return rows


def limits_sentence(store: ColumnStore, rows: Rows, limit_check: LimitCheck, limits: YourLimits) -> str:
    """Return how many of these rows pass the limits, and which results change."""
    current = rows & current_rows(store)
    lost = _named(store, current & limit_check.passes_profile & ~limit_check.passes)
    won = _named(store, current & limit_check.passes & ~limit_check.passes_profile)
    return changed_sentence(limits, current.bit_count(), (current & limit_check.passes).bit_count(), lost, won)


def _named(store: ColumnStore, rows: Rows) -> Named:
    return Named(rows.bit_count(), [name_of(store, row) for row in rows_of(rows)[:NAMED_AT_MOST]])


def together(store: ColumnStore, row: int) -> str:
    """Return the note on the number of devices that a row's speed covers."""
    columns = store.columns
    return devices_words(columns["storage"].word(row), int(columns["device_count"].word(row) or 1))


def name_of(store: ColumnStore, row: int) -> str:
    """Return the name of a row: maker, model, capacity and storage."""
    parts = [store.columns[code].word(row) for code in ("vendor", "model", "capacity_gb")]
    storage = store.columns["storage"].word(row)
    return " ".join(part for part in parts if part) + (f" ({storage})" if storage else "")
