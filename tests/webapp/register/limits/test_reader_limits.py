"""Your limits: read strictly, kept in the address, and said in a sentence what they change."""

from decimal import Decimal

import pytest
from django.http import QueryDict

from results.rules.act.limits import Limit
from webapp.register.http.query_params import ParameterError
from webapp.register.limits.reader_limits import LimitEvaluation, changes_sentence, read_limits
from webapp.register.tables.categories import DRIVE_COLUMNS
from webapp.register.tables.parameters import read_list_query

PROFILE = (Limit(1_000, Decimal(5)), Limit(8_000, Decimal(1)), Limit(64_000, Decimal("0.1")))


def asked(query=""):
    return read_list_query(QueryDict(query), DRIVE_COLUMNS, profile=PROFILE)


def test_nothing_asked_is_the_profile():
    assert not asked().limits.is_own
    assert asked().limits.by_threshold == {1_000: 5, 8_000: 1, 64_000: Decimal("0.1")}


def test_one_limit_replaces_one_and_the_others_stay():
    limits = asked("limit_1ms=3.5").limits
    assert limits.by_threshold == {1_000: Decimal("3.5"), 8_000: 1, 64_000: Decimal("0.1")}
    said = limits.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert said == "at most 3.5 % over 1 ms, 1 % over 8 ms, 0.1 % over 64 ms"


@pytest.mark.parametrize("text", ["5", "5.0", "005", "", "%20"])
def test_a_limit_that_is_the_profiles_is_not_in_the_address(text):
    assert asked(f"limit_1ms={text}").address() == "?"


@pytest.mark.parametrize(
    ("text", "kept"), [("0", "0"), ("100", "100"), ("3.50", "3.5"), ("0.000000001", "0.000000001")]
)
def test_a_limit_stays_in_the_address(text, kept):
    assert asked(f"limit_1ms={text}&sort=drive").address() == f"?limit_1ms={kept}&sort=drive"


@pytest.mark.parametrize(
    "text",
    ["100.1", "101", "-1", "%2B1", "1e1", "1,5", "NaN", ".5", "5.", "0x1", "\u0665", "1_0", "0.0000000001", "5 %25"],
)
def test_a_limit_that_is_no_percentage_is_named(text):
    with pytest.raises(ParameterError, match=r"^limit_8ms=.*: expected a percentage from 0 to 100"):
        asked(f"limit_8ms={text}")


def test_a_limit_on_a_threshold_that_the_profile_lacks_is_no_parameter():
    with pytest.raises(ParameterError, match=r"^Unknown parameter limit_2ms: expected one of"):
        asked("limit_2ms=1")


def test_pages_without_limits_take_none():
    with pytest.raises(ParameterError, match=r"^Unknown parameter limit_1ms: expected one of"):
        read_list_query(QueryDict("limit_1ms=1"), DRIVE_COLUMNS)


OWN = read_limits({"limit_1ms": "3"}, PROFILE)


def test_the_sentence_names_what_changed():
    results = [
        LimitEvaluation("A", True, False),
        LimitEvaluation("B", False, True),
        LimitEvaluation("C", True, True),
        LimitEvaluation("D", True, False),
    ]
    assert changes_sentence(OWN, results) == (
        "With your limits, 2 of 4 pass; 2 that pass the profile fail: A, D; 1 that fails the profile passes: B."
    )


def test_the_sentence_says_that_nothing_changed():
    assert (
        changes_sentence(OWN, [LimitEvaluation("A", True, True)])
        == "With your limits, 1 of 1 pass; the same as with the profile."
    )


def test_of_many_names_the_sentence_tells_how_many_more():
    results = [LimitEvaluation(name, True, False) for name in "ABCDEFG"]
    assert changes_sentence(OWN, results).endswith("7 that pass the profile fail: A, B, C, D, E and 2 more.")


def test_under_the_profile_the_sentence_counts():
    results = [LimitEvaluation("A", True, True), LimitEvaluation("B", False, False)]
    assert changes_sentence(read_limits({}, PROFILE), results) == "Within all limits: 1 of 2 results."
