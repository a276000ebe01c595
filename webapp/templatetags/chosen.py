"""The bar below a table of runs that compares the selected ones.

{% load chosen %}    {% compare_bar %}
"""

from typing import Any

from django import template

from webapp.register.compare.query import FEWEST, MOST

register = template.Library()


@register.inclusion_tag("register/compare/bar.html", takes_context=True)
def compare_bar(context: template.Context) -> dict[str, Any]:
    """Show the bar, with the numbers of runs that can be compared and the limits of the page."""
    return {"fewest": FEWEST, "most": MOST, "limits": context.get("limits")}
