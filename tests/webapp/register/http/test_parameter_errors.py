"""The message of a parameter error: the parameter, what was found and what is expected."""

from webapp.register.http.query_params import ParameterError, unknown_parameter


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


def test_the_sentence_names_the_field_as_the_form_labels_it():
    labels = {"page": "Page"}
    error = ParameterError("page", "expected a whole number from 1", "one: two", labels=labels)
    assert (error.sentence, error.in_address) == (
        "Page: expected a whole number from 1. Found “one: two”.",
        "page=one: two",
    )
    assert ParameterError("page", "expected once, got 2 times", labels=labels).sentence == (
        "Page: expected once, got 2 times."
    )


def test_a_field_without_a_label_keeps_its_name():
    assert ParameterError("key", "expected once, got 2 times").sentence == "key: expected once, got 2 times."


def test_a_similar_parameter_is_offered_instead_of_an_unknown_one():
    error = unknown_parameter("srt", ("sort", "format"))
    assert error.sentence == "Unknown parameter “srt”. Did you mean sort?"
    error.labels = {"sort": "Order", "format": "Format"}
    assert error.sentence == "Unknown parameter “srt”. Did you mean “Order” (sort)?"


def test_all_parameters_are_named_if_none_is_similar_to_an_unknown_one():
    error = unknown_parameter("colour", ("sort", "format"))
    assert error.sentence == "Unknown parameter “colour”. This page has: sort, format."
    assert unknown_parameter("colour", ()).sentence == "Unknown parameter “colour”. This page has no parameters."
