"""The product search on the tables of drives: a part number, a capacity and words, with a note on how each was read."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.html import format_html

from results.models import Category
from results.models.categories import SYSTEMS
from results.rules.act.limits import Limit
from results.rules.capacity import TOLERANCE_PCT, is_same_capacity
from webapp.register.drives.limit_check import LimitCheck, together
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, flags_of
from webapp.register.drives.store.ranking import current_rows, on_drives, ranked_tps
from webapp.register.http.query_params import words_of
from webapp.register.limits.reader_limits import read_limits
from webapp.register.products.name_search import NameQuery, search
from webapp.register.products.part_numbers import Part, part_of
from webapp.register.products.similar_names import KnownDrive, Neighbours, neighbours_of
from webapp.register.tables.categories import SPECS
from webapp.register.tables.sentences import HOW
from webapp.templatetags import units

SHOWN_AT_MOST = 100
NAMED_AT_MOST = 5  # neighbours in a sentence
CURRENT_AT_LEAST = 3  # drives that are offered instead of a drive that the register lacks
# A number with its unit, or with a decimal: "3.2" alone can only be of TB.
CAPACITY = re.compile(
    r"(?<![\w.,])(?:(?P<number>[0-9]{1,6}(?:[.,][0-9]{1,3})?) ?(?P<unit>tb|gb)"
    r"|(?P<bare>[0-9]{1,3}\.[0-9]{1,3}))(?![\w.,])",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True)
class ProductQuery:
    """A search as it was read; `capacity_gb` is None if the query has no capacity."""

    names: NameQuery
    capacity_gb: float | None = None
    part: Part | None = None
    has_part: bool = True

    def matches(self, store: ColumnStore, row: int) -> bool:
        """Return whether a row has the names, and the capacity if the query has one."""
        return self.names.matches(store.names.texts[row]) and self.has_capacity(store, row)

    def has_capacity(self, store: ColumnStore, row: int) -> bool:
        """Return whether a row has the capacity of the query, if that has one."""
        capacity = store.columns["capacity_gb"].value(row)
        return self.capacity_gb is None or is_same_capacity(capacity, self.capacity_gb)

    @property
    def is_found(self) -> bool:
        """Return whether the drives that match have the searched name, not a similar one or another capacity."""
        return self.has_part and not self.names.used

    @property
    def sentence(self) -> str:
        """Return the note on how the words were read; empty if they were used unchanged."""
        sentences = (self._part_sentence(), self._capacity_sentence(), self.names.sentence)
        return " ".join(sentence for sentence in sentences if sentence)

    def _part_sentence(self) -> str:
        if self.part is None:
            return ""
        if self.part.capacity_gb is None:
            return f"{self.part.number} is a part number of {self.part.vendor} that is not in the register."
        product = f"Part number {self.part.number} is a {self.part.name} of {_size(self.part.capacity_gb)}"
        return f"{product}." if self.has_part else f"{product}. The register has only other capacities of this product."

    def _capacity_sentence(self) -> str:
        if self.capacity_gb is None or self.part:
            return ""
        return f"Searched for {_size(self.capacity_gb)} within {TOLERANCE_PCT} %, because makers round capacities."


def lookup(store: ColumnStore, query: str) -> ProductQuery:
    """Return a query as it is read. A part number that a product states is treated as a word."""
    part, as_words = part_of(query), _of_words(store, query)
    if part is None or any(as_words.matches(store, rows[0]) for rows in store.rows_by_product.values()):
        return as_words
    if part.capacity_gb is None:
        return ProductQuery(as_words.names, as_words.capacity_gb, part)
    found = search(store.names, part.name)
    exact = ProductQuery(found, part.capacity_gb, part)
    if any(exact.matches(store, rows[0]) for rows in store.rows_by_product.values()):
        return exact
    return ProductQuery(found, None, part, has_part=False)


def _of_words(store: ColumnStore, query: str) -> ProductQuery:
    size = CAPACITY.search(query)
    if size is None:
        return ProductQuery(search(store.names, query))
    rest = f"{query[: size.start()]} {query[size.end() :]}"
    return ProductQuery(search(store.names, rest), _gigabytes(size))


def _gigabytes(size: re.Match[str]) -> float:
    number = float((size["number"] or size["bare"]).replace(",", "."))
    return number if (size["unit"] or "tb").lower() == "gb" else number * 1000


def _size(gigabytes: float) -> str:
    return units.capacity(round(gigabytes))


def found_products(
    store: ColumnStore, query: ProductQuery, profile: Iterable[Limit]
) -> tuple[list[dict[str, Any]], int]:
    """Return the first products that match a query, in the order of their names, and the number of all that match."""
    slugs = found_slugs(store, query)
    return products_of(store, slugs[:SHOWN_AT_MOST], profile), len(slugs)


def found_slugs(store: ColumnStore, query: ProductQuery) -> list[str]:
    """Return all products that match a query, in the order of their names."""
    named, texts = store.names.matching(query.names), store.names.texts
    products = store.rows_by_product.items()
    return [slug for slug, rows in products if texts[rows[0]] in named and query.has_capacity(store, rows[0])]


def fastest_per_device(store: ColumnStore, slugs: Iterable[str], profile: Iterable[Limit]) -> list[dict[str, Any]]:
    """Return products for the table of the search by falling speed of one device, historical ones last.

    Only current results within the limits count, and their speeds are those of one device.
    """
    current, passing = _current_and_passing(store, profile)
    of_product, historical = store.rows_by_product, store.columns["historical"]

    def order(slug: str) -> tuple[bool, float]:
        rows = [row for row in of_product[slug] if passing >> row & 1]
        speed = max((ranked_tps(store, row, per_device=True) for row in rows), default=0)
        return historical.word(of_product[slug][0]) == "yes", -speed

    ordered = sorted(slugs, key=order)
    return [_product(store, of_product[slug], current, passing, per_device=True) for slug in ordered]


def products_of(store: ColumnStore, slugs: Iterable[str], profile: Iterable[Limit]) -> list[dict[str, Any]]:
    """Return products for the table of the search.

    Only current results count. Each statistic has a fastest result of its own, because statistics do not compare.
    """
    current, passing = _current_and_passing(store, profile)
    of_product = store.rows_by_product
    return [_product(store, of_product[slug], current, passing) for slug in dict.fromkeys(slugs)]


def _current_and_passing(store: ColumnStore, profile: Iterable[Limit]) -> tuple[Rows, Rows]:
    """Return the current rows, and those of them on drives that are within the limits."""
    current = current_rows(store)
    return current, current & on_drives(store) & LimitCheck(store, read_limits({}, profile)).passes_profile


def neighbours(store: ColumnStore, query: ProductQuery) -> Neighbours:
    """Return the neighbours of a query without a match: drives that have a current result."""
    current = current_rows(store)
    flags = flags_of(current, store.count)
    rows = {slug: row for slug, row in zip(store.slugs, range(store.count), strict=True) if flags[row]}
    if query.capacity_gb is not None and (near := _nearest_capacity(store, query, rows.values())):
        return near
    if close := [row for row in rows.values() if query.names.is_near(store.names.texts[row])]:
        drives = tuple(_known_drive(store, row) for row in close)
        return Neighbours("", drives, similar=len(drives), is_other_model=True)
    maker = words_of(query.part.vendor) if query.part else []  # a part number states its maker
    words = [*query.names.alternatives, *((word,) for word in maker)]
    return neighbours_of(words, [_known_drive(store, row) for row in rows.values()])


def current_first(store: ColumnStore, near: Neighbours) -> Neighbours:
    """Return neighbours with historical drives last: they are poor alternatives."""
    rows, historical = _row_of(store), store.columns["historical"]
    ordered = sorted(near.drives, key=lambda drive: historical.word(rows[drive.key]) == "yes")
    return replace(near, drives=tuple(ordered))


def substitutes(store: ColumnStore, query: ProductQuery, near: Neighbours) -> list[str]:
    """Return current drives of other makers, if a named maker has fewer than three current drives.

    They have the category of its first drive, and the capacities nearest to the searched one, or to that drive's.
    """
    rows, columns = _row_of(store), store.columns
    if not near.maker or not near.drives or columns["category"].word(rows[near.drives[0].key]) in SYSTEMS:
        return []
    first, own = rows[near.drives[0].key], {drive.key for drive in near.drives}
    missing = CURRENT_AT_LEAST - sum(columns["historical"].word(rows[slug]) != "yes" for slug in own)
    wanted = query.capacity_gb or columns["capacity_gb"].value(first)
    same = current_rows(store) & ~columns["historical"].of("yes")
    same &= columns["category"].of(columns["category"].word(first))
    flags = flags_of(same, store.count)
    stated = [(slug, gb) for slug, row in rows.items() if flags[row] and (gb := columns["capacity_gb"].value(row))]
    others = [each for each in stated if each[0] not in own]
    if not wanted or missing <= 0:
        return []
    return [slug for slug, _ in sorted(others, key=lambda each: max(each[1], wanted) / min(each[1], wanted))][:missing]


def substitutes_sentence(
    store: ColumnStore, near: Neighbours, slugs: Sequence[str], *, has_capacity: bool = False
) -> str:
    """Return which of the maker's drives are historical, and why drives of other makers are shown; may be empty.

    The sentence names capacities only if the search has one.
    """
    rows, historical = _row_of(store), store.columns["historical"]
    old = sum(historical.word(rows[drive.key]) == "yes" for drive in near.drives) if near.maker else 0
    verb = "is historical and no longer recommended" if old == 1 else "are historical and no longer recommended"
    sentences = [f"{units.count(old)} of them {verb}."] if old else []
    if slugs:
        names = ", ".join(drive_name(store, rows[slug]) for slug in slugs)
        nearest = " with the nearest capacity" if has_capacity else ""
        sentences.append(f"Current drives of other makers{nearest} are shown instead: {names}.")
    return " ".join(sentences)


def _row_of(store: ColumnStore) -> dict[str, int]:
    """Return the last row of each product."""
    return store.cached("last rows", lambda: {slug: rows[-1] for slug, rows in store.rows_by_product.items()})


def _known_drive(store: ColumnStore, row: int) -> KnownDrive:
    return KnownDrive(store.slugs[row], *(store.columns[code].word(row) for code in ("vendor", "model")))


def _nearest_capacity(store: ColumnStore, query: ProductQuery, rows: Iterable[int]) -> Neighbours | None:
    """Return the drives with the names of a query and the capacity nearest to its own; None if no drive has them."""
    capacity, wanted = store.columns["capacity_gb"], query.capacity_gb or 0
    stated = [(row, gb) for row in rows if (gb := capacity.value(row)) and query.names.matches(store.names.texts[row])]
    if not stated or not wanted:
        return None
    nearest = min((gb for _, gb in stated), key=lambda gb: (max(gb, wanted) / min(gb, wanted), gb))
    same = [row for row, gb in stated if gb == nearest]
    return Neighbours("", tuple(_known_drive(store, row) for row in same), capacity.word(same[0]))


def neighbours_sentence(store: ColumnStore, query: str, near: Neighbours) -> str:
    """Return the sentence that the register has no match for a query, and which drives it has."""
    rows = _row_of(store)
    names = [drive_name(store, rows[drive.key]) for drive in near.drives]
    more = f" and {units.count(len(names) - NAMED_AT_MOST)} more" if len(names) > NAMED_AT_MOST else ""
    listed, missing = f"{', '.join(names[:NAMED_AT_MOST])}{more}", "result for"
    if near.maker:
        category = store.columns["category"]
        is_cloud = all(category.word(rows[drive.key]) == Category.CLOUD for drive in near.drives)
        noun = f"{near.maker} {'instance' if is_cloud else 'drive'}"
        has = f"It has {units.counted(len(names), noun)}: {listed}."
    elif near.capacity:
        has = f"The nearest capacity is {near.capacity}: {listed}."
    elif names:
        missing, has = "drive named", f"Nearest names: {listed}."
    else:
        makers = sorted(set(store.columns["vendor"].words), key=str.casefold)
        has = f"It has results of these makers and providers: {', '.join(makers)}." if makers else ""
    return format_html("The register has no {} <bdi>{}</bdi>. <bdi>{}</bdi>", missing, query, has)


def drive_name(store: ColumnStore, row: int) -> str:
    """Return maker, model and capacity of a row as one text."""
    words = (store.columns[code].word(row) for code in ("vendor", "model", "capacity_gb"))
    return " ".join(filter(None, words))


def _product(
    store: ColumnStore, rows: list[int], current: Rows, passing: Rows, *, per_device: bool = False
) -> dict[str, Any]:
    """Return one product: its names, the number of its results and its fastest speeds."""
    names = ("vendor", "model", "part_number", "capacity_gb", "category", "historical")
    words = {name: store.columns[name].word(rows[0]) for name in names}
    return words | {
        "slug": store.slugs[rows[0]],
        "capacity_gb": words["capacity_gb"] or _storage(store, rows),
        "category": SPECS[Category(words["category"])].title,
        "speeds": _speeds(store, [row for row in rows if passing >> row & 1], per_device=per_device),
        "results": sum(current >> row & 1 for row in rows),
    }


def _storage(store: ColumnStore, rows: Iterable[int]) -> str:
    """Return the storage that the results of an instance report: each if there are two, otherwise least and most."""
    storage = store.columns["storage"]
    reported = sorted(
        (row for row in rows if storage.word(row)), key=lambda row: store.columns["total_gb"].value(row) or 0
    )
    words = list(dict.fromkeys(map(storage.word, reported)))
    return ", ".join(words) if len(words) < 3 else f"{words[0]} to {words[-1]}"


def _speeds(store: ColumnStore, rows: list[int], *, per_device: bool = False) -> list[tuple[str, str]]:
    """Return the speed of the fastest row of each statistic, and how it was measured."""
    tps, statistic = store.columns["device_tps" if per_device else "tps"], store.columns["statistic"]
    stated = [row for row in rows if tps.value(row)]
    best = [
        max(
            (row for row in stated if statistic.word(row) == kind),
            key=lambda row: ranked_tps(store, row, per_device=per_device),
            default=None,
        )
        for kind in HOW
    ]
    fastest = [(row, how) for row, how in zip(best, HOW.values(), strict=True) if row is not None]
    if per_device:
        return [(tps.word(row), f"per device, {how}") for row, how in fastest]
    return [(tps.word(row), f"{how}{together(store, row)}") for row, how in fastest]


def found_sentence(typed: str, query: ProductQuery, count: int, shown: int) -> str:
    """Return the sentence with the number of products found; only drives with the searched name are "found".

    What was typed cannot change the direction of its text.
    """
    if not typed:
        return "Search for drives by maker, model, part number or capacity, or for publications, claims and terms."
    first = f", the first {shown} shown" if shown < count else ""
    drives = units.counted(count, "drive")
    if query.is_found:
        return format_html("{} found for <bdi>{}</bdi>{}.", drives, typed, first)
    similar = "a similar name" if query.has_part else "the same model name and another capacity"
    has = f"has {similar}" if count == 1 else f"have {similar}"
    return format_html("The register has no drive named <bdi>{}</bdi>. {} {}{}.", typed, drives, has, first)
