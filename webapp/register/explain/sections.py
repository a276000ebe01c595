"""The sections of the explanation pages as plain text, read from their templates: the search finds them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape

from django.conf import settings
from django.urls import reverse
from django.utils.html import strip_tags

TEMPLATES = settings.BASE_DIR / "webapp" / "templates" / "register" / "explain"
# Name of the template -> name of the page in the URL configuration, and its title.
PAGES = {
    "reading": ("explain", "How to read these numbers"),
    "rules": ("explain-rules", "The rules"),
    "tools": ("explain-tools", "ACT and YCSB"),
    "generator": ("explain-generator", "The load generator"),
    "submitting": ("explain-submit", "How to run and submit"),
}
SECTION = re.compile(
    r'<h2 id="(?P<anchor>[\w-]+)">(?P<title>.*?)</h2>(?P<body>.*?)(?=<h2|{% end(?:jump_list|block))', re.DOTALL
)
INCLUDE = re.compile(r"{% include [^%]*%}")  # whole paragraphs: the rest of the text is true without them
TEMPLATE_TAG = re.compile(r"{[%{]")
BLOCK = re.compile(r"(?=</?(?:p|h3|li|dt|dd|tr|th|td|pre)\b)")  # where text must not join the text before it


@dataclass(frozen=True)
class ExplanationSection:
    """One section: the title of its page, its own title, its address and its text without markup."""

    page: str
    title: str
    address: str
    text: str


@cache
def explanation_sections() -> Sequence[ExplanationSection]:
    """Return the sections of all explanation pages. The templates are read once."""
    return list(_sections())


def _sections() -> Iterator[ExplanationSection]:
    for template, (name, page) in PAGES.items():
        source = (TEMPLATES / f"{template}.html").read_text(encoding="utf-8")
        for found in SECTION.finditer(source):
            address = f"{reverse(name)}#{found['anchor']}"
            yield ExplanationSection(page, _plain(found["title"]), address, _plain(found["body"]))


def _plain(markup: str) -> str:
    """Return the text of a part of a template; empty if the text has values or conditions, because it may be false."""
    text = strip_tags(BLOCK.sub(" ", INCLUDE.sub(" ", markup)))
    return "" if TEMPLATE_TAG.search(text) else " ".join(unescape(text).split())
