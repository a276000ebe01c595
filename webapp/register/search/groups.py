"""The texts that match a search, in short groups.

Every word of the search must begin a word of the text; the words of a question, as in "what is DWPD", are ignored. If
no text has a word, its letters may be mistyped: then the words that differ by one letter replace it. A word with a
digit is never replaced, because P4610 is not P4510.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from webapp.register.http.query_params import words_of
from webapp.register.products.name_search import SHORTEST_CORRECTED, one_error_away
from webapp.register.search.texts import CLAIMS, PUBLICATIONS, Source, Text, padded_words, sources
from webapp.templatetags import units

SHOWN_AT_MOST = 5
IGNORED = {"a", "an", "and", "are", "do", "does", "for", "how", "is", "of", "the", "to", "what", "which", "why"}

Alternatives = tuple[tuple[str, ...], ...]  # for each word of a search, the words that match it


@dataclass(frozen=True)
class FoundGroup:
    """The texts of a source that match a search, in order."""

    source: Source
    texts: Sequence[Text]
    has_title: bool  # whether the title of a text has all words of the search

    @property
    def shown(self) -> Sequence[Text]:
        """Return the texts that the page shows."""
        return self.texts[:SHOWN_AT_MOST]

    @property
    def counted(self) -> str:
        """Return the number of texts with its noun."""
        return units.counted(len(self.texts), self.source.noun)

    @property
    def list_address(self) -> str:
        """Return the page that lists more texts, if not all are shown; for claims of one publication their own list."""
        publications = {text.publication for text in self.texts}
        if len(self.texts) == len(self.shown):
            return ""
        if self.source.anchor == CLAIMS and len(publications) == 1:
            return f"{self.source.list_address}?brief={publications.pop()}"
        return self.source.list_address


@cache
def _title_words(text: Text) -> str:
    return padded_words([text.title])


@cache
def _all_words(text: Text) -> str:
    return padded_words([text.title, text.detail, text.more])


def found_groups(query: str) -> list[FoundGroup]:
    """Return the groups with a text that matches a search."""
    words = [word for word in dict.fromkeys(words_of(query)) if word not in IGNORED]
    if not words:
        return []
    listed = sources()
    alternatives = _alternatives(words, [text for source in listed for text in source.texts])
    groups = [_found_group(source, alternatives) for source in listed]
    return [group for group in groups if group.texts]


def _found_group(source: Source, alternatives: Alternatives) -> FoundGroup:
    """Return the texts of a source that match, those first whose title is the search, or has all its words."""
    found = [text for text in source.texts if _matches(_all_words(text), alternatives)]
    ranked = sorted(found, key=lambda text: _rank(_title_words(text), alternatives))
    return FoundGroup(source, ranked, bool(ranked) and _matches(_title_words(ranked[0]), alternatives))


def named_groups(groups: Sequence[FoundGroup]) -> list[FoundGroup]:
    """Return the groups of publications and claims, if a title of one of them has all words of the search."""
    found = [group for group in groups if group.source.anchor in {PUBLICATIONS, CLAIMS}]
    return found if any(group.has_title for group in found) else []


def _rank(title: str, alternatives: Alternatives) -> int:
    if not _matches(title, alternatives):
        return 2
    return 0 if len(title.split()) == len(alternatives) else 1


def _matches(words: str, alternatives: Alternatives) -> bool:
    return all(any(f" {word}" in words for word in others) for others in alternatives)


def _alternatives(words: Sequence[str], texts: Sequence[Text]) -> Alternatives:
    """Return the word itself if a text has it, otherwise the words one typing error away."""
    missing = [word for word in words if not any(f" {word}" in _all_words(text) for text in texts)]
    if not any(map(_is_correctable, missing)):
        return tuple((word,) for word in words)
    known = {known for text in texts for known in _all_words(text).split()}
    return tuple(
        (one_error_away(word, known) if word in missing and _is_correctable(word) else ()) or (word,) for word in words
    )


def _is_correctable(word: str) -> bool:
    return word.isalpha() and len(word) >= SHORTEST_CORRECTED
