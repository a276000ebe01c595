"""Search for products by name. It accepts one typing error and knows other names of makers.

Every word of a query must occur in a product's names. A word that occurs in no product's names counts as a typing
error; the known words that are one letter away and have the same digits replace it. A word with other digits is another
model: PM9A3 is not PM983. Such a word matches nothing; the known words one letter away are its nearest names. A number
without a letter has none, and no capacity replaces a word.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from rapidfuzz.distance import OSA

from webapp.register.http.query_params import words_of
from webapp.register.tables.other_names import OTHER_NAMES

SHORTEST_CORRECTED = 4  # a word of three letters is one error away from too many
SEARCHED_COLUMNS = ("vendor", "model", "part_number", "capacity_gb")
CORRECTED_COLUMNS = SEARCHED_COLUMNS[:3]  # whose words replace a typing error


def one_error_away(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known words that differ by one letter added, left out or replaced, or by two neighbours swapped.

    The words are in alphabetical order.

    >>> one_error_away("p4610", ["p461", "p46l0", "p4160", "p46100", "p4610", "p5510"])
    ('p4160', 'p461', 'p46100', 'p46l0')
    """
    return tuple(sorted({other for other in known if OSA.distance(word, other, score_cutoff=1) == 1}))


def names_text(names: Sequence[str]) -> str:
    """Return the text that a product is found by: each name without its blanks, then other names of maker and model.

    The first of the names is the maker's, the second the model's.
    """
    others = (other for name in names[:2] for other in OTHER_NAMES.get(name.lower(), ()))
    return " ".join((*("".join(words_of(name)) for name in names if name), *others))


@dataclass(frozen=True)
class Names:
    """The names that rows are found by: one text for each row, and once each single name that may correct a word."""

    texts: tuple[str, ...]
    parts: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the words that a typing error may replace. Built only when a searched word is in no name."""
        known = {word for part in self.parts for word in [*words_of(part), "".join(words_of(part))] if word}
        known.update(*OTHER_NAMES.values())
        return tuple(filter(has_letter, known))

    @cached_property
    def different(self) -> tuple[str, ...]:
        """Return each text once: a product has several rows."""
        return tuple(dict.fromkeys(self.texts))

    def having(self, query: "NameQuery") -> Iterable[bool]:
        """Return for each row whether it matches a query."""
        return map(self.matching(query).__contains__, self.texts)

    def matching(self, query: "NameQuery") -> set[str]:
        """Return the different texts that match a query. Only texts with its first word are compared with the others.

        All texts are searched as one, because a call for each takes longer than the search.
        """
        if not query.alternatives:
            return set(self.different)
        found = {text for word in query.alternatives[0] for text in self._with_word(word)}
        return {text for text in found if query.matches(text)}

    @cached_property
    def _together(self) -> tuple[str, list[int]]:
        """Return the different texts, each in a line of its own, and the end of each line."""
        return "\n".join([*self.different, ""]), list(accumulate(len(text) + 1 for text in self.different))

    def _with_word(self, word: str) -> Iterator[str]:
        together, ends = self._together
        place = together.find(word)
        while place >= 0:
            line = bisect_right(ends, place)
            yield self.different[line]
            place = together.find(word, ends[line])

    def alternatives(self, word: str) -> tuple[str, ...]:
        """Return the word itself if it occurs in a name, otherwise the words one typing error away in its letters."""
        return tuple(other for other in self._close(word) if digits_of(other) == digits_of(word)) or (word,)

    def nearest(self, word: str) -> tuple[str, ...]:
        """Return the words one letter away from a word that no name has and that is no typing error of a name."""
        close = self._close(word)
        return () if any(digits_of(other) == digits_of(word) for other in close) else close

    def _close(self, word: str) -> tuple[str, ...]:
        is_comparable = len(word) >= SHORTEST_CORRECTED and has_letter(word)
        if not is_comparable or word in self._together[0]:
            return ()
        return one_error_away(word, self.words)


@dataclass(frozen=True)
class NameQuery:
    """A query as it was read: its words, and for each word the alternatives that match it.

    `nearest` are for each word the nearest names, if it is the name of another model. `used` are those of the
    alternatives that a matching row has; none if no row matches or if no word was corrected.
    """

    words: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    nearest: tuple[tuple[str, ...], ...] = ()
    used: tuple[tuple[str, ...], ...] = ()

    @property
    def sentence(self) -> str:
        """Return how the words were read that were taken for typing errors; empty if none was or no row matches."""
        return " ".join(
            f"No name contains {word}, so it was read as {' or '.join(others)}."
            for word, others in zip(self.words, self.used, strict=False)
            if others != (word,)
        )

    @property
    def note(self) -> str:
        """Return the sentence, and the nearest names of each word that names another model."""
        pairs = zip(self.words, self.nearest, strict=False)
        near = [f"No name contains {word}. Nearest names: {', '.join(others)}." for word, others in pairs if others]
        return " ".join(filter(None, [self.sentence, *near]))

    @property
    def is_other_model(self) -> bool:
        """Return whether a word is the name of another model that has nearest names."""
        return any(self.nearest)

    def matches(self, text: str) -> bool:
        """Return whether a product's names have every word."""
        return all(any(word in text for word in others) for others in self.alternatives)

    def is_near(self, text: str) -> bool:
        """Return whether a product's names have every word, or one of its nearest names instead of it."""
        readings = zip(self.alternatives, self.nearest, strict=True)
        return self.is_other_model and all(any(word in text for word in near or same) for same, near in readings)


def search(names: Names, query: str) -> NameQuery:
    """Return a query as it is read among names."""
    words = tuple(dict.fromkeys(words_of(query)))
    found = NameQuery(words, tuple(map(names.alternatives, words)), tuple(map(names.nearest, words)))
    if found.alternatives == tuple((word,) for word in words):
        return found
    matching = names.matching(found)
    if not matching:
        return found
    used = [[other for other in others if any(other in text for text in matching)] for others in found.alternatives]
    return replace(found, used=tuple(map(tuple, used)))


def digits_of(word: str) -> str:
    """Return the digits of a word, which identify a model.

    >>> digits_of("pm9a3"), digits_of("western")
    ('93', '')
    """
    return "".join(filter(str.isdigit, word))


def has_letter(word: str) -> bool:
    """Return whether a word has a letter.

    >>> has_letter("p4610"), has_letter("4610")
    (True, False)
    """
    return any(map(str.isalpha, word))
