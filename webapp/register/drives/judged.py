"""Which rows keep within limits: one comparison everywhere, on shares that are kept rounded up to nine places."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from results.models import Statistic, Verdict, Visibility
from webapp.register.columns import share_code
from webapp.register.drives.coded import Coded, Shelf
from webapp.register.drives.shelf import BILLIONTHS
from webapp.register.your_limits import Held, YourLimits, changes_sentence, keeps
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
    """The rows of a shelf held against limits and against the profile's own."""

    def __init__(self, shelf: Shelf, limits: YourLimits) -> None:
        self.shelf = shelf
        self.is_own = limits.is_own
        self._over = self._flags(limits.by_threshold)
        self._over_profile = self._flags(limits.profile_by_threshold)
        self._outcome = shelf.columns["outcome"]

    def _flags(self, limits: Mapping[int, Decimal]) -> list[tuple[Coded, list[bool]]]:
        columns = [(self.shelf.columns[share_code(threshold_us)], limit) for threshold_us, limit in limits.items()]
        return [(coded, over_flags(coded, limit)) for coded, limit in columns]

    def is_over(self, row: int) -> bool:
        """Tell whether a share of the row is over one of the limits."""
        return any(flags[coded.codes[row]] for coded, flags in self._over)

    def is_over_profile(self, row: int) -> bool:
        """Tell whether a share of the row is over one of the profile's limits."""
        return any(flags[coded.codes[row]] for coded, flags in self._over_profile)

    def passes(self, row: int) -> bool:
        """Tell whether the row passes under the limits."""
        return keeps(self._outcome.word(row), is_over_profile=self.is_over_profile(row), is_over=self.is_over(row))

    def passes_profile(self, row: int) -> bool:
        """Tell whether the row passes under the profile's limits."""
        return not self.is_over_profile(row) and self._outcome.word(row) in {"", Verdict.Outcome.PASS}

    def held(self, row: int) -> Held:
        """Return the row under both; its name only where they differ."""
        by_profile = self.passes_profile(row)
        by_yours = self.passes(row) if self.is_own else by_profile
        return Held(name_of(self.shelf, row) if by_profile != by_yours else "", by_profile, by_yours)


def standing(shelf: Shelf, rows: Iterable[int]) -> list[int]:
    """Return the rows that are neither withdrawn nor superseded."""
    visibility = shelf.columns["visibility"]
    return [row for row in rows if visibility.word(row) == Visibility.PUBLIC]


def limits_sentence(shelf: Shelf, rows: Iterable[int], judge: Judge, limits: YourLimits) -> str:
    """Say how many of these rows pass under the limits, and what changed by them."""
    return changes_sentence(limits, [judge.held(row) for row in standing(shelf, rows)])


def name_of(shelf: Shelf, row: int) -> str:
    """Return what a row is called: maker, model, capacity or storage."""
    parts = [shelf.columns[code].word(row) for code in ("vendor", "model", "capacity_gb")]
    storage = shelf.columns["storage"].word(row)
    return " ".join(part for part in parts if part) + (f" ({storage})" if storage else "")


def table_sentence(shelf: Shelf, rows: Sequence[int], judge: Judge) -> str:
    """Say what a table holds under the profile's limits: how many results, the fastest, and how many are over."""
    stand = standing(shelf, rows)
    statistic = shelf.columns["statistic"]
    published = sum(statistic.word(row) == Statistic.STEADY_AS_PUBLISHED for row in stand)
    over = sum(judge.is_over_profile(row) for row in stand)
    sentences = [_results(published, len(stand) - published), *_fastest(shelf, stand, judge)]
    sentences += [f"{over} of {len(stand)} {'is' if over == 1 else 'are'} over a limit."] if over else []
    return " ".join(sentences)


def _results(published: int, stored: int) -> str:
    parts = [_number_of(published, "published result", "s")] if published or not stored else []
    if stored:
        parts += [f"{units.count(stored)} {'result from a stored log' if stored == 1 else 'results from stored logs'}"]
    return " and ".join(parts) + "."


def _number_of(number: int, noun: str, ending: str) -> str:
    return f"{units.count(number)} {noun}{'' if number == 1 else ending}"


def _fastest(shelf: Shelf, rows: Sequence[int], judge: Judge) -> Iterable[str]:
    """Name the fastest row within the limits, one for each statistic: they do not compare."""
    statistic, tps = shelf.columns["statistic"], shelf.columns["tps"]
    for kind, how in HOW.items():
        same = [row for row in rows if statistic.word(row) == kind and tps.value(row) and judge.passes_profile(row)]
        if same:
            row = max(same, key=lambda each: tps.value(each) or 0)
            yield f"Fastest within the limits {how}: {name_of(shelf, row)} at {tps.word(row)} tps."
