"""The entries that a search finds besides drives: publications, claims, terms, columns and pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape

from django.urls import reverse
from django.utils.html import strip_tags
from django.utils.text import Truncator, capfirst

from results.models import PublishedFigure
from webapp.register.explain.glossary_text import glossary_sections
from webapp.register.explain.sections import explanation_sections
from webapp.register.explain.site_pages import SITE_PAGES
from webapp.register.http.query_params import words_of
from webapp.register.tables.meanings import ALL, meaning_address
from webapp.register.ycsb.claims.entries import ClaimEntry, entries, entries_of, headline_of
from webapp.register.ycsb.claims.sentences import favours, gives
from webapp.register.ycsb.publications import publication_of

DETAIL_WORDS = 32  # of the detail that is shown
PUBLICATIONS, CLAIMS = "publications", "claims"


@dataclass(frozen=True)
class SearchEntry:
    """A page or a part of it that a search finds by title, detail and keywords; keywords are not shown.

    `publication` is the slug of the publication that it belongs to. `other_names` count as its title does.
    """

    title: str
    address: str
    detail: str
    keywords: str = ""
    publication: str = ""
    other_names: str = ""


@dataclass(frozen=True)
class SearchSection:
    """A part of the search page: its entries, their noun, and the page that lists all of them, with its label."""

    anchor: str
    heading: str
    noun: str
    entries: Sequence[SearchEntry]
    list_address: str = ""
    list_label: str = ""


def search_sections() -> list[SearchSection]:
    """Return all sections, in the order in which the page shows them."""
    briefs, claims, glossary = reverse("ycsb"), reverse("ycsb-claims"), reverse("explain-glossary")
    return [
        SearchSection(PUBLICATIONS, "Publications", "publication", _publications(), briefs, "All publications"),
        SearchSection(CLAIMS, "Claims of publications", "claim", _claims(), claims, "All claims"),
        SearchSection("terms", "Terms and columns", "term", _terms(), glossary, "All terms"),
        SearchSection("pages", "Pages and explanations", "page", _pages()),
    ]


def _publications() -> Sequence[SearchEntry]:
    """Return the publications whose figures are in the register: only those have a page."""
    slugs = PublishedFigure.objects.order_by("publication").values_list("publication", flat=True).distinct()
    return [_publication(slug) for slug in slugs]


@cache
def _publication(slug: str) -> SearchEntry:
    publication, claims = publication_of(slug), entries_of(slug)
    source = claims[0].source if claims else None
    names = f"{slug} {source.publisher} {source.title} {source.printed_title}" if source else slug
    publisher = source.publisher if source else ""
    detail = f"{publisher}: {headline_of(claims).sentence}".removeprefix(": ") if claims else publication.setup
    address = reverse("ycsb-publication", args=[slug])
    return SearchEntry(publication.title, address, detail, f"{names} {publication.setup}", slug)


@cache
def _claims() -> Sequence[SearchEntry]:
    """Return the claims, contradicted ones first."""
    return [_claim(entry) for entry in sorted(entries(), key=lambda entry: not entry.is_contradicted)]


def _claim(entry: ClaimEntry) -> SearchEntry:
    claim = entry.row.check.claim
    favoured = f" {favours(entry)}" if entry.is_contradicted else ""
    detail = f"{capfirst(entry.status_line)}. {gives(entry)}{favoured} {entry.publication.title}."
    keywords = f"{entry.slug} {entry.source.title} {claim.device} {claim.against}"
    return SearchEntry(entry.assertion, entry.address, detail, keywords, entry.slug)


@cache
def _terms() -> Sequence[SearchEntry]:
    """Return the terms of the glossary, then the columns of the tables, each with its meaning."""
    glossary = reverse("explain-glossary")
    terms = [
        _text_entry(_plain(term.term), f"{glossary}#{section.anchor}-{term.anchor}", _plain(term.meaning))
        for section in glossary_sections()
        for term in section.terms
    ]
    return [*terms, *(_text_entry(column.head, meaning_address(column.code), column.text) for column in ALL)]


@cache
def _pages() -> Sequence[SearchEntry]:
    """Return the pages of the site, then the sections of the explanations."""
    pages = [SearchEntry(page.name, page.address, page.sentence, other_names=page.other_names) for page in SITE_PAGES]
    sections = explanation_sections()
    return [*pages, *(_text_entry(f"{each.page}: {each.title}", each.address, each.text) for each in sections)]


def _text_entry(title: str, address: str, text: str) -> SearchEntry:
    """Return an entry that is found by all words of its text, and shows the first of them."""
    return SearchEntry(title, address, Truncator(text).words(DETAIL_WORDS), text)


def _plain(markup: str) -> str:
    return unescape(strip_tags(markup))


def padded_words(texts: Iterable[str]) -> str:
    """Return the words of some texts with blanks around them, so that a search finds words and their beginnings only.

    >>> padded_words(["Worst slice", "p99.9"])
    ' worst slice p99 9 '
    """
    return f" {' '.join(word for text in texts for word in words_of(text))} "
