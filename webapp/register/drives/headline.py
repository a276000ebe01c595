"""The headline of the tables of drives: how many results, the fastest within the limits, and how many are over.

"Fastest" applies within one comparison group. A cloud instance is one system with any number of devices, so the page of
cloud instances names the fastest instance and the fastest per device. The headline covers the page's default rows, or
those that match the filters and the search. static/js/drives/headline.js makes the same sentences in the browser when
limits change.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from results.models import Statistic
from webapp.register.drives.device_counts import over_with_one_device, with_one_device
from webapp.register.drives.limit_check import name_of, over_flags, together
from webapp.register.drives.order import in_order
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.ranking_requirements import unranked_sentences
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows
from webapp.register.drives.store.ranking import (
    current_rows,
    fastest_rows,
    groups_of,
    largest_group,
    ranked_rows,
)
from webapp.register.landscape.marks import Fill
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.columns import share_code
from webapp.register.tables.parameters import FASTEST_FIRST, Sort
from webapp.register.tables.sentences import HOW, results_words
from webapp.templatetags import units

GROUP_WORDS = {Fill.SERVICE: "ACT 6.x", Fill.WITH_QUEUE: "ACT up to 5.3"}
DEVICE_FIRST = Sort("device_tps", falls=True)


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
    key = ("headline", page.layout.name, page.profile, page.query.sort == DEVICE_FIRST)
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
    is_device_first = page.query.sort == DEVICE_FIRST
    fastest = list(
        _fastest_instances(page, passing, whose, is_device_first=is_device_first)
        if page.layout.has_only_instances
        else _fastest(store, passing, whose)
    )
    if passing and not fastest:
        fastest = [unranked_sentences(store, passing, whose)]
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


def _of(store: ColumnStore, group: str) -> Rows:
    return store.columns["comparison_group"].of(group)


def _fastest_instances(page: DrivesPage, rows: Rows, whose: str, *, is_device_first: bool) -> Iterable[str]:
    """Yield the fastest instance and the fastest per device, for each statistic and each kind of time.

    Both come from the order of the table, so that they are its first rows within the limits.
    """
    store = page.store
    for statistic, how in HOW.items():
        for fill, words in GROUP_WORDS.items():
            if not (members := rows & ranked_rows(store, statistic, fill)):
                continue
            instance, device = (in_order(store, members, sort)[0] for sort in (FASTEST_FIRST, DEVICE_FIRST))
            group = f"within {whose} limits {how}, {words}"
            if instance == device:
                yield f"Fastest instance and fastest per device {group}: {_same_words(store, instance)}."
                continue
            facts = [
                ("instance", _instance_words(store, instance)),
                ("per device", _device_words(page, members, device, whose)),
            ]
            first, second = reversed(facts) if is_device_first else facts
            yield f"Fastest {first[0]} {group}: {first[1]}."
            yield f"Fastest {second[0]}: {second[1]}."


def _instance_words(store: ColumnStore, row: int) -> str:
    return f"{name_of(store, row)} at {store.columns['tps'].word(row)} tps"


def _same_words(store: ColumnStore, row: int) -> str:
    per_device = store.columns["device_tps"].word(row)
    each = "" if per_device == store.columns["tps"].word(row) else f", {per_device} tps per device"
    return f"{_instance_words(store, row)}{each}"


def _device_words(page: DrivesPage, members: Rows, row: int, whose: str) -> str:
    """Return the fastest per device; if it has several, also what is known of one device.

    That is its own result with one device if that is over a limit, and the fastest of the results with one device.
    """
    store = page.store
    words = f"{name_of(store, row)} at {store.columns['device_tps'].word(row)} tps per device"
    if with_one_device(store) >> row & 1:
        return words
    alone = over_with_one_device(store, page.limit_check, row)
    over = "" if alone is None else f"; with 1 device it is over a limit: {_over_words(store, alone, page.limits)}"
    single = in_order(store, members & with_one_device(store), DEVICE_FIRST)[:1]
    fastest = [f"; fastest with 1 device within {whose} limits: {_instance_words(store, each)}" for each in single]
    return f"{words}{over}{''.join(fastest)}"


def _over_words(store: ColumnStore, row: int, limits: YourLimits) -> str:
    """Return the shares of a row that are over a limit, each with its limit."""
    return " and ".join(
        f"{share.word(row)}{units.NBSP}% over {units.threshold(field.threshold_us)}, limit {field.text}{units.NBSP}%"
        for field in limits.fields
        if over_flags([(share := store.columns[share_code(field.threshold_us)]).value(row) or 0], field.limit_pct)[0]
    )
