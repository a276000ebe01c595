"""Dictionary-encoded columns: each text once, in sort order, and for each row the place of its text.

The page, its data file and its script all work on these columns, so that they sort and filter in the same way.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, compress
from threading import Lock, RLock
from typing import Any, TypeVar

from webapp.register.products.name_search import Names

NOT_REPORTED = -1
LAST_USED_COUNT = 64
SETS_MAX, SET_ROWS_MIN = 64, 512  # of a column: sets that are kept, and the rows between two of them
BILLIONTHS = 10**9  # shares are stored in billionths of a percent, as whole numbers
UNSTATED = "unstated"  # the filter option for missing values; part of addresses

SortedText = tuple[Any, str]  # a sort key, and the text that is shown
BITS, DIGITS = bytes.maketrans(b"01", bytes([0, 1])), bytes.maketrans(bytes([0, 1]), b"01")
Rows = int  # a set of rows as a bit mask: sets of thousands are joined and counted in microseconds
T = TypeVar("T")


class Missing:
    """The absence of a cached result, which may be None."""


MISSING = Missing()


def rows_of(rows: Rows) -> list[int]:
    """Return the rows of a set in ascending order.

    >>> rows_of(0b1101), rows_of(0)
    ([0, 2, 3], [])
    """
    count = rows.bit_length()
    return list(compress(range(count), flags_of(rows, count)))


def flags_of(rows: Rows, count: int) -> bytes:
    """Return 1 for each of `count` rows that is in the set, otherwise 0.

    >>> list(flags_of(0b1101, 5)), flags_of(0, 0)
    ([1, 0, 1, 1, 0], b'')
    """
    return f"{rows:0{count}b}".encode().translate(BITS)[::-1][:count]


def set_of(flags: Iterable[object]) -> Rows:
    """Return the set of the rows whose flag is set.

    >>> bin(set_of([True, False, True, True])), set_of([])
    ('0b1101', 0)
    """
    bits = bytes(map(bool, flags)).translate(DIGITS)
    return int(bits[::-1] or b"0", 2)


def number_in(word: str) -> float | None:
    """Return the number of a computed figure; None if it is not known."""
    return float(word.replace(",", "")) if word else None


class ByWord:
    """The rows of a column by the place of their word, for sets of the rows with one of the first words.

    A set for each word would take gigabytes: a column of shares has nearly as many words as rows. So only some sets
    are kept, and another one is the largest of these that fits, with the rows that it lacks.
    """

    def __init__(self, codes: Sequence[int], words_count: int) -> None:
        self.ends = array("i", accumulate(_counts(codes, words_count)))  # of the rows of each word
        self.rows = array("i", sorted((row for row, code in enumerate(codes) if code >= 0), key=codes.__getitem__))
        self.step = max(SET_ROWS_MIN, len(self.rows) // SETS_MAX)
        self.bytes_count = len(codes) // 8 + 1
        self.sets = [0]
        for first in range(0, len(self.rows) - self.step + 1, self.step):
            self.sets.append(self.sets[-1] | self._set_of(self.rows[first : first + self.step]))
        self.stated = self.first(words_count)

    def first(self, words_count: int) -> Rows:
        """Return the rows that have one of the first words."""
        end = self.ends[words_count - 1] if words_count else 0
        number = end // self.step
        return self.sets[number] | self._set_of(self.rows[number * self.step : end])

    def last_of(self, rows: Rows) -> int | None:
        """Return the given row whose word is last in the order of the column; None if no given row has a word."""
        number = next((each for each in reversed(range(len(self.sets))) if rows & ~self.sets[each] & self.stated), None)
        if number is None:
            return None
        end = (number + 1) * self.step if number + 1 < len(self.sets) else len(self.rows)
        return next(row for row in reversed(self.rows[number * self.step : end]) if rows >> row & 1)

    def _set_of(self, rows: Iterable[int]) -> Rows:
        flags = bytearray(self.bytes_count)
        for row in rows:
            flags[row >> 3] |= 1 << (row & 7)
        return int.from_bytes(flags, "little")


class NumberedRows:
    """Rows by a number that each of them has, for the sets of rows whose number is at least so large."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.values = sorted(set(numbers))
        codes = {value: code for code, value in enumerate(self.values)}
        self.count, self.by_value = len(numbers), ByWord([codes[number] for number in numbers], len(self.values))

    def at_least(self, bound: float) -> Rows:
        """Return the rows whose number is at least as large as a bound."""
        return (1 << self.count) - 1 & ~self.by_value.first(bisect_left(self.values, bound))


def _counts(codes: Sequence[int], words_count: int) -> list[int]:
    found = Counter(codes)
    return [found[word] for word in range(words_count)]


