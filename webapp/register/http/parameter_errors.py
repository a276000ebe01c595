"""The error of a query parameter that a page cannot use."""

from collections.abc import Collection

SHOWN_CHARACTERS = 60  # of a name or a value that a reader gave, in an error message


class ParameterError(Exception):
    """A parameter that a page cannot use. The response is a page with status 400 that names it.

    `expected` says what the parameter may be; `found` is its value, None where the value is not the problem.
    `is_unknown` is true for a parameter that the page does not have: there is no field to correct.
    """

    def __init__(self, parameter: str, expected: str, found: str | None = None, *, is_unknown: bool = False) -> None:
        self.parameter, self.expected, self.is_unknown = parameter, expected, is_unknown
        name = parameter[:SHOWN_CHARACTERS]
        subject = f"Unknown parameter {name}" if is_unknown else name
        super().__init__(f"{subject}{'' if found is None else f'={found[:SHOWN_CHARACTERS]}'}: {expected}")


def unknown_parameter(name: str, known: Collection[str]) -> ParameterError:
    """Return the error of a parameter that a page does not have, with those that it has."""
    expected = f"expected one of {', '.join(known)}" if known else "this page has no parameters"
    return ParameterError(name, expected, is_unknown=True)
