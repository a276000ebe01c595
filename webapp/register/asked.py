"""Parameters of an address, read strictly: each once, none unknown, words from a list, numbers in a range."""

from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation

from django.http import HttpRequest, QueryDict

from webapp.register.not_understood import ParameterError

SHOWN_CHARACTERS = 60  # of what was given, in the sentence that refuses it
FORMS = ("html", "csv", "json")
Given = Mapping[str, str]


def given_of(query: QueryDict, names: Collection[str]) -> dict[str, str]:
    """Return the parameters by name. Raises ParameterError for an unknown one and for one that is given twice."""
    for name in query:
        if name not in names:
            known = f"one of the parameters {', '.join(names)}" if names else "no parameter"
            raise ParameterError(f"{name[:SHOWN_CHARACTERS]}: expected {known}")
        if len(query.getlist(name)) != 1:
            raise ParameterError(f"{name}: expected once, got {len(query.getlist(name))} times")
    return {name: str(query[name]) for name in query}


def one_of(given: Given, name: str, words: Collection[str]) -> str:
    """Return a parameter's word, the first one where it is not given."""
    choices = list(words) or [""]
    word = given.get(name, choices[0])
    if word not in choices:
        shown = ", ".join(choice or "nothing" for choice in choices)
        raise ParameterError(f"{name}={word[:SHOWN_CHARACTERS]}: expected one of {shown}")
    return word


def number_of(given: Given, name: str, least: str, most: str) -> Decimal | None:
    """Return a decimal from `least` to `most`, None where not given; commas between thousands are read as such."""
    text = given.get(name, "").strip()
    if not text:
        return None
    try:
        number = Decimal(text.replace(",", ""))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not Decimal(least) <= number <= Decimal(most):
        raise ParameterError(f"{name}={text[:SHOWN_CHARACTERS]}: expected a number from {least} to {most}")
    return number


def whole_number_of(given: Given, name: str, least: int, most: int) -> int | None:
    """Return a whole number from `least` to `most`, None where it is not given."""
    number = number_of(given, name, str(least), str(most))
    if number is None:
        return None
    if number != int(number):
        raise ParameterError(f"{name}={given[name][:SHOWN_CHARACTERS]}: expected a whole number from {least} to {most}")
    return int(number)


def form_address(request: HttpRequest, form: str) -> str:
    """Return the same question's address, answered in another form."""
    query = request.GET.copy()
    query["format"] = form
    return f"?{query.urlencode()}"
