"""Numbers as people type them, with the golden file that the script is tested with, too."""

import json
from decimal import Decimal

import pytest
from django.conf import settings
from django.http import QueryDict

from webapp.register.http.query_params import ParameterError, number, number_of, read_parameters
from webapp.register.http.typed_numbers import plain_number

LINES = [json.loads(line) for line in (settings.BASE_DIR / "tests/data/typed_numbers.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['text']!a} {line['unit']}")
def test_a_number_is_read_as_in_the_golden_file(line):
    assert plain_number(line["text"], line["unit"], line["places"]) == line["plain"]


def test_the_golden_file_has_numbers_and_other_texts():
    assert len(LINES) > 100
    assert 20 < sum(line["plain"] is None for line in LINES) < 60


def test_a_plain_number_is_read_as_itself():
    for line in LINES:
        if line["plain"] is not None:
            assert plain_number(line["plain"], line["unit"], line["places"]) == line["plain"]


def test_a_number_far_beyond_any_range_is_refused_quickly():
    assert plain_number("9" * 100_000) is None
    assert plain_number("1" + " " * 100_000 + "x") is None
    assert plain_number("1," * 100_000) is None


def test_a_parameter_with_a_unit_of_size_converts_other_units():
    data = number("data", "Data", ("0", "1000000"), unit="TB")
    assert read_parameters(QueryDict("data=500 GB"), [data]) == {"data": Decimal("0.5")}
    assert read_parameters(QueryDict("data=2"), [data]) == {"data": Decimal(2)}


@pytest.mark.parametrize(
    ("least", "most", "example"),
    [("0", "1000000", "500k"), ("0", "499999", "20"), ("1", "10", "2"), ("50", "99", "99")],
)
def test_the_error_of_a_number_is_a_short_sentence_with_an_example_in_the_range(least, most, example):
    with pytest.raises(ParameterError) as refused:
        number_of({"a": "lots"}, "a", least, most)
    assert str(refused.value).endswith(f", for example {example}")
    assert len(str(refused.value).split()) <= 12
