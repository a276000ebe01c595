"""Tags and filters of the pages.

{% compare_bar %}                                              the bar below a table that compares the selected runs
<a class="means" href="{% meaning 'tps' %}">Speed</a>          the head of a column
{% data_licence %}                                             the licence of the data, as the footer states it
{% price_panel priced_drives %}                                the reader's prices, which only the browser knows
{% symbols %} {% glyph "s2" "open" %}                          outlines of marks (once a page); one mark
{% publication_source "micron-7400-brief" %}    {% certification_source %}
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms, template
from django.conf import settings
from django.forms import BoundField

from results.catalogue.rows import CERTIFICATION_PAGE, PublishedSource, published_sources
from webapp.register.compare.query import FEWEST, MOST
from webapp.register.landscape.page_svg import glyph_html
from webapp.register.svg.marks import symbols_svg
from webapp.register.tables.meanings import meaning_address
from webapp.register.tables.prices import PricedDrive
from webapp.stylesheet import stylesheet_address

register = template.Library()
register.simple_tag(meaning_address, name="meaning")
register.simple_tag(stylesheet_address, name="stylesheet")
register.simple_tag(symbols_svg, name="symbols")
register.simple_tag(glyph_html, name="glyph")


@register.simple_tag
def data_licence() -> str:
    """Return the licence of the data, as the operator states it."""
    return str(settings.DATA_LICENCE)


@register.inclusion_tag("register/compare/bar.html", takes_context=True)
def compare_bar(context: template.Context) -> dict[str, Any]:
    """Show the bar, with the numbers of runs that can be compared and the limits of the page."""
    return {"fewest": FEWEST, "most": MOST, "limits": context.get("limits")}


@register.inclusion_tag("register/prices/panel.html")
def price_panel(drives: Sequence[PricedDrive] = (), file: str = "") -> dict[str, Any]:
    """Show the reader's prices of some drives, and the price list.

    `file` is the data file of a page with tables of drives, which then may have a column of prices.
    """
    return {"drives": drives, "file": file}


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
