"""The tag that says which publication figures come from.

{% load published %}    {% publication_source "micron-7400-brief" %}    {% certification_source %}
"""

from django import template

from results.catalogue.rows import CERTIFICATION_PAGE, PublishedSource, published_sources

register = template.Library()
Context = dict[str, PublishedSource | None]


@register.inclusion_tag("register/published_source.html")
def publication_source(source: str) -> Context:
    """Name the publication, with its address and the day of retrieval where these were recorded."""
    return {"source": published_sources().get(source)}


@register.inclusion_tag("register/published_source.html")
def certification_source() -> Context:
    """Name the page that the published ACT results are from."""
    return {"source": published_sources()[CERTIFICATION_PAGE]}
