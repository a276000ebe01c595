"""Which rows keep within limits: one comparison everywhere, on shares that are kept rounded up to nine places."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from results.models import Statistic, Verdict, Visibility
from results.models.categories import SYSTEMS
from webapp.register.drives.store.column_store import BILLIONTHS
from webapp.register.drives.store.encoded_columns import Rows, Shelf, rows_of
from webapp.register.limits.reader_limits import NAMED_AT_MOST, Changed, Named, YourLimits, changed_sentence
from webapp.register.tables.columns import share_code


def over_flags(shares: Iterable[float], limit_pct: Decimal) -> list[bool]:
    """Return for each share, in billionths of a percent, whether it is over a limit."""
    limit = int(limit_pct * BILLIONTHS)
    return [share > limit for share in shares]


class Judge:
    """The rows of a shelf held against limits and against the profile's own, as sets."""

    def __init__(self, shelf: Shelf, limits: YourLimits) -> None:
        self.shelf = shelf
        outcome = shelf.columns["outcome"]

        def having(*words: str) -> Rows:
            return outcome.having([word in words for word in outcome.words] + [False])

        every = (1 << shelf.count) - 1
        profile = limits.profile_by_threshold
        self.over_profile: Rows = shelf.remember(("over", *profile.items()), lambda: _over(shelf, profile))
        self.over: Rows = _over(shelf, limits.by_threshold) if limits.is_own else self.over_profile
        failed, untold = having(Verdict.Outcome.FAIL), having(Verdict.Outcome.UNDECIDED, Verdict.Outcome.VOID)
        self.passes_profile = every & ~(self.over_profile | failed | untold)
        # As your_limits.keeps.
        undecided = shelf.columns["decided_by_limits"].of("no")
        self.passes = every & ~(self.over | undecided) if limits.is_own else self.passes_profile


def _over(shelf: Shelf, limits: Mapping[int, Decimal]) -> Rows:
    """Return the rows with a share over one of the limits."""
    rows = 0
    for threshold_us, limit_pct in limits.items():
        coded = shelf.columns[share_code(threshold_us)]
        rows |= coded.having([*over_flags(coded.values, limit_pct), False])
    return rows


def standing(shelf: Shelf) -> Rows:
    """Return the rows that are neither withdrawn nor superseded."""
    visibility = shelf.columns["visibility"]
    return visibility.having([word == Visibility.PUBLIC for word in visibility.words] + [False])


def on_drives(shelf: Shelf) -> Rows:
    """Return the rows but those on devices that are no drives by their names, which show nothing of a drive."""
    return (1 << shelf.count) - 1 & ~shelf.columns["is_on_no_drive"].of("yes")


def limits_sentence(shelf: Shelf, rows: Rows, judge: Judge, limits: YourLimits) -> str:
    """Say how many of these rows pass under the limits, and what changed by them."""
    stand = rows & standing(shelf)
    changed = Changed(
        count=stand.bit_count(),
        passing=(stand & judge.passes).bit_count(),
        lost=_named(shelf, stand & judge.passes_profile & ~judge.passes),
        won=_named(shelf, stand & judge.passes & ~judge.passes_profile),
    )
    return changed_sentence(limits, changed)


def _named(shelf: Shelf, rows: Rows) -> Named:
    return Named(rows.bit_count(), [name_of(shelf, row) for row in rows_of(rows)[:NAMED_AT_MOST]])


def ranked_tps(shelf: Shelf, row: int) -> float:
    """Return the speed that a row is ranked by, as columns.ranked_tps does for a run; 0 where none is known."""
    columns = shelf.columns
    tps, devices = columns["tps"].value(row) or 0, columns["device_count"].word(row)
    if columns["category"].word(row) in SYSTEMS:
        return tps
    if not devices and columns["statistic"].word(row) != Statistic.STEADY_AS_PUBLISHED:
        return 0
    return tps / int(devices or 1)


def name_of(shelf: Shelf, row: int) -> str:
    """Return what a row is called: maker, model, capacity or storage."""
    parts = [shelf.columns[code].word(row) for code in ("vendor", "model", "capacity_gb")]
    storage = shelf.columns["storage"].word(row)
    return " ".join(part for part in parts if part) + (f" ({storage})" if storage else "")
