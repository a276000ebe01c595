"""Search by name that forgives one typing error and knows other names of makers.

Every word asked for must stand in a drive's names. A word that stands in no drive's names at all is taken for a typing
error, and stands for the names that are one letter away; a word that stands in some is taken as it is, so that P4610
never finds a P4510.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

WORDS = re.compile(r"[^\W_]+")
SHORTEST_FORGIVEN = 4  # a word of three letters is one error away from too many
LONGEST_QUERY = 100
SEARCHED = ("vendor", "model", "part_number", "capacity_gb")
OTHER_NAMES = {
    "western digital": ("wd", "wdc"),
    "kioxia": ("toshibamemory",),
    "smart iops": ("smartiops",),
    "sk hynix": ("hynix", "skhynix"),
    "aws": ("amazon", "ec2"),
    "gcp": ("google",),
    "azure": ("microsoft",),
}  # by the maker's name in lower case; docs/exports.md names them


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> words_of("Ultrastar DC SN-840, 3.2 TB")
    ['ultrastar', 'dc', 'sn', '840', '3', '2', 'tb']
    """
    return WORDS.findall(text.lower())


def searched_text(parts: Iterable[str], other_names: Iterable[str] = ()) -> str:
    """Return what a drive is found by: each name without its blanks, and the names of its maker."""
    return " ".join(["".join(words_of(part)) for part in parts if part] + list(other_names))


def is_one_error_away(word: str, other: str) -> bool:
    """Tell whether one letter added, left out, replaced, or two neighbours swapped make one word of the other.

    >>> [is_one_error_away("p4610", other) for other in ("p461", "p46l0", "p4160", "p46100", "p4610", "p5510")]
    [True, True, True, True, False, False]
    """
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    start = next((place for place, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    if start is None:
        return True  # one is the beginning of the other, with a letter more
    rest, other_rest = word[start:], other[start:]
    swapped = rest[:2] == other_rest[1::-1] and len(other_rest) > 1 and rest[2:] == other_rest[2:]
    return swapped or rest[1:] == other_rest[1:] or rest[1:] == other_rest or rest == other_rest[1:]


@dataclass(frozen=True)
class Names:
    """What the rows of a shelf are found by."""

    texts: tuple[str, ...]
    words: tuple[str, ...]

    def meant(self, word: str) -> tuple[str, ...]:
        """Return the words that a word asked for stands for: itself, or those that are one typing error away."""
        if any(word in text for text in self.texts) or len(word) < SHORTEST_FORGIVEN:
            return (word,)
        return tuple(other for other in self.words if is_one_error_away(word, other)) or (word,)


def names_of(rows: Iterable[tuple[str, ...]]) -> Names:
    """Return what rows are found by; a row is its maker first, then its other names."""
    parted = list(rows)
    texts = tuple(searched_text(parts, OTHER_NAMES.get(parts[0].lower(), ())) for parts in parted)
    told = {part for parts in parted for part in parts}
    known = {word for part in told for word in [*words_of(part), "".join(words_of(part))] if word}
    return Names(texts, tuple(sorted(known.union(*OTHER_NAMES.values()))))


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
