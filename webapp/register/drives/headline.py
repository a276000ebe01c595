"""The headline of the tables of drives: how many results, the fastest within the limits, and how many are over.

"Fastest" applies within one comparison group. The headline covers the page's default rows, or those that match the
filters and the search. static/js/drives/headline.js makes the same sentence in the browser when limits change.
"""

from collections.abc import Iterable
from functools import partial

from results.models import Statistic
from webapp.register.drives.limit_check import name_of, together
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows
from webapp.register.drives.store.ranking import current_rows, fastest_rows, groups_of, largest_group, on_drives
from webapp.register.drives.unranked import not_ranked_because
from webapp.register.landscape.marks import Fill
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.sentences import HOW, results_words
from webapp.templatetags import units

GROUP_WORDS = {Fill.SERVICE: "ACT 6.x", Fill.WITH_QUEUE: "ACT up to 5.3"}


def page_headline(page: DrivesPage) -> str:
    """Return a page's headline; the one without filters is made once per register state and profile."""
    if page.query.is_narrowed:
        return _headline(page, page.rows_before_limits)
    key = ("headline", page.layout.name, page.profile)
    make = partial(_headline, page, page.default_rows)
    return make() if page.limits.is_own else page.store.cached(key, make)


def _headline(page: DrivesPage, matching: Rows) -> str:
    """Return how many current results match, the fastest of them within the limits, and how many are over."""
    store, limits = page.store, page.limits
    rows = matching & current_rows(store)
    published = (rows & store.columns["statistic"].of(Statistic.STEADY_AS_PUBLISHED)).bit_count()
    within = f"Fastest within {'your' if limits.is_own else 'the'} limits"
    passing = rows & page.limit_check.passes & on_drives(store)
    over = (rows & page.limit_check.over).bit_count()
    results = results_words(published, rows.bit_count() - published)
    if page.query.is_narrowed:
        results = f"{results[:-1]} {'matches' if rows.bit_count() == 1 else 'match'}."
    fastest = [f"{within} {text}" for text in _fastest(store, passing)]
    if passing and not fastest:
        fastest = [_not_ranked(store, passing, limits)]
    return " ".join([results, *fastest, *(_over_sentences(over, rows.bit_count(), limits) if rows else [])])


def _not_ranked(store: ColumnStore, rows: Rows, limits: YourLimits) -> str:
    """Return that these rows are within the limits but not ranked, and why."""
    count, whose = rows.bit_count(), "your" if limits.is_own else "the"
    subject = name_of(store, rows.bit_length() - 1) if count == 1 else f"{units.count(count)} results"
    verb, they = ("is", "it is") if count == 1 else ("are", "they are")
    return f"{subject} {verb} within {whose} limits, but {they} {not_ranked_because(store, rows)}"


def _over_sentences(over: int, count: int, limits: YourLimits) -> list[str]:
    """Return how many results are over a limit of the profile (nothing if none is), or over one of the reader's."""
    text = f"{units.count(over)} of {units.count(count)} results {'is' if over == 1 else 'are'} over"
    if limits.is_own:
        return [f"{text} one of your limits: {limits.sentence}."]
    return [f"{text} a limit of the profile."] if over else []


def _fastest(store: ColumnStore, rows: Rows) -> Iterable[str]:
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
                yield f"{how}, {words}{devices}: {name_of(store, row)} at {speed}."


def _of(store: ColumnStore, group: str) -> Rows:
    return store.columns["comparison_group"].of(group)
