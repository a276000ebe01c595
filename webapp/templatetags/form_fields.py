"""Filters for the fields of forms."""

from django import forms, template
from django.forms import BoundField

register = template.Library()


@register.filter
def may_be_left_empty(field: BoundField) -> bool:
    """Return whether a field is optional and can be left empty.

    A check box and a list without an empty choice cannot: browsers always send a value for them.
    """
    if field.field.required or isinstance(field.field, forms.BooleanField):
        return False
    widget = field.field.widget
    return not isinstance(widget, forms.Select) or any(value in {"", None} for value, _ in widget.choices)
