"""A tag for links that a reader's own limits go along: home, up to a category, on to a drive, to a comparison.

{% load carried %}    <a href="{% url 'home' %}{% carried %}" data-carries>
                      <a href="{% url 'compare' %}{% carried drive=product.slug %}" data-carries>
"""

from django import template
from django.utils.http import urlencode

from webapp.register.limits.reader_limits import YourLimits

register = template.Library()


@register.simple_tag(takes_context=True)
def carried(context: template.Context, **asked: str) -> str:
    """Return the query that asks for the limits of this page, and before them for what else the link asks.

    Nothing under the profile's limits, or where the page has none, and the link asks for nothing else.
    """
    limits = context.get("limits")
    parameters = asked | (limits.parameters if isinstance(limits, YourLimits) else {})
    return f"?{urlencode(parameters)}" if parameters else ""
