"""Stated numbers, compared with the values behind them."""

from fractions import Fraction

import pytest

from results.rules.ycsb.statements import (
    Outcome,
    Status,
    is_decidable,
    judge,
    judge_all,
    judge_read_off,
    outcome_of,
    places_of,
    printed,
    read_off_span,
)


@pytest.mark.parametrize(
    ("stated", "value", "status"),
    [
        ("44", "43.9013", Status.REPRODUCES),
        ("43", "43.9013", Status.TRUNCATED),
        ("45", "43.9013", Status.CONTRADICTS),
        ("42", "43.9013", Status.CONTRADICTS),
        ("1", "0.4747", Status.ROUNDED_UP),
        ("0", "0.4747", Status.REPRODUCES),
        ("5", "5", Status.REPRODUCES),
        ("0.65", "0.6536", Status.REPRODUCES),
        ("0.66", "0.6536", Status.ROUNDED_UP),
        ("16", "16.4999", Status.REPRODUCES),
        ("16", "16.5", Status.REPRODUCES),
        ("17", "16.5", Status.ROUNDED_UP),
        ("16", "16.5001", Status.TRUNCATED),
        ("-3", "-3.2", Status.REPRODUCES),
        ("-3", "-3.7", Status.TRUNCATED),
    ],
)
def test_a_statement_is_judged_by_its_own_digits(stated, value, status):
    assert judge(stated, Fraction(value)) is status


def test_a_statement_in_words_is_no_number():
    assert places_of("small") is None
    with pytest.raises(ValueError, match="expected a number, got 'small'"):
        judge("small", Fraction(1))


@pytest.mark.parametrize("text", ["1/4", "1.7 to 2.6", "", "NaN", "Infinity"])
def test_text_that_is_no_plain_number_has_no_decimal_places(text):
    assert places_of(text) is None


@pytest.mark.parametrize(
    ("stated", "values", "status"),
    [
        ("small", ["0", "0"], Status.CONTRADICTS),
        ("small", ["-1", "0"], Status.CONTRADICTS),
        ("small", ["0", "0.1"], Status.CANNOT_BE_CHECKED),
        ("5", ["5.1", "4.9"], Status.REPRODUCES),
        ("5", ["5.1", "5.9"], Status.CONTRADICTS),
        ("5", [], Status.CANNOT_BE_CHECKED),
    ],
)
def test_a_statement_about_several_values_must_hold_for_each(stated, values, status):
    assert judge_all(stated, [Fraction(value) for value in values]) is status


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        ("16.5248", 1, "16.5"),
        ("0.25", 1, "0.2"),
        ("0.35", 1, "0.4"),
        ("23", 1, "23.0"),
        ("0", 1, "0"),
        ("-0.04", 1, "0.0"),
    ],
)
def test_values_print_half_to_even(value, places, text):
    assert printed(Fraction(value), places) == text


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [("290", "240", "340"), ("4000", "3500", "4500"), ("10", "5", "15"), ("9.9", "9.4", "10.4"), ("0.25", "0.2", "0.3"),
     ("0", "0", "0"), ("100", "50", "150"), ("99", "94", "104")],
)  # fmt: skip
def test_a_chart_value_is_accurate_to_half_a_unit_of_its_first_digit(value, low, high):
    assert read_off_span(Fraction(value)) == (Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("stated", "status"),
    [("8", Status.CONTRADICTS), ("9", Status.AS_READ), ("10", Status.AS_READ), ("19", Status.AS_READ),
     ("20", Status.CONTRADICTS), ("9.4", Status.CONTRADICTS), ("9.5", Status.AS_READ)],
)  # fmt: skip
def test_a_statement_about_chart_values_may_have_been_rounded(stated, status):
    assert judge_read_off(stated, [Fraction("13.8")], Fraction("9.5"), Fraction("18.9")) is status


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [("5", "10", True), ("5", "10.01", False), ("1.2", "5.6", False), ("7", "7", True), ("0", "0", True),
     ("0", "1", False), ("-1", "1", False), ("-10", "-5", True), ("-10.01", "-5", False)],
)  # fmt: skip
def test_a_span_decides_if_its_greater_end_is_at_most_twice_its_lesser_one(low, high, expected):
    assert is_decidable(Fraction(low), Fraction(high)) is expected


@pytest.mark.parametrize(
    ("stated", "status"),
    [("1.1", Status.CONTRADICTS), ("1.2", Status.NOT_DECIDABLE), ("2.2", Status.NOT_DECIDABLE),
     ("2.3", Status.AT_POINTS), ("2.4", Status.AT_POINTS), ("2.5", Status.NOT_DECIDABLE),
     ("5.6", Status.NOT_DECIDABLE), ("5.7", Status.CONTRADICTS)],
)  # fmt: skip
def test_a_number_in_a_wide_span_only_agrees_and_one_outside_is_refuted(stated, status):
    assert judge_read_off(stated, [Fraction("2.33")], Fraction("1.2"), Fraction("5.6")) is status


def test_a_statement_in_words_cannot_be_judged_by_chart_values():
    with pytest.raises(ValueError, match="expected a number, got 'small'"):
        judge_read_off("small", [Fraction(1)], Fraction(1), Fraction(2))


@pytest.mark.parametrize("status", Status)
def test_every_status_has_an_outcome_and_only_a_contradiction_contradicts(status):
    assert (outcome_of(status) is Outcome.CONTRADICTED) == (status is Status.CONTRADICTS)


def test_odd_rounding_is_confirmed_and_a_word_cannot_be_checked():
    assert {outcome_of(status) for status in (Status.TRUNCATED, Status.ROUNDED_UP)} == {Outcome.CONFIRMED}
    assert outcome_of(Status.IN_WORDS) is Outcome.UNCHECKED
    assert outcome_of(Status.NOT_DECIDABLE) is Outcome.FROM_CHART
