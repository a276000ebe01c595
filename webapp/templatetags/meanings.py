"""The tag for the head of a column: `<a class="means" href="{% meaning 'tps' %}">Speed</a>`."""

from django import template

from webapp.register.tables.meanings.drives import BY_CODE, meaning_address

register = template.Library()


@register.simple_tag
def meaning(code: str) -> str:
    """Return the address of a column's meaning. Raises ValueError for a code without one: each head needs one."""
    if code not in BY_CODE:
        raise ValueError(f"{code}: expected the code of a column that webapp/register/explain has a meaning of")
    return meaning_address(code)
