"""Strict parsing of parameters: an invalid one is named and never ignored."""

from decimal import Decimal

import pytest
from django.http import QueryDict

from webapp.register.http.query_params import ParameterError, given_of, number_of, one_of, whole_number_of


def refusal(read):
    with pytest.raises(ParameterError) as error:
        read()
    return str(error.value)


def test_an_unknown_parameter_is_named_with_the_known_ones():
    assert refusal(lambda: given_of(QueryDict("a=1&c=2"), ("a", "b"))) == "Unknown parameter c: expected one of a, b"
    assert refusal(lambda: given_of(QueryDict("c=2"), ())) == "Unknown parameter c: this page has no parameters"


def test_a_repeated_parameter_is_refused():
    assert refusal(lambda: given_of(QueryDict("a=1&a=2"), ("a",))) == "a: expected once, found 2 times"


def test_a_word_must_be_in_its_list_and_defaults_to_the_first():
    assert (one_of({}, "a", ("x", "y")), one_of({"a": "y"}, "a", ("x", "y"))) == ("x", "y")
    assert refusal(lambda: one_of({"a": "z" * 200}, "a", ("x",))) == f"a={'z' * 60}: expected one of x"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        ("1,728,000", 1_728_000),
        ("1 728 000", 1_728_000),
        (" 0.5 ", 0.5),
        ("0.000001", Decimal("0.000001")),
        ("", None),
    ],
)
def test_a_number_may_have_commas_or_be_absent(text, number):
    assert number_of({"a": text}, "a", "0", "1728000") == number


@pytest.mark.parametrize(
    "text", ["0.4", "1001", "-1", "nan", "Infinity", "1e999999999", "ten", "1;2", "<b>", "1,5", "1,7280", "10 0"]
)
def test_a_number_outside_its_range_is_named(text):
    said = f"a={text}: expected a number from 0.5 to 1,000"
    assert refusal(lambda: number_of({"a": text}, "a", "0.5", "1000")).startswith(said)


@pytest.mark.parametrize(
    "text", ["1e19", "1E-400", "1e-999999999", "0.0000001", "1" * 14, "1_000", "\N{ARABIC-INDIC DIGIT ONE}"]
)
def test_a_number_has_plain_digits_and_a_limited_number_of_decimals(text):
    said = f"a={text}: expected a number from 0 to 1,000,000,000,000, for example 500k"
    assert refusal(lambda: number_of({"a": text}, "a", "0", "1000000000000")) == said


@pytest.mark.parametrize("blank", ["\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}"])
def test_a_figure_copied_from_a_page_is_read(blank):
    assert number_of({"a": f"100{blank}000.5"}, "a", "0", "1000000") == Decimal("100000.5")


def test_a_whole_number_has_no_decimals():
    assert whole_number_of({"a": "3.0"}, "a", 1, 9) == 3
    assert refusal(lambda: whole_number_of({"a": "3.5"}, "a", 1, 9)) == (
        "a=3.5: expected a whole number from 1 to 9, for example 2"
    )
