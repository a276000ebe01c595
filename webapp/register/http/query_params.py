"""Query parameters, read strictly: each once, none unknown, words from a list, numbers within a range.

A page declares its parameters as a list of `Parameter` (see `word`, `number` and `text`), each with the label of its
field, and reads them with `read_parameters`.

Numbers may be typed as people write them (typed_numbers.py). Addresses have the plain number in the field's unit.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from django.http import HttpRequest, QueryDict

from webapp.register.http.typed_numbers import plain_number

SHOWN_CHARACTERS = 60  # of a name or a value that a reader gave, in an error message
LONGEST_QUERY = 100  # characters of a search
ADDRESS_AT_MOST = 2000  # characters; no page links a longer address, and its response is not stored
SIMILAR_FROM = 0.7  # of two names, as difflib measures it: max_pct_1ms is similar to max_1ms, colour not to columns
WORDS = re.compile(r"[^\W_]+")
FORMS = ("html", "csv", "json")
EXAMPLES = ("500k", "20", "2")  # of numbers, for error messages
Given = Mapping[str, str]


class ParameterError(Exception):
    """A parameter that a page cannot use. The response is a page with status 400 that names it.

    `expected` says what the parameter may be; `found` is its value, None if the value is not the problem.
    `is_unknown` is true for a parameter that the page does not have: there is no field to correct. Then `known` has
    the parameters that it has. `labels` are the labels of the page's fields by parameter; `labelled_errors` sets them.
    """

    def __init__(
        self,
        parameter: str,
        expected: str,
        found: str | None = None,
        *,
        is_unknown: bool = False,
        known: Collection[str] = (),
    ) -> None:
        self.parameter, self.expected, self.found, self.is_unknown = parameter, expected, found, is_unknown
        self.known = tuple(known)
        self.labels: Mapping[str, str] = {}
        subject = f"Unknown parameter {self._name}" if is_unknown else self._name
        super().__init__(f"{subject}{'' if found is None else f'={self._value}'}: {expected}")

    @property
    def _name(self) -> str:
        return self.parameter[:SHOWN_CHARACTERS]

    @property
    def _value(self) -> str:
        return (self.found or "")[:SHOWN_CHARACTERS]

    @property
    def sentence(self) -> str:
        """Return the error in the words of the form: the label of the field, what was expected, and what was found."""
        if self.is_unknown:
            return f"Unknown parameter “{self._name}”. {self._known_sentence()}"
        found = "" if self.found is None else f". Found “{self._value}”"
        return f"{self.labels.get(self.parameter, self._name)}: {self.expected}{found}."

    @property
    def in_address(self) -> str:
        """Return the parameter as the address has it."""
        return self._name if self.found is None else f"{self._name}={self._value}"

    def _known_sentence(self) -> str:
        if not self.known:
            return "This page has no parameters."
        similar = get_close_matches(self._name, self.known, n=1, cutoff=SIMILAR_FROM)
        if similar:
            return f"Did you mean {self._labelled(similar[0])}?"
        return f"This page has: {', '.join(self._labelled(name) for name in self.known)}."

    def _labelled(self, name: str) -> str:
        return f"“{self.labels[name]}” ({name})" if name in self.labels else name


def unknown_parameter(name: str, known: Collection[str]) -> ParameterError:
    """Return the error of a parameter that a page does not have, with those that it has."""
    expected = f"expected one of {', '.join(known)}" if known else "this page has no parameters"
    return ParameterError(name, expected, is_unknown=True, known=known)


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> words_of("Ultrastar DC SN-840, 3.2 TB")
    ['ultrastar', 'dc', 'sn', '840', '3', '2', 'tb']
    """
    return WORDS.findall(text.lower())


def given_of(query: QueryDict, names: Collection[str]) -> dict[str, str]:
    """Return the parameters by name. Raises ParameterError for an unknown one and for one that is given twice."""
    refuse_unknown(query, names)
    return {name: single_text(query, name) for name in query}


def refuse_unknown(given: Iterable[str], names: Collection[str]) -> None:
    """Raise ParameterError for a parameter that the page does not have."""
    for name in given:
        if name not in names:
            raise unknown_parameter(name, names)


def single_text(query: QueryDict, name: str) -> str:
    """Return the text of a parameter. Raises ParameterError if it is given several times."""
    texts = query.getlist(name)
    if len(texts) != 1:
        raise ParameterError(name, f"expected once, found {len(texts)} times")
    return str(texts[0])


def one_of(given: Given, name: str, words: Collection[str]) -> str:
    """Return a parameter's word from a list, by default the first one of the list."""
    choices = list(words) or [""]
    word = given.get(name, choices[0])
    return known_codes(name, [word], choices)[0]


