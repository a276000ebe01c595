"""The meaning of each column of the tables, which the head of the column links to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.urls import reverse

PAGE = settings.BASE_DIR / "docs" / "reference" / "columns.md"
ROW = re.compile(r"^\| `(?P<code>\w+)` \| (?P<head>.+?) \| (?P<text>.+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Meaning:
    """The meaning of a column; `code` is its anchor on the page, and never changes."""

    code: str
    head: str
    text: str


def _sections(document: str) -> Iterator[tuple[str, tuple[Meaning, ...]]]:
    """Yield the title and the meanings of each section of the document."""
    for section in document.split("\n## ")[1:]:
        yield section.partition("\n")[0], tuple(Meaning(**row.groupdict()) for row in ROW.finditer(section))


SECTIONS = tuple(_sections(PAGE.read_text(encoding="utf-8")))
ALL = tuple(meaning for _, meanings in SECTIONS for meaning in meanings)
BY_CODE = {meaning.code: meaning for meaning in ALL}


@cache  # a page calls this twice for each column, and reverse() is slow
def meaning_address(code: str) -> str:
    """Return the address of a column's meaning. Raises ValueError for a code without one: each head needs one."""
    if code not in BY_CODE:
        raise ValueError(f"{code}: expected the code of a column in docs/reference/columns.md")
    return f"{reverse('explain')}#{code}"
