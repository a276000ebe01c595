"""Which rows keep within limits: one comparison everywhere, on shares that are kept rounded up to nine places."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from results.models import Statistic, Verdict, Visibility
from webapp.register.columns import share_code
from webapp.register.drives.coded import Coded, Rows, Shelf, rows_of
from webapp.register.drives.shelf import BILLIONTHS
from webapp.register.your_limits import Changed, YourLimits, changed_sentence
from webapp.templatetags import units

HOW = {
    Statistic.STEADY_AS_PUBLISHED: "as published",
    Statistic.WORST_SLICE: "in every slice of a stored log",
    Statistic.OVERALL: "over a whole run",
}


def over_flags(coded: Coded, limit_pct: Decimal) -> list[bool]:
    """Return for each word of a column of shares whether it is over a limit; the last is for what is not stated."""
    limit = int(limit_pct * BILLIONTHS)
    return [value > limit for value in coded.values] + [False]


class Judge:
    """The rows of a shelf held against limits and against the profile's own, as sets."""

    def __init__(self, shelf: Shelf, limits: YourLimits) -> None:
        self.shelf = shelf
        outcome = shelf.columns["outcome"]

        def having(*words: str) -> Rows:
            return outcome.having([word in words for word in outcome.words] + [False])

        every = (1 << shelf.count) - 1
        self.over_profile = _over(shelf, limits.profile_by_threshold)
        over = _over(shelf, limits.by_threshold) if limits.is_own else self.over_profile
        failed, untold = having(Verdict.Outcome.FAIL), having(Verdict.Outcome.UNDECIDED, Verdict.Outcome.VOID)
        self.passes_profile = every & ~(self.over_profile | failed | untold)
        # As your_limits.keeps: a log that fails passes only where it fails by shares over the profile's limits.
        self.passes = every & ~(over | untold | (failed & ~self.over_profile)) if limits.is_own else self.passes_profile


def _over(shelf: Shelf, limits: Mapping[int, Decimal]) -> Rows:
    """Return the rows with a share over one of the limits."""
    rows = 0
    for threshold_us, limit_pct in limits.items():
        coded = shelf.columns[share_code(threshold_us)]
        rows |= coded.having(over_flags(coded, limit_pct))
    return rows


def standing(shelf: Shelf) -> Rows:
    """Return the rows that are neither withdrawn nor superseded."""
    visibility = shelf.columns["visibility"]
    return visibility.having([word == Visibility.PUBLIC for word in visibility.words] + [False])


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


def _named(shelf: Shelf, rows: Rows) -> list[str]:
    return [name_of(shelf, row) for row in rows_of(rows)]


def name_of(shelf: Shelf, row: int) -> str:
    """Return what a row is called: maker, model, capacity or storage."""
    parts = [shelf.columns[code].word(row) for code in ("vendor", "model", "capacity_gb")]
    storage = shelf.columns["storage"].word(row)
    return " ".join(part for part in parts if part) + (f" ({storage})" if storage else "")


def table_sentence(shelf: Shelf, rows: Rows, judge: Judge) -> str:
    """Say what a table holds under the profile's limits: how many results, the fastest, and how many are over."""
    stand = rows & standing(shelf)
    published, over = stand & _of_statistic(shelf, Statistic.STEADY_AS_PUBLISHED), stand & judge.over_profile
    sentences = [_results(published.bit_count(), (stand & ~published).bit_count()), *_fastest(shelf, stand, judge)]
    verb = "is" if over.bit_count() == 1 else "are"
    sentences += (
        [f"{units.count(over.bit_count())} of {units.count(stand.bit_count())} {verb} over a limit."] if over else []
    )
    return " ".join(sentences)


def _of_statistic(shelf: Shelf, statistic: str) -> Rows:
    coded = shelf.columns["statistic"]
    return coded.having([word == statistic for word in coded.words] + [False])


def _results(published: int, stored: int) -> str:
    parts = [_number_of(published, "published result", "published results")] if published or not stored else []
    parts += [_number_of(stored, "result from a stored log", "results from stored logs")] if stored else []
    return " and ".join(parts) + "."


def _number_of(number: int, one: str, more: str) -> str:
    return f"{units.count(number)} {one if number == 1 else more}"


def _fastest(shelf: Shelf, rows: Rows, judge: Judge) -> Iterable[str]:
    """Name the fastest row within the limits, one for each statistic: they do not compare."""
    tps = shelf.columns["tps"]
    for kind, how in HOW.items():
        same = rows_of(rows & judge.passes_profile & _of_statistic(shelf, kind))
        row = max(same, key=lambda each: tps.value(each) or 0, default=None)
        if row is not None and tps.value(row):
            yield f"Fastest within the limits {how}: {name_of(shelf, row)} at {tps.word(row)} tps."
