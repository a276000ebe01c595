"""Drives of the register for a name that it does not have: drives of the same maker, or drives with a similar name."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz, process

from webapp.register.http.query_params import words_of
from webapp.register.tables.other_names import MAKERS

SIMILAR_SLUG_PCT = 70  # of two slugs, for one to be offered instead of the other
SIMILAR_FROM = 72  # of 100: P5520 is similar to P5510, and "toaster 9000" to no drive of the published table


@dataclass(frozen=True)
class KnownDrive:
    """A drive of the register; `key` identifies it for the caller."""

    key: str
    vendor: str
    model: str

    @cached_property
    def text(self) -> str:
        """Return the words of the model as one text."""
        return " ".join(words_of(self.model))


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of a searched drive, the most similar first; `maker` is empty if the search names no maker.

    `capacity` is the nearest capacity, if no drive with the searched names has the searched one. The names of the first
    `similar` drives are similar; the others only have the same maker. `is_other_model`: the search names a model, and
    the names of all these drives differ from it by one letter or digit.
    """

    maker: str
    drives: tuple[KnownDrive, ...]
    capacity: str = ""
    similar: int = 0
    is_other_model: bool = False


def neighbours_of(words: Sequence[Collection[str]], known: Sequence[KnownDrive]) -> Neighbours:
    """Return the neighbours of a search; each of its words is given with its corrections.

    If the search names a maker of the register, these are all drives of the maker, otherwise the drives whose names
    are similar.
    """
    maker = _named_maker(words, known)
    rest = " ".join(next(iter(each)) for each in words if not _makers_words(each) & set(words_of(maker)))
    candidates = [drive for drive in known if drive.vendor == maker] if maker else known
    scored = [(fuzz.WRatio(rest, drive.text) if rest else 0.0, drive) for drive in candidates]
    near = [(score, drive) for score, drive in scored if maker or score >= SIMILAR_FROM]
    near.sort(key=lambda pair: (-pair[0], pair[1].vendor.casefold(), pair[1].model.casefold()))
    similar = sum(score >= SIMILAR_FROM for score, _ in near)
    return Neighbours(maker, tuple(drive for _, drive in near), similar=similar)


def similar_slugs(typed: str, slugs: Iterable[str], most: int) -> list[str]:
    """Return the slugs most similar to a typed one, the most similar first."""
    similar = process.extract(typed, slugs, scorer=fuzz.ratio, limit=most, score_cutoff=SIMILAR_SLUG_PCT)
    return [slug for slug, _, _ in similar]


def _named_maker(words: Sequence[Collection[str]], known: Sequence[KnownDrive]) -> str:
    """Return the maker of which every word is in the search, also under another name of it; empty if there is none."""
    named = set().union(*map(_makers_words, words))
    vendors = sorted({drive.vendor for drive in known}, key=len, reverse=True)
    return next((vendor for vendor in vendors if words_of(vendor) and named.issuperset(words_of(vendor))), "")


def _makers_words(alternatives: Collection[str]) -> set[str]:
    return {part for word in alternatives for part in MAKERS.get(word, word).split()}
