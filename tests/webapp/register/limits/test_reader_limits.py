"""Limits of the reader: strict parsing, the address, and the sentence about their effect."""

from decimal import Decimal

import pytest
from django.http import QueryDict

from results.rules.act.limits import Limit
from webapp.register.http.query_params import ParameterError
from webapp.register.limits.reader_limits import LimitEvaluation, changes_sentence, read_limits
from webapp.register.tables.categories import DRIVE_COLUMNS
from webapp.register.tables.parameters import read_list_query

PROFILE = (Limit(1_000, Decimal(5)), Limit(8_000, Decimal(1)), Limit(64_000, Decimal("0.1")))


def limits_of(query=""):
    return read_list_query(QueryDict(query), DRIVE_COLUMNS, profile=PROFILE)


def test_a_query_without_limits_uses_the_profile():
    assert not limits_of().limits.is_own
    assert limits_of().limits.by_threshold == {1_000: 5, 8_000: 1, 64_000: Decimal("0.1")}


def test_one_limit_replaces_one_and_the_others_are_kept():
    limits = limits_of("limit_1ms=3.5").limits
    assert limits.by_threshold == {1_000: Decimal("3.5"), 8_000: 1, 64_000: Decimal("0.1")}
    said = limits.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert said == "at most 3.5 % over 1 ms, 1 % over 8 ms, 0.1 % over 64 ms"


@pytest.mark.parametrize("text", ["5", "5.0", "005", "", "%20"])
def test_a_limit_of_the_profile_is_not_in_the_address(text):
    assert limits_of(f"limit_1ms={text}").address() == "?"


@pytest.mark.parametrize(
    ("text", "kept"), [("0", "0"), ("100", "100"), ("3.50", "3.5"), ("0.000000001", "0.000000001")]
)
def test_a_limit_is_kept_in_the_address(text, kept):
    assert limits_of(f"limit_1ms={text}&sort=drive").address() == f"?limit_1ms={kept}&sort=drive"


@pytest.mark.parametrize(
    "text",
    [
        "100.1",
        "101",
        "-1",
        "%2B1",
        "1e-1",
        "1,5",
        "NaN",
        ".5",
        "5.",
        "0x1",
        "\u0665",
        "1_0",
        "0.0000000001",
        "5 %25 %25",
    ],
)
def test_a_limit_that_is_not_a_percentage_is_named(text):
    with pytest.raises(ParameterError, match=r"^limit_8ms=.*: expected a percentage from 0 to 100"):
        limits_of(f"limit_8ms={text}")


def test_a_limit_on_a_threshold_outside_the_profile_is_not_a_parameter():
    with pytest.raises(ParameterError, match=r"^Unknown parameter limit_2ms: expected one of"):
        limits_of("limit_2ms=1")


def test_pages_without_limits_accept_none():
    with pytest.raises(ParameterError, match=r"^Unknown parameter limit_1ms: expected one of"):
        read_list_query(QueryDict("limit_1ms=1"), DRIVE_COLUMNS)


OWN = read_limits({"limit_1ms": "3"}, PROFILE)


def test_the_sentence_names_the_changes():
    results = [
        LimitEvaluation("A", True, False),
        LimitEvaluation("B", False, True),
        LimitEvaluation("C", True, True),
        LimitEvaluation("D", True, False),
    ]
    assert changes_sentence(OWN, results) == (
        "With your limits, 2 of 4 pass; 2 that pass the profile fail: A, D; 1 that fails the profile passes: B."
    )


def test_the_sentence_states_that_nothing_changed():
    assert (
        changes_sentence(OWN, [LimitEvaluation("A", True, True)])
        == "With your limits, 1 of 1 pass; the same as with the profile."
    )


def test_the_sentence_counts_the_names_that_it_leaves_out():
    results = [LimitEvaluation(name, True, False) for name in "ABCDEFG"]
    assert changes_sentence(OWN, results).endswith("7 that pass the profile fail: A, B, C, D, E and 2 more.")


def test_the_sentence_counts_results_under_the_profile():
    results = [LimitEvaluation("A", True, True), LimitEvaluation("B", False, False)]
    assert changes_sentence(read_limits({}, PROFILE), results) == "Within all limits: 1 of 2 results."
