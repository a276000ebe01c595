"""The headline of the tables of drives: how many results, the fastest within the limits, and how many are over.

It covers the page's default rows, or those that match the filters and the search. static/js/drives/headline.js makes
the same sentence in the browser when limits change on the page.
"""

from collections.abc import Iterable

from results.models import Statistic
from webapp.register.drives.limit_check import LimitCheck, current_rows, name_of, on_drives, ranked_tps, together
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, rows_of
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.sentences import HOW, results_words
from webapp.templatetags import units


def page_headline(page: DrivesPage) -> str:
    """Return a page's headline; the one without filters is made once per register state and profile."""
    if page.query.is_narrowed:
        matching = page.rows_before_limits & current_rows(page.store)
        return headline(page.store, matching, page.limit_check, page.limits, is_narrowed=True)

    def make() -> str:
        return headline(page.store, page.default_rows & current_rows(page.store), page.limit_check, page.limits)

    key = ("headline", page.layout.name, page.profile)
    return make() if page.limits.is_own else page.store.cached(key, make)


def headline(
    store: ColumnStore, rows: Rows, limit_check: LimitCheck, limits: YourLimits, *, is_narrowed: bool = False
) -> str:
    """Return the headline of these rows: how many they are, the fastest within the limits, and how many are over."""
    published = (rows & store.columns["statistic"].of(Statistic.STEADY_AS_PUBLISHED)).bit_count()
    within = f"Fastest within {'your' if limits.is_own else 'the'} limits"
    fastest = (f"{within} {text}" for text in _fastest(store, rows & limit_check.passes & on_drives(store)))
    over = over_limit_sentences((rows & limit_check.over).bit_count(), rows.bit_count(), limits) if rows else []
    results = results_words(published, rows.bit_count() - published)
    if is_narrowed:
        results = f"{results[:-1]} {'matches' if rows.bit_count() == 1 else 'match'}."
    return " ".join([results, *fastest, *over])


def over_limit_sentences(over: int, count: int, limits: YourLimits) -> list[str]:
    """Return how many results are over a limit of the profile (nothing if none is), or over one of the reader's."""
    text = f"{units.count(over)} of {units.count(count)} {'is' if over == 1 else 'are'} over a limit of"
    if limits.is_own:
        return [f"{text} yours: {limits.sentence}."]
    return [f"{text} the profile."] if over else []


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
