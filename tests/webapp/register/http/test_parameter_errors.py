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
