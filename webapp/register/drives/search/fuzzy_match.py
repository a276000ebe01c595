"""Words that are one typing error away from each other, found without holding each against all."""

from collections.abc import Iterable


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


class NearWords:
    """Known words, by what is left of each without one of its letters: two words one error apart share such a rest.

    Source: the deletion neighbourhood of Mor and Fraenkel, "A hash code method for detecting and correcting spelling
    errors", Communications of the ACM 25 (12), 1982.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._by_rest: dict[str, list[str]] = {}
        self._longest = 0
        for word in sorted(set(known)):
            self._longest = max(self._longest, len(word))
            for rest in _rests(word):
                self._by_rest.setdefault(rest, []).append(word)

    def near(self, word: str) -> tuple[str, ...]:
        """Return the known words that are one error away, in the order of the alphabet."""
        if len(word) > self._longest + 1:
            return ()
        alike = {known for rest in _rests(word) for known in self._by_rest.get(rest, ())}
        return tuple(sorted(known for known in alike if is_one_error_away(word, known)))


def _rests(word: str) -> set[str]:
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}
