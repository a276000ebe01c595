import re

import pytest
from django import forms
from django.template import Context, Template

from webapp.templatetags.pages import breakable, may_be_left_empty


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


def test_a_jump_list_has_the_name_of_each_heading_with_an_id_before_the_content():
    content = (
        '<h2 id="a">One &amp; <bdi>two</bdi> <span class="aside">of many</span></h2><h2>No id</h2>'
        '<details class="fold"><summary><h2 id="b">Three</h2></summary></details><h3 id="c">Four</h3>'
    )
    html = Template(f"{{% jump_list %}}{content}{{% endjump_list %}}").render(Context())
    assert re.findall(r'<a href="#(\w)">(.*?)</a>', html) == [("a", "One &amp; two"), ("b", "Three")]
    assert html.endswith(f"</nav>{content}")
    assert '<details class="open-wide">' not in html


def test_a_folded_jump_list_is_closed_on_a_phone():
    html = Template('{% jump_list is_folded=True %}<h2 id="a">A</h2>{% endjump_list %}').render(Context())
    summary = "<summary>On this page</summary>"
    assert f'<details class="open-wide">{summary} <a href="#a">A</a></details></nav>' in html


@pytest.mark.parametrize(
    ("code", "html"),
    [
        ("slow-disk-ms.log", "slow-disk-ms.log"),
        ("act/load_30x_second_day.txt", "act/<wbr>load_<wbr>30x_<wbr>second_<wbr>day.txt"),
        ("a" * 20, "a" * 20),
        ("0123456789abcdef" * 2, "01234567<wbr>89abcdef<wbr>01234567<wbr>89abcdef"),
        ("https://a.example/id/x", "https://<wbr>a.example/<wbr>id/<wbr>x"),
        ("see https://a.example/id/x\n  now", "see https://<wbr>a.example/<wbr>id/<wbr>x\n  now"),
        ("<b>", "&lt;b&gt;"),
        ("", ""),
    ],
)
def test_a_long_code_may_break_after_separators_and_every_eight_characters(code, html):
    assert breakable(code) == html
