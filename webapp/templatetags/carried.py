"""A tag for links that a reader's own limits go along: home, up to a category, on to a drive.

{% load carried %}    <a href="{% url 'home' %}{% carried %}" data-carries>
"""

from django import template

from webapp.register.your_limits import YourLimits

register = template.Library()


@register.simple_tag(takes_context=True)
def carried(context: template.Context) -> str:
    """Return the query that asks for the limits of this page; nothing under the profile's, or where it has none."""
    limits = context.get("limits")
    return limits.query if isinstance(limits, YourLimits) else ""
