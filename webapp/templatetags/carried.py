"""A tag for links that contain the reader's own limits: to the home page, a category, a drive, a comparison.

{% load carried %}    <a href="{% url 'home' %}{% carried %}" data-carries>
                      <a href="{% url 'compare' %}{% carried drive=product.slug %}" data-carries>
"""

from django import template
from django.utils.http import urlencode

from webapp.register.limits.reader_limits import YourLimits

register = template.Library()


@register.simple_tag(takes_context=True)
def carried(context: template.Context, **parameters: str) -> str:
    """Return the query string with the given parameters and the reader's own limits; empty if there are none."""
    limits = context.get("limits")
    parameters |= limits.parameters if isinstance(limits, YourLimits) else {}
    return f"?{urlencode(parameters)}" if parameters else ""
