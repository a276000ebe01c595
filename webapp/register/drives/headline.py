"""The headline of the tables of drives: how many results, the fastest within the limits, and how many are over.

"Fastest" applies within one comparison group. The page of cloud instances has a table of the best instance of each
provider instead (cloud.py) as long as it has no filter. The headline covers the page's default rows, or those that
match the filters and the search. static/js/drives/headline.js makes the same sentences in the browser when limits
change.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from results.models import Statistic
from webapp.register.drives.limit_check import name_of, together
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.ranking_requirements import unranked_sentences
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, flags_of
from webapp.register.drives.store.ranking import (
    current_rows,
    fastest_rows,
    groups_of,
    largest_group,
)
from webapp.register.landscape.marks import GROUP_WORDS
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.sentences import HOW, results_words
from webapp.templatetags import units


@dataclass(frozen=True)
class Headline:
    """The sentences of a headline: the number of results with the first of the fastest, and all others."""

    first: str
    others: str

    @property
    def text(self) -> str:
        """Return all sentences."""
        return " ".join(filter(None, (self.first, self.others)))


def page_headline(page: DrivesPage) -> Headline:
    """Return a page's headline; the one without filters is made once per register state and profile."""
    if page.query.is_narrowed or page.limits.is_own:
        return _headline(page)
    key = ("headline", page.layout.name, page.profile)
    return page.store.cached(key, partial(_headline, page))


def _headline(page: DrivesPage) -> Headline:
    """Return how many current results match, the fastest of them within the limits, and how many are over."""
    store, limits = page.store, page.limits
    rows = page.summarised_rows & current_rows(store)
    published = (rows & store.columns["statistic"].of(Statistic.STEADY_AS_PUBLISHED)).bit_count()
    passing, whose = page.passing_rows, "your" if limits.is_own else "the"
    over = (rows & page.limit_check.over).bit_count()
    results = results_words(published, rows.bit_count() - published)
    if page.query.is_narrowed:
        results = f"{results[:-1]} {'matches' if rows.bit_count() == 1 else 'match'} the filters."
    if page.layout.has_only_instances:
        fastest = list(_fastest_device(store, passing, whose)) if page.query.is_narrowed else []
    else:
        fastest = list(_fastest(store, passing, whose)) or [unranked_sentences(store, passing, whose)] * bool(passing)
    others = [*fastest[1:], *(_over_sentences(over, rows.bit_count(), limits) if rows else [])]
    return Headline(" ".join([results, *fastest[:1]]), " ".join(others))


def _over_sentences(over: int, count: int, limits: YourLimits) -> list[str]:
    """Return how many results are over a limit of the profile (nothing if none is), or over one of the reader's."""
    text = f"{units.count(over)} of {units.count(count)} results {'is' if over == 1 else 'are'} over"
    if limits.is_own:
        return [f"{text} one of your limits: {limits.sentence}."]
    return [f"{text} a limit of the profile."] if over else []


def _fastest(store: ColumnStore, rows: Rows, whose: str) -> Iterable[str]:
    """Yield the fastest of these rows for each statistic and each kind of time, within the largest comparison group.

    Other results do not compare with it. The number of devices is named if the groups differ in it.
    """
    counts = {
        group.device_count for word, group in groups_of(store).items() if group.is_ranked and rows & _of(store, word)
    }
    for statistic, how in HOW.items():
        same = rows & store.columns["statistic"].of(statistic)
        for fill, words in GROUP_WORDS.items():
            if found := largest_group(store, same, fill):
                group, members = found
                row = next(each for each in fastest_rows(store) if members >> each & 1)
                devices = f" with {units.counted(group.device_count, 'device')}" if len(counts) > 1 else ""
                speed = f"{store.columns['tps'].word(row)} tps{together(store, row)}"
                yield f"Fastest within {whose} limits {how}, {words}{devices}: {name_of(store, row)} at {speed}."


def _fastest_device(store: ColumnStore, rows: Rows, whose: str) -> Iterable[str]:
    """Yield which of these instances is fastest per device, because numbers of devices do not compare."""
    speed, flags = store.columns["device_tps"], flags_of(rows, store.count)
    known = [row for row in fastest_rows(store) if flags[row] and speed.value(row) is not None]
    if known:
        row = max(known, key=lambda each: speed.value(each) or 0)
        name = name_of(store, row)
        yield f"Fastest device within {whose} limits: that of {name}, at {speed.word(row)} tps."


def _of(store: ColumnStore, group: str) -> Rows:
    return store.columns["comparison_group"].of(group)
