"""What a search over all products asks for: a part number, a capacity, and words; each said as it was read."""

import re
from dataclasses import dataclass

from webapp.register.drives.store.encoded_columns import Shelf
from webapp.register.products.model_index import CAPACITY_OFF_PCT
from webapp.register.products.names import NameQuery, search
from webapp.register.products.part_numbers import Part, part_of
from webapp.templatetags import units

# A number with its unit, or with a decimal: "3.2" alone can only be of TB.
CAPACITY = re.compile(
    r"(?<![\w.,])(?:(?P<number>[0-9]{1,6}(?:[.,][0-9]{1,3})?) ?(?P<unit>tb|gb)"
    r"|(?P<bare>[0-9]{1,3}\.[0-9]{1,3}))(?![\w.,])",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True)
class Lookup:
    """A search as it was read; `capacity_gb` is None where none was asked for."""

    found: NameQuery
    capacity_gb: float | None = None
    part: Part | None = None
    has_part: bool = True

    def holds(self, shelf: Shelf, row: int) -> bool:
        """Tell whether a row is what was asked for: by its names, and by its capacity where one was told."""
        return self.found.matches(shelf.names.texts[row]) and (
            self.capacity_gb is None or is_capacity(shelf.columns["capacity_gb"].value(row), self.capacity_gb)
        )

    @property
    def sentence(self) -> str:
        """Say how the words were read; empty where they were taken as they are."""
        return " ".join(part for part in (self._part_words(), self._capacity_words(), self.found.sentence) if part)

    def _part_words(self) -> str:
        if self.part is None:
            return ""
        if self.part.capacity_gb is None:
            return f"{self.part.number} is a part number of {self.part.vendor} that the register does not know."
        told = f"Part number {self.part.number} is of {self.part.name}, {_size(self.part.capacity_gb)}"
        return f"{told}." if self.has_part else f"{told}: the register has other capacities of it only."

    def _capacity_words(self) -> str:
        if self.capacity_gb is None or self.part:
            return ""
        return f"Capacity read as {_size(self.capacity_gb)}, within {CAPACITY_OFF_PCT} %: makers round."


def lookup(shelf: Shelf, query: str) -> Lookup:
    """Return what a query asks for. A part number that products state is a word like others."""
    part, as_words = part_of(query), _of_words(shelf, query)
    if part is None or any(as_words.holds(shelf, row) for row in range(shelf.count)):
        return as_words
    if part.capacity_gb is None:
        return Lookup(as_words.found, as_words.capacity_gb, part)
    found = search(shelf.names, part.name)
    exact = Lookup(found, part.capacity_gb, part)
    if any(exact.holds(shelf, row) for row in range(shelf.count)):
        return exact
    return Lookup(found, None, part, has_part=False)


def _of_words(shelf: Shelf, query: str) -> Lookup:
    told = CAPACITY.search(query)
    if told is None:
        return Lookup(search(shelf.names, query))
    rest = f"{query[: told.start()]} {query[told.end() :]}"
    return Lookup(search(shelf.names, rest), _gigabytes(told))


def _gigabytes(told: re.Match[str]) -> float:
    number = float((told["number"] or told["bare"]).replace(",", "."))
    return number if (told["unit"] or "tb").lower() == "gb" else number * 1000


def is_capacity(stated_gb: float | None, asked_gb: float) -> bool:
    """Whether a product has the capacity asked for, as makers round it; not where it states none.

    >>> [is_capacity(stated, 3200) for stated in (3200, 3104, 3103, 3840, 2400, None)]
    [True, True, False, False, False, False]
    """
    return stated_gb is not None and abs(stated_gb - asked_gb) * 100 <= CAPACITY_OFF_PCT * asked_gb


def _size(gigabytes: float) -> str:
    return units.capacity(round(gigabytes))
