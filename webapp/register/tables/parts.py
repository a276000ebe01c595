"""Pieces of table rows as HTML. Python code and scripts fill the same `<template>` elements (static/js/parts.js).

A slot `{name}` takes a text, which is escaped; a slot `{name_html}` takes HTML. Django's own templates take five times
as long for the thousand cells of a page.
"""

import re
from functools import cache
from html import escape

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

FILES = (
    "register/tables/parts/marks.html",
    "register/tables/parts/cells.html",
    "register/landscape/parts.html",
)
PART = re.compile(r'<template data-part="([a-z-]+)">(.*?)</template>')
SLOT = re.compile(r"\{(\w+)\}")


@cache
def _parts() -> dict[str, tuple[str, list[tuple[str, bool, str]]]]:
    """Return each part: the text before its slots, and each slot with whether it takes HTML, and the text after it."""
    parts = {}
    for name, template in PART.findall("".join(map(render_to_string, FILES))):
        before, *rest = SLOT.split(template)
        slots = zip(rest[::2], rest[1::2], strict=True)
        parts[name] = before, [(slot, slot.endswith("_html"), after) for slot, after in slots]
    return parts


def fill(part: str, **slots: str) -> SafeString:
    """Return a piece of HTML with its slots filled."""
    html, rest = _parts()[part]
    for slot, is_html, after in rest:
        html += (slots[slot] if is_html else escape(slots[slot])) + after
    return SafeString(html)


@cache
def format_of(part: str) -> str:
    """Return a part as a format string, for thousands of pieces. The caller escapes what is not known to be safe."""
    before, rest = _parts()[part]
    return before + "".join(f"{{{slot}}}{after}" for slot, _, after in rest)
