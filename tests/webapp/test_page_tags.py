import pytest
from django import forms

from webapp.templatetags.pages import may_be_left_empty


class Asked(forms.Form):
    words = forms.CharField(required=False)
    needed = forms.CharField()
    ticked = forms.BooleanField(required=False)
    whole = forms.ChoiceField(choices=[("a", "A"), ("b", "B")], required=False)
    chosen = forms.ChoiceField(choices=[("", "not stated"), ("b", "B")], required=False)


@pytest.mark.parametrize(
    ("name", "expected"), [("words", True), ("needed", False), ("ticked", False), ("whole", False), ("chosen", True)]
)
def test_a_tick_box_and_a_list_without_an_empty_choice_are_not_called_optional(name, expected):
    assert may_be_left_empty(Asked()[name]) is expected
