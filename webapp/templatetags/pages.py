"""Tags and filters of the pages.

{% compare_bar %}                                              the bar below a table that compares the selected runs
<a class="means" href="{% meaning 'tps' %}">Speed</a>          the head of a column
<a class="means" href="{% term 'worst slice' %}">...</a>    a term of the glossary
{% operator as operator %}                                     who runs the register, with the contact
{% data_licence %}                                             the licence of the data, as the footer states it
{% price_panel priced_drives %}                                the reader's prices, which only the browser knows
{% symbols %} {% glyph "s2" "open" %}                          outlines of marks (once a page); one mark
{% jump_list %}<h2 id="a">A</h2>...{% endjump_list %}           links to the headings of this content, before it
                                                               (folded on a phone with is_folded=True)
{{ submission.log|file_name }}                                 the name of a stored file, unless it is hidden
{{ run|member_name }}                                          the name of a log in its archive, unless that is hidden
{{ evidence.sha256|breakable }}                                a long code with places where a line may break
{% publication_source "micron-7400-brief" %}    {% certification_source %}
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django import forms, template
from django.conf import settings
from django.forms import BoundField
from django.utils.html import escape, format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString, mark_safe

from results.access.withholding import visible_member, visible_name
from results.catalogue.rows import CERTIFICATION_PAGE, PublishedSource, published_sources
from results.models import Evidence
from webapp.register.about.operator import operator
from webapp.register.compare.query import FEWEST, MOST
from webapp.register.explain.glossary_text import term_address
from webapp.register.landscape.page_svg import glyph_html
from webapp.register.svg.marks import symbols_svg
from webapp.register.tables.meanings import meaning_address
from webapp.register.tables.prices import PricedDrive
from webapp.stylesheet import stylesheet_address

register = template.Library()
register.simple_tag(meaning_address, name="meaning")
register.simple_tag(operator)
register.simple_tag(term_address, name="term")
register.simple_tag(stylesheet_address, name="stylesheet")
register.simple_tag(symbols_svg, name="symbols")
register.simple_tag(glyph_html, name="glyph")

# A heading with an id; what follows its name, in a lighter tone, is no part of the name.
HEADING = re.compile(r'<h2[^>]* id="([^"]+)"[^>]*>(.*?)(?: *<span class="aside|</h2>)', re.DOTALL)
AFTER_SEPARATOR = re.compile(r"(?<=[/_=&?,])(?=[^/_=&?,])")
BLANKS = re.compile(r"(\s+)")
LONGEST_WORD = 20  # a shorter code, or a shorter word of a code, never breaks
PIECE = 8


@register.filter
def file_name(evidence: Evidence) -> str:
    """Return the name of a stored file; of a hidden one, that it is hidden."""
    return visible_name(evidence) or "hidden file"


register.filter("member_name", visible_member)


@register.simple_tag
def data_licence() -> str:
    """Return the licence of the data, as the operator states it."""
    return str(settings.DATA_LICENCE)


@register.inclusion_tag("register/compare/bar.html", takes_context=True)
def compare_bar(context: template.Context) -> dict[str, Any]:
    """Show the bar, with the numbers of runs that can be compared and the limits of the page."""
    return {"fewest": FEWEST, "most": MOST, "limits": context.get("limits")}


@register.inclusion_tag("register/prices/panel.html")
def price_panel(drives: Sequence[PricedDrive] = (), file: str = "", *, not_comparable: str = "") -> dict[str, Any]:
    """Show the reader's prices of some drives, and the price list.

    `file` is the data file of a page with tables of drives, which then may have a column of prices. `not_comparable` is
    set if the speeds of the drives do not compare: then no price per speed is the lowest.
    """
    return {"drives": drives, "file": file, "not_comparable": not_comparable}


@register.filter
def paired(first: Iterable[Any], second: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Return the items of two lists of one length in pairs, for a loop over both."""
    return list(zip(first, second, strict=True))


@register.filter
def may_be_left_empty(field: BoundField) -> bool:
    """Return whether a field is optional and can be left empty.

    A check box and a list without an empty choice cannot: browsers always send a value for them.
    """
    if field.field.required or isinstance(field.field, forms.BooleanField):
        return False
    widget = field.field.widget
    return not isinstance(widget, forms.Select) or any(value in {"", None} for value, _ in widget.choices)


@register.inclusion_tag("register/tables/published_source.html")
def publication_source(source: str) -> dict[str, PublishedSource | None]:
    """Show the publication, with its address and the day of retrieval if they were recorded."""
    return {"source": published_sources().get(source)}


@register.inclusion_tag("register/tables/published_source.html")
def certification_source() -> dict[str, PublishedSource | None]:
    """Show the page that the published ACT results are from."""
    return {"source": published_sources()[CERTIFICATION_PAGE]}


@register.simple_block_tag
def jump_list(content: SafeString, *, is_folded: bool = False) -> SafeString:
    """Show links to the headings of the content before the content. Headings without an id have no link.

    A folded list is closed on a phone, where many links would fill the first screen.
    """
    parts = [(anchor, mark_safe(strip_tags(name).strip())) for anchor, name in HEADING.findall(content)]  # noqa: S308 - rendered
    links = format_html_join(" ", '<a href="#{}">{}</a>', parts)
    shown = (
        format_html('<details class="open-wide"><summary>On this page</summary> {}</details>', links)
        if is_folded
        else format_html("<b>On this page</b> {}", links)
    )
    return format_html('<nav class="jump on-screen" aria-label="On this page">{}</nav>{}', shown, content)


@register.filter
def breakable(code: str) -> SafeString:
    """Return a long code (a hash, a path, an address), or a text with such codes, with places where a line may break.

    >>> breakable("act/load_30x_second_day.txt")
    'act/<wbr>load_<wbr>30x_<wbr>second_<wbr>day.txt'
    """
    return mark_safe("".join(map(_breakable_word, BLANKS.split(code))))  # noqa: S308 - each piece is escaped


def _breakable_word(code: str) -> str:
    """Return one word as HTML, escaped, with places where a line may break."""
    pieces: list[str] = []
    for word in AFTER_SEPARATOR.split(code) if len(code) > LONGEST_WORD else [code]:
        size = PIECE if len(word) > LONGEST_WORD else LONGEST_WORD
        pieces += [word[start : start + size] for start in range(0, len(word), size)]
    return "<wbr>".join(map(escape, pieces))
