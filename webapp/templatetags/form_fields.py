"""What a form's field says of itself beside its label."""

from django import forms, template
from django.forms import BoundField

register = template.Library()


@register.filter
def may_be_left_empty(field: BoundField) -> bool:
    """Tell whether a field that is not required can be left empty: a tick box and a list without an empty choice not.

    A browser sends one of a list's choices, and no tick is an answer of its own.
    """
    if field.field.required or isinstance(field.field, forms.BooleanField):
        return False
    widget = field.field.widget
    return not isinstance(widget, forms.Select) or any(value in {"", None} for value, _ in widget.choices)
