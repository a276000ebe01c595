"""Pieces of table rows as HTML. Python code and scripts fill the same `<template>` elements (static/js/parts.js).

A slot `{name}` takes a text, which is escaped; a slot `{name_html}` takes HTML. Django's own templates take five times
as long for the thousand cells of a page.
"""

import re
from functools import cache
from html import escape

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

FILES = ("register/tables/parts/marks.html", "register/tables/parts/cells.html")
PART = re.compile(r'<template data-part="([a-z-]+)">(.*?)</template>')


@cache
def _parts() -> dict[str, str]:
    return dict(PART.findall("".join(map(render_to_string, FILES))))


def fill(part: str, **slots: str) -> SafeString:
    """Return a piece of HTML with its slots filled."""
    texts = {name: text if name.endswith("_html") else escape(text) for name, text in slots.items()}
    return SafeString(_parts()[part].format_map(texts))
