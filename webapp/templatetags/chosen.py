"""The bar below a table of runs that sends those that are ticked to be compared.

{% load chosen %}    {% compare_bar %}
"""

from django import template

from webapp.register.compare.question import FEWEST, MOST

register = template.Library()


@register.inclusion_tag("register/compare/bar.html")
def compare_bar() -> dict[str, int]:
    """Show it, with how many are compared at once."""
    return {"fewest": FEWEST, "most": MOST}
