"""The sentence above the tables of drives: how many results, the fastest within the limits, and how many are over.

It is of what a page holds by itself; where a filter or a search is set, of the rows asked for.
static/js/drives/headline.js says the same in the browser, where limits change on the page.
"""

from collections.abc import Iterable

from results.models import Statistic
from webapp.register.drives.below_table import current_rows
from webapp.register.drives.limit_check import Judge, name_of, on_drives, ranked_tps, standing
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import Rows, Shelf, rows_of
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.sentences import HOW, devices_words, results_words
from webapp.templatetags import units


def headline_of(page: DrivesPage) -> str:
    """Return a page's sentence; that of the whole page is made once for each state of the register and profile."""
    if page.question.is_narrowed:
        asked = page.judged_rows & standing(page.shelf)
        return f"Asked for: {headline(page.shelf, asked, page.judge, page.limits)}"

    def told() -> str:
        return headline(page.shelf, current_rows(page) & standing(page.shelf), page.judge, page.limits)

    key = ("headline", page.room.name, page.profile)
    return told() if page.limits.is_own else page.shelf.remember(key, told)


def headline(shelf: Shelf, rows: Rows, judge: Judge, limits: YourLimits) -> str:
    """Say of these rows how many results they are, the fastest within the limits, and how many are over one."""
    published = (rows & shelf.columns["statistic"].of(Statistic.STEADY_AS_PUBLISHED)).bit_count()
    within = f"Fastest within {'your' if limits.is_own else 'the'} limits"
    fastest = (f"{within} {said}" for said in _fastest(shelf, rows & judge.passes & on_drives(shelf)))
    over = over_words((rows & judge.over).bit_count(), rows.bit_count(), limits) if rows else []
    return " ".join([results_words(published, rows.bit_count() - published), *fastest, *over])


def over_words(over: int, count: int, limits: YourLimits) -> list[str]:
    """Say how many are over a limit and whose it is; of the profile's nothing where none is, a reader's are named."""
    said = f"{units.count(over)} of {units.count(count)} {'is' if over == 1 else 'are'} over a limit of"
    if limits.is_own:
        return [f"{said} yours: {limits.sentence}."]
    return [f"{said} the profile."] if over else []


def _fastest(shelf: Shelf, rows: Rows) -> Iterable[str]:
    """Name the fastest of these rows, one for each statistic: they do not compare."""
    tps = shelf.columns["tps"]
    for kind, how in HOW.items():
        row = next((each for each in _fastest_first(shelf, kind) if rows >> each & 1), None)
        if row is not None and tps.value(row):
            yield f"{how}: {name_of(shelf, row)} at {tps.word(row)} tps{_together(shelf, row)}."


def _fastest_first(shelf: Shelf, statistic: str) -> list[int]:
    """Return the rows of a statistic as they rank, sorted once for each state of the register."""

    def ranked() -> list[int]:
        rows = rows_of(shelf.columns["statistic"].of(statistic))
        return sorted(rows, key=lambda row: ranked_tps(shelf, row), reverse=True)

    return shelf.remember(("fastest first", statistic), ranked)


def _together(shelf: Shelf, row: int) -> str:
    columns = shelf.columns
    return devices_words(columns["storage"].word(row), int(columns["device_count"].word(row) or 1))