@dataclass(frozen=True)
class EncodedColumn:
    """One column: `codes` has for each row the place of its word, or NOT_REPORTED; an array has a tenth of the bytes.

    `values` (numbers to compare with) and `options` (short codes to filter by) have the order of `words`, if used.
    """

    words: tuple[str, ...]
    codes: Sequence[int]
    values: Sequence[int | float] = ()
    options: tuple[str, ...] = ()

    @cached_property
    def sets(self) -> list[Rows]:
        """Return the rows of each word, and last the rows without one."""
        sets = [bytearray(len(self.codes) // 8 + 1) for _ in (*self.words, "")]
        for row, code in enumerate(self.codes):
            sets[code][row >> 3] |= 1 << (row & 7)
        return [int.from_bytes(each, "little") for each in sets]

    @cached_property
    def _by_word(self) -> "ByWord":
        return ByWord(self.codes, len(self.words))

    def up_to(self, bound: float) -> Rows:
        """Return the rows with a number up to a bound. The numbers of the words rise with them."""
        return self._by_word.first(bisect_right(self.values, bound))

    def below(self, bound: float) -> Rows:
        """Return the rows with a number below a bound."""
        return self._by_word.first(bisect_left(self.values, bound))

    @property
    def stated(self) -> Rows:
        """Return the rows with a word."""
        return self._by_word.stated

    @property
    def above_zero(self) -> Rows:
        """Return the rows with a number above 0."""
        if self.values:
            return self.stated & ~self.up_to(0)
        return self.having([*((number_in(word) or 0) > 0 for word in self.words), False])

    def largest_code(self, rows: Rows) -> int:
        """Return the largest code of the given rows; NOT_REPORTED if none of them has a word."""
        row = self._by_word.last_of(rows)
        return NOT_REPORTED if row is None else self.codes[row]

    def having(self, wanted: Iterable[object]) -> Rows:
        """Return the rows whose word is wanted; the last flag is for rows without a word."""
        found = 0
        for rows, is_wanted in zip(self.sets, wanted, strict=True):
            if is_wanted:
                found |= rows
        return found

    def of(self, word: str) -> Rows:
        """Return the rows that have a word."""
        return self.sets[self.words.index(word)] if word in self.words else 0

    def word(self, row: int) -> str:
        """Return the text of a row; empty if it is not reported."""
        code = self.codes[row]
        return "" if code == NOT_REPORTED else self.words[code]

    def value(self, row: int) -> int | float | None:
        """Return the number of a row; None if it is not reported."""
        code = self.codes[row]
        return None if code == NOT_REPORTED else self.values[code]


@dataclass(frozen=True)
class ColumnEncoding:
    """The encoding of a column: the sort key and text of each row, and the values and options of its words.

    `text_of_key` makes the text from the sort key; `pair` returns both at once.
    """

    key: Callable[[Any], Any]
    text: Callable[[Any], str] | None = None
    text_of_key: Callable[[Any], str] = str
    pair: Callable[[Any], SortedText | None] | None = None
    value: Callable[[Any], int | float] | None = None
    option: Callable[[str], str] | None = None
    option_of_key: Callable[[Any], str] | None = None

    def sorted_text(self, row: Any) -> SortedText | None:
        """Return the sort key and text of a row; None if it is not reported."""
        if self.pair:
            return self.pair(row)
        key = self.key(row)
        return None if key is None else (key, self.text(row) if self.text else self.text_of_key(key))

    def values(self, ordered: Sequence[SortedText]) -> Sequence[int | float]:
        """Return the number of each word; nothing if the column is not compared with numbers."""
        if not self.value or not ordered:
            return ()
        numbers = [self.value(key) for key, _ in ordered]
        return array("q" if all(isinstance(number, int) for number in numbers) else "d", numbers)

    def options(self, ordered: Sequence[SortedText]) -> tuple[str, ...]:
        """Return the short code of each word; nothing if no filter uses the column."""
        if self.option_of_key:
            return tuple(self.option_of_key(key) for key, _ in ordered)
        return tuple(self.option(text) for _, text in ordered) if self.option else ()


@dataclass(frozen=True)
class ColumnStore:
    """All public results as columns, in the order of drives' names; `remarks` has only rows with remarks."""

    version: str
    count: int
    runs: tuple[str, ...]
    slugs: tuple[str, ...]
    columns: dict[str, EncodedColumn]
    names: Names
    remarks: dict[int, list[tuple[str, str, str]]] = field(default_factory=dict)
    cache: dict[object, Any] = field(default_factory=dict)
    last_used: dict[object, Any] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)
    computing: dict[object, Any] = field(default_factory=dict)  # a lock for each key

    @property
    def all_rows(self) -> Rows:
        """Return the set of all rows."""
        return (1 << self.count) - 1

    @property
    def rows_by_product(self) -> dict[str, list[int]]:
        """Return the rows of each product by its slug, in the order of names."""

        def read() -> dict[str, list[int]]:
            found: dict[str, list[int]] = {}
            for row, slug in enumerate(self.slugs):
                found.setdefault(slug, []).append(row)
            return found

        return self.cached("rows by product", read)

    def cached(self, key: object, read: Callable[[], T]) -> T:
        """Return the cached result of a key. The first call computes it with `read`; other threads wait for its result.

        Each key has its own lock, because `read` may use results of other keys.
        """
        found: T | Missing = self.cache.get(key, MISSING)
        if isinstance(found, Missing):
            with self.lock:
                computing = self.computing.setdefault(key, RLock())
            with computing:
                found = self.cache.get(key, MISSING)
                if isinstance(found, Missing):
                    found = self.cache[key] = read()
        return found

    def recent(self, key: object, read: Callable[[], T]) -> T:
        """Return the result of a key as `cached` does, but keep only the last used ones: queries are countless."""
        with self.lock:
            found = self.last_used.pop(key, None)
        result: T = read() if found is None else found
        with self.lock:
            self.last_used[key] = result
            while len(self.last_used) > LAST_USED_COUNT:
                del self.last_used[next(iter(self.last_used))]
        return result

    def forget_results(self) -> None:
        """Drop all cached results. Many refer to the store, which would stay in memory until all garbage is collected.

        Requests that still use the store compute what they need again, and keep it as before.
        """
        with self.lock:
            self.cache.clear()
            self.last_used.clear()
