"""The headline of the tables of drives: how many results, the fastest within the limits, and how many are over.

It covers the page's default rows, or those that match the filters and the search. static/js/drives/headline.js makes
the same sentence in the browser when limits change on the page.
"""

from collections.abc import Iterable
from functools import partial

from results.models import Statistic
from webapp.register.drives.limit_check import current_rows, name_of, on_drives, ranked_tps, together
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, rows_of
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.sentences import HOW, results_words
from webapp.templatetags import units


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
    fastest = (f"{within} {text}" for text in _fastest(store, passing))
    return " ".join([results, *fastest, *(_over_sentences(over, rows.bit_count(), limits) if rows else [])])


def _over_sentences(over: int, count: int, limits: YourLimits) -> list[str]:
    """Return how many results are over a limit of the profile (nothing if none is), or over one of the reader's."""
    text = f"{units.count(over)} of {units.count(count)} results {'is' if over == 1 else 'are'} over"
    if limits.is_own:
        return [f"{text} one of your limits: {limits.sentence}."]
    return [f"{text} a limit of the profile."] if over else []


def _fastest(store: ColumnStore, rows: Rows) -> Iterable[str]:
    """Yield the fastest of these rows for each statistic, because statistics do not compare."""
    tps = store.columns["tps"]
    for kind, how in HOW.items():
        row = next((each for each in _fastest_first(store, kind) if rows >> each & 1), None)
        if row is not None and tps.value(row):
            yield f"{how}: {name_of(store, row)} at {tps.word(row)} tps{together(store, row)}."


def _fastest_first(store: ColumnStore, statistic: str) -> list[int]:
    """Return the rows of a statistic, fastest first; sorted once per register state."""

    def ranked() -> list[int]:
        rows = rows_of(store.columns["statistic"].of(statistic))
        return sorted(rows, key=lambda row: ranked_tps(store, row), reverse=True)

    return store.cached(("fastest first", statistic), ranked)
