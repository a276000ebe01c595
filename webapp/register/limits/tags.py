"""Template tag of links that pass a reader's own limits on to the next page.

<a href="{% url 'home' %}{% limits_query %}" data-carries>          a link with the reader's own limits
<a href="{% url 'compare' %}{% limits_query drive=product.slug %}" data-carries>
"""

from django import template
from django.utils.http import urlencode

from webapp.register.limits.reader_limits import YourLimits

register = template.Library()


@register.simple_tag(takes_context=True)
def limits_query(context: template.Context, **parameters: str | int) -> str:
    """Return the query string with the given parameters that are not empty or 0, and the reader's own limits."""
    limits, parameters = context.get("limits"), {name: value for name, value in parameters.items() if value}
    parameters |= limits.parameters if isinstance(limits, YourLimits) else {}
    return f"?{urlencode(parameters)}" if parameters else ""
