"""The words of one column, numbered in the order in which they are first read.

The sort key and the text of a row are computed once, when the row is read. After a change the words are almost in
order, so that a column of 5,000 rows takes one or two milliseconds; an unchanged column is reused.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.register.drives.store.encoded_columns import NOT_REPORTED, ColumnEncoding, EncodedColumn, SortedText

CODE_TYPE = "i"  # four bytes a row


def code_type(words_count: int) -> str:
    """Return the smallest type of an array for the places of so many words, and NOT_REPORTED.

    >>> code_type(128), code_type(129), code_type(32768), code_type(32769)
    ('b', 'h', 'h', 'i')
    """
    return next(code for code, most in (("b", 1 << 7), ("h", 1 << 15), (CODE_TYPE, 1 << 31)) if words_count <= most)


@dataclass
class ColumnWords:
    """All words of a column that were ever read, and the last column made from them."""

    encoding: ColumnEncoding
    texts: list[SortedText] = field(default_factory=list)
    numbers: dict[SortedText, int] = field(default_factory=dict)
    ordered: list[int] = field(default_factory=list)
    rows: "array[int]" = field(default_factory=lambda: array(CODE_TYPE))
    made: EncodedColumn = field(default_factory=lambda: EncodedColumn((), array(CODE_TYPE)))

    def number(self, row: Any) -> int:
        """Return the number of a row's word, NOT_REPORTED if it has none."""
        text = self.encoding.sorted_text(row)
        if text is None:
            return NOT_REPORTED
        number = self.numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def word(self, number: int) -> str:
        """Return the text of a number, empty for NOT_REPORTED."""
        return "" if number == NOT_REPORTED else self.texts[number][1]

    @classmethod
    def restored(cls, encoding: ColumnEncoding, keys: Sequence[Any], made: EncodedColumn) -> "ColumnWords":
        """Return the words of a column that was made earlier, with the sort key of each of its words."""
        texts = list(zip(keys, made.words, strict=True))
        numbers = {text: number for number, text in enumerate(texts)}
        return cls(encoding, texts, numbers, list(range(len(texts))), array(CODE_TYPE, made.codes), made)

    @property
    def keys(self) -> list[Any]:
        """Return the sort keys of the words of the last column, in their order."""
        return [self.texts[number][0] for number in self.ordered]

    def encode(self, rows: "array[int]") -> EncodedColumn:
        """Return the column of rows with these words; the same object as before if nothing has changed."""
        if rows != self.rows:
            used = set(rows) - {NOT_REPORTED}
            known = [number for number in self.ordered if number in used]
            ordered = sorted([*known, *used.difference(known)], key=self.texts.__getitem__)
            places = [NOT_REPORTED] * (len(self.texts) + 1)  # the last place is the one at NOT_REPORTED, -1
            for place, number in enumerate(ordered):
                places[number] = place
            self.made = self._made(ordered, array(code_type(len(ordered)), map(places.__getitem__, rows)))
            self.ordered, self.rows = ordered, rows
        return self.made

    def _made(self, ordered: list[int], codes: "array[int]") -> EncodedColumn:
        if ordered == self.ordered:
            return EncodedColumn(self.made.words, codes, self.made.values, self.made.options)
        texts = [self.texts[number] for number in ordered]
        words = tuple(text for _, text in texts)
        return EncodedColumn(words, codes, self.encoding.values(texts), self.encoding.options(texts))
