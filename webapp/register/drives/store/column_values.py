"""The words of one column, numbered as they are first read: a shelf is made of rows that hold numbers alone.

What sorts and prints a row is worked out once, when the row is read. After a change the words stand almost in their
order, so that a column of 5,000 rows is made again in a millisecond or two, and one that did not change stays as it is.
"""

from dataclasses import dataclass, field
from typing import Any

from webapp.register.drives.store.encoded_columns import NOT_STATED, Coded, Coding, Keyed


@dataclass
class ColumnWords:
    """Every word that was ever read of a column, and the column as it was last made."""

    coding: Coding
    keyed: list[Keyed] = field(default_factory=list)
    numbers: dict[Keyed, int] = field(default_factory=dict)
    ordered: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    made: Coded = field(default_factory=lambda: Coded((), ()))

    def number(self, row: Any) -> int:
        """Return the number of a row's word; NOT_STATED where it has none."""
        keyed = self.coding.keyed(row)
        if keyed is None:
            return NOT_STATED
        number = self.numbers.setdefault(keyed, len(self.keyed))
        if number == len(self.keyed):
            self.keyed.append(keyed)
        return number

    def word(self, number: int) -> str:
        """Return the text of a number; empty where it is not stated."""
        return "" if number == NOT_STATED else self.keyed[number][1]

    def coded(self, rows: list[int]) -> Coded:
        """Return the column of rows that have these words; the very same one where nothing in it changed."""
        if rows != self.rows:
            ordered = self._in_order(set(rows) - {NOT_STATED})
            self.made = self._made(ordered, self._codes(ordered, rows))
            self.ordered, self.rows = ordered, rows
        return self.made

    def _in_order(self, used: set[int]) -> list[int]:
        standing = [number for number in self.ordered if number in used]
        fresh = used.difference(standing)
        return sorted([*standing, *fresh], key=self.keyed.__getitem__)

    def _codes(self, ordered: list[int], rows: list[int]) -> tuple[int, ...]:
        places = [NOT_STATED] * (len(self.keyed) + 1)  # the last place is the one at NOT_STATED, -1
        for place, number in enumerate(ordered):
            places[number] = place
        return tuple(map(places.__getitem__, rows))

    def _made(self, ordered: list[int], codes: tuple[int, ...]) -> Coded:
        if ordered == self.ordered:
            return Coded(self.made.words, codes, self.made.values, self.made.options)
        keyed = [self.keyed[number] for number in ordered]
        words = tuple(text for _, text in keyed)
        return Coded(words, codes, self.coding.values(keyed), self.coding.options(keyed))
