"""docs/glossary.md as a page: headings, tables of terms, and paragraphs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

PAGE = settings.BASE_DIR / "docs" / "glossary.md"
BOLD = re.compile(r"\*\*(.+?)\*\*")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
RULE = re.compile(r"[-|\s:]+")


@dataclass(frozen=True)
class Term:
    """One row: the term with its anchor, and its meaning."""

    anchor: str
    term: SafeString
    meaning: SafeString


@dataclass
class Section:
    """One heading with its terms and paragraphs."""

    title: str
    anchor: str
    terms: list[Term] = field(default_factory=list)
    paragraphs: list[SafeString] = field(default_factory=list)


@cache
def glossary_sections() -> Sequence[Section]:
    """Return the sections of the glossary. The file is read once."""
    return list(_sections(PAGE.read_text(encoding="utf-8").splitlines()))


@cache  # a page calls this for several terms, and reverse() is slow
def term_address(name: str) -> str:
    """Return the address of a term's meaning. Raises ValueError for a term that the glossary lacks."""
    for section in glossary_sections():
        for term in section.terms:
            if f"<b>{name}</b>" in term.term:
                return f"{reverse('explain-glossary')}#{section.anchor}-{term.anchor}"
    raise ValueError(f"{name}: expected a term of docs/glossary.md")


def _sections(lines: Sequence[str]) -> Iterator[Section]:
    section, open_paragraph = None, []
    for line in [*lines, "## "]:
        if line.startswith("## "):
            if section:
                _close(section, open_paragraph)
                yield section
            section = Section(line[3:].strip(), slug(line[3:]))
        elif section and line.startswith("|"):
            _add_row(section, line)
        elif section and line.strip():
            open_paragraph.append(line.strip())
        elif section:
            _close(section, open_paragraph)


def _close(section: Section, open_paragraph: list[str]) -> None:
    if open_paragraph:
        section.paragraphs.append(marked(" ".join(open_paragraph)))
        open_paragraph.clear()


def _add_row(section: Section, line: str) -> None:
    if RULE.fullmatch(line):
        section.terms.pop()  # the row before the rule is the header of the table
        return
    term, _, meaning = line.strip().strip("|").partition("|")
    section.terms.append(Term(slug(term), marked(term.strip()), marked(meaning.strip())))


def slug(text: str) -> str:
    """Return a term as an anchor.

    >>> slug("**load test**, **stress test**")
    'load-test-stress-test'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


def marked(text: str) -> SafeString:
    """Return a line as escaped HTML with bold words and code. Links become plain text."""
    plain = str(escape(LINK.sub(r"\1", text)))
    shown = CODE.sub(r"<code>\1</code>", BOLD.sub(r"<b>\1</b>", plain))
    return mark_safe(shown)  # noqa: S308 - of our own file, escaped above