def known_codes(name: str, given: Iterable[str], known: Collection[str], listed: Collection[str] = ()) -> list[str]:
    """Return typed codes as they are known, for which upper and lower case are the same.

    Raises ParameterError for another code; the error names the codes `listed`, by default all that are known.
    """
    by_folded = {code.casefold(): code for code in known}
    found = []
    for code in given:
        if code.casefold() not in by_folded:
            named = listed or known
            or_none = "no value, or " if "" in named else ""
            raise ParameterError(name, f"expected {or_none}one of {', '.join(filter(None, named))}", code)
        found.append(by_folded[code.casefold()])
    return found


def number_of(given: Given, name: str, least: str, most: str, *, unit: str = "") -> Decimal | None:
    """Return a decimal from `least` to `most` in `unit`, None if it is not given; see `plain_number` for its forms."""
    text = given.get(name, "").strip()
    if not text:
        return None
    plain = plain_number(text, unit)
    if plain is None or not Decimal(least) <= Decimal(plain) <= Decimal(most):
        raise ParameterError(name, f"expected a number {_range(least, most, unit)}", text)
    return Decimal(plain)


def whole_number_of(given: Given, name: str, least: int, most: int, *, unit: str = "") -> int | None:
    """Return a whole number from `least` to `most`, None if it is not given."""
    number = number_of(given, name, str(least), str(most), unit=unit)
    if number is None:
        return None
    if number != int(number):
        raise ParameterError(name, f"expected a whole number {_range(str(least), str(most), unit)}", given[name])
    return int(number)


def _range(least: str, most: str, unit: str) -> str:
    """Return a range of numbers with an example that is in it, for an error message."""
    words = " " * bool(unit) + unit
    fitting = (each for each in EXAMPLES if Decimal(least) <= Decimal(plain_number(each) or 0) <= Decimal(most))
    return f"from {Decimal(least):,f} to {Decimal(most):,f}{words}, for example {next(fitting, most)}"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a page, or several that are read together into one value, which is named by `key`.

    `read` returns the value, by default what the page uses without the parameter. It raises ParameterError.
    `labels` has the names of the parameters, each with the label of its field, for error messages.
    """

    key: str
    labels: Mapping[str, str]
    read: Callable[[QueryDict], Any]
    is_repeated: bool = False


def word(name: str, words: Collection[str], label: str, *, key: str = "") -> Parameter:
    """Declare a parameter that is one of some words, by default the first one."""
    return Parameter(key or name, {name: label}, lambda query: one_of(query, name, words))


def number(
    name: str, label: str, span: tuple[str, str], *, default: Any = None, is_whole: bool = False, unit: str = ""
) -> Parameter:
    """Declare a decimal, or a whole number, from the least to the most of a span.

    In a unit of size (TB, bytes) other units are converted.
    """
    least, most = span

    def read(query: QueryDict) -> Any:
        whole = whole_number_of(query, name, int(least), int(most), unit=unit) if is_whole else None
        found = whole if is_whole else number_of(query, name, least, most, unit=unit)
        return default if found is None else found

    return Parameter(name, {name: label}, read)


def text(name: str, label: str) -> Parameter:
    """Declare a parameter that is any text, by default an empty one."""
    return Parameter(name, {name: label}, lambda query: printable_text(query, name))


def printable_text(given: Given, name: str) -> str:
    """Return a parameter as text. Raises ParameterError for one with a NUL character, which no stored text contains."""
    found = given.get(name, "")
    if "\0" in found:
        raise ParameterError(name, "expected text without a NUL character")
    return found


FORMAT = word("format", FORMS, "Format", key="form")


def read_parameters(query: QueryDict, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the value of each parameter by its key. Raises ParameterError."""
    declared = tuple(parameters)
    repeated = {name for parameter in declared if parameter.is_repeated for name in parameter.labels}
    with labelled_errors(declared):
        refuse_unknown(query, labels_of(declared))
        for name in query:
            if name not in repeated:
                single_text(query, name)
        return {parameter.key: parameter.read(query) for parameter in declared}


@contextmanager
def labelled_errors(parameters: Iterable[Parameter]) -> Iterator[None]:
    """Add the labels of a page's fields to each ParameterError.

    `read_parameters` needs no further one. A view needs it if it rejects a value only after reading all parameters,
    such as the number of a page that its rows do not fill.
    """
    try:
        yield
    except ParameterError as error:
        error.labels = labels_of(parameters)
        raise


def labels_of(parameters: Iterable[Parameter]) -> dict[str, str]:
    """Return the labels of the fields of a page, by parameter."""
    return {name: label for parameter in parameters for name, label in parameter.labels.items()}


def form_address(request: HttpRequest, form: str) -> str:
    """Return the address of the same query in another format (html, csv or json)."""
    query = request.GET.copy()
    query["format"] = form
    return f"?{query.urlencode()}"
