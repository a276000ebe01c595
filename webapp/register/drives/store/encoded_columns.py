"""Columns of a table as words and codes: each text once, in the order it sorts in, and for each row its place there.

The page, its data file and its script all work on these columns, so that they cannot sort or filter differently.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, TypeVar

from webapp.register.products.names import Names

NOT_STATED = -1
UNSTATED = "unstated"  # the option of a filter that means: not stated

Keyed = tuple[Any, str]  # what a text sorts by, and the text
BITS = bytes.maketrans(b"01", bytes([0, 1]))
Rows = int  # a set of rows: bit n stands for row n, so that sets of thousands are joined and counted in microseconds
T = TypeVar("T")


def rows_of(rows: Rows) -> list[int]:
    """Return the rows of a set, rising.

    >>> rows_of(0b1101), rows_of(0)
    ([0, 2, 3], [])
    """
    count = rows.bit_length()
    return list(compress(range(count), flags_of(rows, count)))


def flags_of(rows: Rows, count: int) -> bytes:
    """Return for each of `count` rows 1 where it is in the set, else 0.

    >>> list(flags_of(0b1101, 5)), flags_of(0, 0)
    ([1, 0, 1, 1, 0], b'')
    """
    return f"{rows:0{count}b}".encode().translate(BITS)[::-1][:count]


def set_of(flags: Iterable[object]) -> Rows:
    """Return the set of the rows whose flag is set.

    >>> bin(set_of([True, False, True, True])), set_of([])
    ('0b1101', 0)
    """
    bits = "".join("1" if flag else "0" for flag in flags)
    return int(bits[::-1] or "0", 2)


@dataclass(frozen=True)
class Coded:
    """One column: `codes` holds for each row the place of its word, NOT_STATED where it has none.

    `values` (numbers to compare with) and `options` (short codes to filter by) stand beside the words where used.
    """

    words: tuple[str, ...]
    codes: tuple[int, ...]
    values: tuple[int | float, ...] = ()
    options: tuple[str, ...] = ()

    @cached_property
    def sets(self) -> list[Rows]:
        """For each word the rows that have it, and last those where it is not stated."""
        sets = [bytearray(len(self.codes) // 8 + 1) for _ in (*self.words, "")]
        for row, code in enumerate(self.codes):
            sets[code][row >> 3] |= 1 << (row & 7)
        return [int.from_bytes(each, "little") for each in sets]

    def having(self, wanted: Iterable[object]) -> Rows:
        """Return the rows whose word is wanted; the last flag is for what is not stated."""
        found = 0
        for rows, is_wanted in zip(self.sets, wanted, strict=True):
            if is_wanted:
                found |= rows
        return found

    def of(self, word: str) -> Rows:
        """Return the rows that have a word; none where no row has it."""
        return self.sets[self.words.index(word)] if word in self.words else 0

    def word(self, row: int) -> str:
        """Return the text of a row; empty where it is not stated."""
        code = self.codes[row]
        return "" if code == NOT_STATED else self.words[code]

    def value(self, row: int) -> int | float | None:
        """Return the number of a row; None where it is not stated."""
        code = self.codes[row]
        return None if code == NOT_STATED else self.values[code]


@dataclass(frozen=True)
class Coding:
    """How a column is made: what each row sorts by, its text (the same, where there is no other), and the rest.

    `text_of_key` where what a row sorts by tells its text; `pair` where both are found in one place.
    """

    key: Callable[[Any], Any]
    text: Callable[[Any], str] | None = None
    text_of_key: Callable[[Any], str] = str
    pair: Callable[[Any], Keyed | None] | None = None
    value: Callable[[Any], int | float] | None = None
    option: Callable[[str], str] | None = None
    option_of_key: Callable[[Any], str] | None = None

    def keyed(self, row: Any) -> Keyed | None:
        """Return what a row sorts by, with its text; None where it is not stated."""
        if self.pair:
            return self.pair(row)
        key = self.key(row)
        return None if key is None else (key, self.text(row) if self.text else self.text_of_key(key))

    def values(self, ordered: Sequence[Keyed]) -> tuple[int | float, ...]:
        """Return the number of each word; nothing where the column is not compared with numbers."""
        return tuple(self.value(key) for key, _ in ordered) if self.value else ()

    def options(self, ordered: Sequence[Keyed]) -> tuple[str, ...]:
        """Return the short code of each word; nothing where the column is not filtered by."""
        if self.option_of_key:
            return tuple(self.option_of_key(key) for key, _ in ordered)
        return tuple(self.option(text) for _, text in ordered) if self.option else ()


@dataclass(frozen=True)
class Shelf:
    """Every public result as columns, in the order of drives' names; `remarks` are the few rows that have some."""

    version: str
    count: int
    runs: tuple[str, ...]
    slugs: tuple[str, ...]
    columns: dict[str, Coded]
    names: Names
    remarks: dict[int, list[tuple[str, str, str]]] = field(default_factory=dict)
    remembered: dict[object, Any] = field(default_factory=dict)

    def remember(self, key: object, read: Callable[[], T]) -> T:
        """Return what was read of this shelf under a key; the first to ask reads it."""
        if key not in self.remembered:
            self.remembered[key] = read()
        found: T = self.remembered[key]
        return found
