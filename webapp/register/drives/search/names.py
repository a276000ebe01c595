"""Search by name that forgives one typing error and knows other names of makers.

Every word asked for must stand in a drive's names. A word that stands in no drive's names at all is taken for a typing
error, and stands for the names that are one letter away; a word that stands in some is taken as it is, so that P4610
never finds a P4510.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from webapp.register.drives.search.fuzzy_match import NearWords
from webapp.register.tables.makers import OTHER_NAMES

WORDS = re.compile(r"[^\W_]+")
SHORTEST_FORGIVEN = 4  # a word of three letters is one error away from too many
LONGEST_QUERY = 100
SEARCHED = ("vendor", "model", "part_number", "capacity_gb")


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> words_of("Ultrastar DC SN-840, 3.2 TB")
    ['ultrastar', 'dc', 'sn', '840', '3', '2', 'tb']
    """
    return WORDS.findall(text.lower())


def searched_text(parts: Iterable[str], other_names: Iterable[str] = ()) -> str:
    """Return what a drive is found by: each name without its blanks, and the names of its maker."""
    return " ".join(["".join(words_of(part)) for part in parts if part] + list(other_names))


def names_text(names: Sequence[str]) -> str:
    """Return what a drive is found by: its names, the maker's first, and the maker's other names."""
    return searched_text(names, OTHER_NAMES.get(names[0].lower(), ()))


@dataclass(frozen=True)
class Names:
    """What the rows of a shelf are found by: a text for each row, and each of their names once."""

    texts: tuple[str, ...]
    parts: tuple[str, ...]

    @cached_property
    def words(self) -> NearWords:
        """The words that a typing error may stand for; wanted only where a word asked for is in no name."""
        known = {word for part in self.parts for word in [*words_of(part), "".join(words_of(part))] if word}
        return NearWords(known.union(*OTHER_NAMES.values()))

    def meant(self, word: str) -> tuple[str, ...]:
        """Return the words that a word asked for stands for: itself, or those that are one typing error away."""
        if any(word in text for text in self.texts) or len(word) < SHORTEST_FORGIVEN:
            return (word,)
        return self.words.near(word) or (word,)


@dataclass(frozen=True)
class Found:
    """What a search is taken for: the words as they are read, one group for each word asked for."""

    asked: tuple[str, ...]
    meant: tuple[tuple[str, ...], ...]

    @property
    def sentence(self) -> str:
        """Say which words were taken for typing errors; empty where none was."""
        read = [
            f"{word} as {' or '.join(others)}"
            for word, others in zip(self.asked, self.meant, strict=True)
            if others != (word,)
        ]
        return f"In no name, so read as one letter away: {'; '.join(read)}." if read else ""

    def holds(self, text: str) -> bool:
        """Tell whether a drive's names have every word."""
        return all(any(word in text for word in others) for others in self.meant)


def search(names: Names, query: str) -> Found:
    """Return what a query means among names."""
    asked = tuple(dict.fromkeys(words_of(query)))
    return Found(asked, tuple(names.meant(word) for word in asked))
