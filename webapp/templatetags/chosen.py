"""The bar below a table of runs that sends those that are ticked to be compared.

{% load chosen %}    {% compare_bar %}
"""

from typing import Any

from django import template

from webapp.register.compare.query import FEWEST, MOST

register = template.Library()


@register.inclusion_tag("register/compare/bar.html", takes_context=True)
def compare_bar(context: template.Context) -> dict[str, Any]:
    """Show it, with how many are compared at once; the limits of the page go along."""
    return {"fewest": FEWEST, "most": MOST, "limits": context.get("limits")}
