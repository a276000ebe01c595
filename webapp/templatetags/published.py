"""Tags that name the publication of figures.

{% load published %}    {% publication_source "micron-7400-brief" %}    {% certification_source %}
"""

from django import template

from results.catalogue.rows import CERTIFICATION_PAGE, PublishedSource, published_sources

register = template.Library()
Context = dict[str, PublishedSource | None]


@register.inclusion_tag("register/tables/published_source.html")
def publication_source(source: str) -> Context:
    """Show the publication, with its address and the day of retrieval if they were recorded."""
    return {"source": published_sources().get(source)}


@register.inclusion_tag("register/tables/published_source.html")
def certification_source() -> Context:
    """Show the page that the published ACT results are from."""
    return {"source": published_sources()[CERTIFICATION_PAGE]}
