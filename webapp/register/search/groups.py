"""The entries of the site that match a search, in short groups.

Every word of the search must begin a word of the entry; the words of a question, as in "what is DWPD", are ignored. A
plural also finds its singular. If
no entry has a word, its letters may be mistyped: then the words that differ by one letter replace it. A word with a
digit is never replaced, because P4610 is not P4510.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from webapp.register.http.query_params import words_of
from webapp.register.products.name_search import SHORTEST_CORRECTED, one_error_away
from webapp.register.search.entries import (
    CLAIMS,
    PUBLICATIONS,
    SearchEntry,
    SearchSection,
    padded_words,
    search_sections,
)
from webapp.templatetags import units

SHOWN_AT_MOST = 5
IGNORED = {"a", "an", "and", "are", "do", "does", "for", "how", "is", "of", "the", "to", "what", "which", "why"}

Alternatives = tuple[tuple[str, ...], ...]  # for each word of a search, the words that match it


@dataclass(frozen=True)
class FoundGroup:
    """The entries of a section that match a search, in order."""

    section: SearchSection
    entries: Sequence[SearchEntry]
    has_title: bool  # whether the title of an entry has all words of the search
    is_named: bool  # whether a name of the first entry is the search

    @property
    def shown(self) -> Sequence[SearchEntry]:
        """Return the entries that the page shows."""
        return self.entries[:SHOWN_AT_MOST]

    @property
    def counted(self) -> str:
        """Return the number of entries with its noun."""
        return units.counted(len(self.entries), self.section.noun)

    @property
    def list_address(self) -> str:
        """Return the page that lists more entries, if not all are shown; for claims of one publication its own list."""
        publications = {entry.publication for entry in self.entries}
        if len(self.entries) == len(self.shown):
            return ""
        if self.section.anchor == CLAIMS and len(publications) == 1:
            return f"{self.section.list_address}?brief={publications.pop()}"
        return self.section.list_address


@cache
def _title_words(entry: SearchEntry) -> str:
    return padded_words([entry.title, entry.other_names])


@cache
def _all_words(entry: SearchEntry) -> str:
    return padded_words([entry.title, entry.other_names, entry.detail, entry.keywords])


def found_groups(query: str) -> list[FoundGroup]:
    """Return the groups with an entry that matches a search, those first that have an entry with this name."""
    words = [word for word in dict.fromkeys(words_of(query)) if word not in IGNORED]
    if not words:
        return []
    sections = search_sections()
    alternatives = _alternatives(words, [entry for section in sections for entry in section.entries])
    groups = [_found_group(section, alternatives) for section in sections]
    return sorted((group for group in groups if group.entries), key=lambda group: not group.is_named)


def _found_group(section: SearchSection, alternatives: Alternatives) -> FoundGroup:
    """Return the entries of a section that match, those first whose title is the search, or has all its words."""
    found = [entry for entry in section.entries if _matches(_all_words(entry), alternatives)]
    ranked = sorted(found, key=lambda entry: _rank(entry, alternatives))
    best = _rank(ranked[0], alternatives) if ranked else 2
    return FoundGroup(section, ranked, has_title=best < 2, is_named=best == 0)


def entries_named(query: str) -> list[SearchEntry]:
    """Return the entries whose title or another name has all words of a search, in the order of the sections."""
    alternatives = tuple(map(_with_singular, words_of(query)))
    entries = (entry for section in search_sections() for entry in section.entries)
    return [entry for entry in entries if alternatives and _matches(_title_words(entry), alternatives)]


def named_groups(groups: Sequence[FoundGroup]) -> list[FoundGroup]:
    """Return the groups of publications and claims, if a title of one of them has all words of the search."""
    found = [group for group in groups if group.section.anchor in {PUBLICATIONS, CLAIMS}]
    return found if any(group.has_title for group in found) else []


def _rank(entry: SearchEntry, alternatives: Alternatives) -> int:
    """Return 0 if a name of an entry is the search, 1 if its title has all words of the search, otherwise 2."""
    if not _matches(_title_words(entry), alternatives):
        return 2
    names = (padded_words([name]) for name in f"{entry.title},{entry.other_names}".split(","))
    return int(not any(len(name.split()) == len(alternatives) and _matches(name, alternatives) for name in names))


def _matches(words: str, alternatives: Alternatives) -> bool:
    return all(any(f" {word}" in words for word in others) for others in alternatives)


def _alternatives(words: Sequence[str], entries: Sequence[SearchEntry]) -> Alternatives:
    """Return for each word the word itself and its singular if an entry has it, or the words one typing error away."""
    missing = [word for word in words if not any(f" {word}" in _all_words(entry) for entry in entries)]
    if not any(map(_is_correctable, missing)):
        return tuple(_with_singular(word) for word in words)
    known = {known for entry in entries for known in _all_words(entry).split()}
    return tuple(
        (one_error_away(word, known) if word in missing and _is_correctable(word) else ()) or _with_singular(word)
        for word in words
    )


def _with_singular(word: str) -> tuple[str, ...]:
    """Return a word, and the whole word that it is the plural of, if it may be one.

    >>> _with_singular("reads"), _with_singular("class"), _with_singular("tps")
    (('reads', 'read '), ('class',), ('tps',))
    """
    is_plural = len(word) >= SHORTEST_CORRECTED and word.endswith("s") and not word.endswith("ss")
    return (word, f"{word[:-1]} ") if is_plural else (word,)


def _is_correctable(word: str) -> bool:
    return word.isalpha() and len(word) >= SHORTEST_CORRECTED
