"""Query parameters, read strictly: each once, none unknown, words from a list, numbers within a range."""

import re
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal

from django.http import HttpRequest, QueryDict

from webapp.register.http.parameter_errors import ParameterError, unknown_parameter
from webapp.register.http.typed_text import ungrouped

FORMS = ("html", "csv", "json")
# No exponent: 1e-999999999 is short, and as a fraction it is a number of a thousand million digits.
PLACES = 6
PLAIN = re.compile(rf"[0-9]{{1,13}}(?:\.[0-9]{{1,{PLACES}}})?")
Given = Mapping[str, str]


def given_of(query: QueryDict, names: Collection[str]) -> dict[str, str]:
    """Return the parameters by name. Raises ParameterError for an unknown one and for one that is given twice."""
    refuse_unknown(query, names)
    return {name: single(query, name) for name in query}


def refuse_unknown(given: Iterable[str], names: Collection[str]) -> None:
    """Raise ParameterError for a parameter that the page does not have."""
    for name in given:
        if name not in names:
            raise unknown_parameter(name, names)


def single(query: QueryDict, name: str) -> str:
    """Return the text of a parameter. Raises ParameterError if it is given several times."""
    texts = query.getlist(name)
    if len(texts) != 1:
        raise ParameterError(name, f"expected once, got {len(texts)} times")
    return str(texts[0])


def one_of(given: Given, name: str, words: Collection[str]) -> str:
    """Return a parameter's word from a list, by default the first one of the list."""
    choices = list(words) or [""]
    word = given.get(name, choices[0])
    if word not in choices:
        shown = ", ".join(choice or "nothing" for choice in choices)
        raise ParameterError(name, f"expected one of {shown}", word)
    return word


def number_of(given: Given, name: str, least: str, most: str) -> Decimal | None:
    """Return a decimal from `least` to `most`, None if it is not given; thousands may be grouped."""
    text = given.get(name, "").strip()
    if not text:
        return None
    plain = ungrouped(text)
    if not PLAIN.fullmatch(plain) or not Decimal(least) <= Decimal(plain) <= Decimal(most):
        expected = f"expected a number from {least} to {most} in digits, with at most {PLACES} decimals"
        raise ParameterError(name, expected, text)
    return Decimal(plain)


def whole_number_of(given: Given, name: str, least: int, most: int) -> int | None:
    """Return a whole number from `least` to `most`, None if it is not given."""
    number = number_of(given, name, str(least), str(most))
    if number is None:
        return None
    if number != int(number):
        raise ParameterError(name, f"expected a whole number from {least} to {most}", given[name])
    return int(number)


def form_address(request: HttpRequest, form: str) -> str:
    """Return the address of the same query in another format (html, csv or json)."""
    query = request.GET.copy()
    query["format"] = form
    return f"?{query.urlencode()}"
