"""The message of a parameter error: the parameter, what was found and what is expected."""

import pytest
from django.http import QueryDict

from results.models.ids import new_link_key
from webapp.register.http.access import EXAMPLE_KEY, LINK_PARAMETER
from webapp.register.http.query_params import (
    ParameterError,
    labelled_errors,
    number,
    read_parameters,
    unknown_parameter,
)


def test_the_message_names_the_parameter_and_its_value():
    error = ParameterError("page", "expected a whole number from 1", "one: two")
    assert str(error) == "page=one: two: expected a whole number from 1"
    assert (error.parameter, error.expected, error.is_unknown) == ("page", "expected a whole number from 1", False)


def test_a_long_name_and_a_long_value_are_truncated():
    assert str(ParameterError("n" * 90, "expected less", "v" * 90)) == f"{'n' * 60}={'v' * 60}: expected less"


def test_an_unknown_parameter_is_named_with_the_known_ones():
    error = unknown_parameter("colour", ("sort", "format"))
    assert (str(error), error.is_unknown) == ("Unknown parameter colour: expected one of sort, format", True)
    assert str(unknown_parameter("colour", ())) == "Unknown parameter colour: this page has no parameters"


def labelled(error):
    with pytest.raises(ParameterError) as found, labelled_errors([number("page", "Page", ("1", "9"))]):
        raise error
    return found.value


def test_the_sentence_names_the_field_as_the_form_labels_it():
    error = labelled(ParameterError("page", "expected a whole number from 1", "one: two"))
    assert (error.sentence, error.in_address) == (
        "Page: expected a whole number from 1. Found “one: two”.",
        "page=one: two",
    )
    assert labelled(ParameterError("page", "expected once, got 2 times")).sentence == (
        "Page: expected once, got 2 times."
    )


def test_a_field_without_a_label_keeps_its_name():
    assert ParameterError("key", "expected once, got 2 times").sentence == "key: expected once, got 2 times."


def test_values_and_their_errors_have_the_labels_of_the_declaration():
    drives = number("drives", "Drives in a server", ("1", "9"), is_whole=True)
    assert read_parameters(QueryDict("drives=3"), [drives]) == {"drives": 3}
    with pytest.raises(ParameterError) as refused:
        read_parameters(QueryDict("drives=0"), [drives])
    assert refused.value.sentence.startswith("Drives in a server: expected a number from 1 to 9, ")


def test_the_key_of_a_secret_link_has_a_label_and_an_example():
    assert read_parameters(QueryDict("key=a"), [LINK_PARAMETER]) == {"link_key": "a"}
    with pytest.raises(ParameterError) as refused:
        read_parameters(QueryDict("key=a&key=b"), [LINK_PARAMETER])
    assert refused.value.sentence == f"Key of the secret link: expected one key, such as key={EXAMPLE_KEY}, found 2."
    with pytest.raises(ParameterError) as refused:
        read_parameters(QueryDict("keys=a"), [LINK_PARAMETER])
    assert refused.value.sentence == "Unknown parameter “keys”. Did you mean “Key of the secret link” (key)?"


def test_the_example_of_a_key_has_the_length_of_a_key():
    assert len(EXAMPLE_KEY) == len(new_link_key())


def test_a_similar_parameter_is_offered_instead_of_an_unknown_one():
    error = unknown_parameter("srt", ("sort", "format"))
    assert error.sentence == "Unknown parameter “srt”. Did you mean sort?"
    error.labels = {"sort": "Order", "format": "Format"}
    assert error.sentence == "Unknown parameter “srt”. Did you mean “Order” (sort)?"


def test_all_parameters_are_named_if_none_is_similar_to_an_unknown_one():
    error = unknown_parameter("colour", ("sort", "format"))
    assert error.sentence == "Unknown parameter “colour”. This page has: sort, format."
    assert unknown_parameter("colour", ()).sentence == "Unknown parameter “colour”. This page has no parameters."
