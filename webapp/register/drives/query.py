"""What a reader asks of the tables of drives, read strictly, and the shortest address that asks the same."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from django.http import QueryDict
from django.utils.http import urlencode

from results.rules.act.limits import Limit
from webapp.register.drives.filters import BY_NAME, CHOICE, MOST, Filter
from webapp.register.drives.store.encoded_columns import Shelf
from webapp.register.http.parameter_errors import ParameterError
from webapp.register.http.query_params import FORMS, one_of, refuse_unknown, single
from webapp.register.http.typed_text import LONGEST_QUERY, ungrouped, words_of
from webapp.register.limits.reader_limits import YourLimits, limit_names, read_limits, read_percentage
from webapp.register.tables.columns import Column
from webapp.register.tables.parameters import FASTEST_FIRST, Sort, is_included, read_sort

SEPARATOR = "~"  # stands in an address as it is; codes have none
INCLUDED = ("historical", "withdrawn", "superseded")
ALWAYS_SHOWN = "drive"
LARGEST = 10**12
PLAIN_NUMBER = re.compile(r"[0-9]{1,13}(?:\.[0-9]{1,4})?")


@dataclass(frozen=True)
class DrivesQuestion:
    """What a reader asks: rows to keep, limits to hold them against, their order, columns, page and form."""

    limits: YourLimits
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    query: str = ""
    only_within: bool = False
    included: tuple[str, ...] = ()
    sort: Sort = FASTEST_FIRST
    columns: tuple[str, ...] = ()
    page: int = 1
    form: str = "html"

    @property
    def parameters(self) -> dict[str, str]:
        """What an address holds, in one order; what is not asked is left out."""
        asked = {
            "q": self.query,
            **{name: SEPARATOR.join(codes) for name, codes in self.choices},
            **dict(self.numbers),
            **self.limits.parameters,
            "within": "only" if self.only_within else "",
            **dict.fromkeys(self.included, "include"),
            "sort": self.sort.parameter if self.sort != FASTEST_FIRST else "",
            "columns": SEPARATOR.join(self.columns),
            "page": str(self.page) if self.page > 1 else "",
            "format": self.form if self.form != "html" else "",
        }
        return {name: text for name, text in asked.items() if text}

    @property
    def is_narrowed(self) -> bool:
        """A filter or a search is set: it asks for some of the page's rows."""
        return bool(self.choices or self.numbers or self.query)

    @property
    def address(self) -> str:
        """The query of the page that answers this."""
        return "?" + urlencode(self.parameters)

    def without(self, name: str) -> "DrivesQuestion":
        """Return the question that lifts one filter, or includes what is left out by itself."""
        if name in INCLUDED:
            included = tuple(each for each in INCLUDED if each == name or each in self.included)
            return replace(self, included=included, page=1)
        if name == "q":
            return replace(self, query="", page=1)
        return replace(self, only_within=False, page=1) if name == "within" else self._without_filter(name)

    def _without_filter(self, name: str) -> "DrivesQuestion":
        choices = tuple(choice for choice in self.choices if choice[0] != name)
        numbers = tuple(number for number in self.numbers if number[0] != name)
        return replace(self, choices=choices, numbers=numbers, page=1)

    def with_everything(self) -> "DrivesQuestion":
        """Return the question that leaves no row out, and asks the same else."""
        return replace(self, choices=(), numbers=(), query="", only_within=False, included=INCLUDED, page=1)


@dataclass(frozen=True)
class Askable:
    """What may be asked on one page: its filters, columns, the profile's limits, and which rows it leaves out itself.

    `usual` are the codes of the columns that are shown where none are chosen; the drive's name always is, and not among
    them.
    """

    filters: tuple[Filter, ...]
    columns: tuple[Column, ...]
    usual: tuple[str, ...]
    profile: tuple[Limit, ...]
    included: tuple[str, ...] = INCLUDED

    @property
    def names(self) -> tuple[str, ...]:
        """Every parameter."""
        own = ("q", "within", *self.included, "sort", "columns", "page", "format")
        return (*(each.name for each in self.filters), *limit_names(self.profile), *own)


def read_drives_question(query: QueryDict, askable: Askable, shelf: Shelf) -> DrivesQuestion:
    """Return what was asked. Raises ParameterError, naming the parameter, for anything that is not understood."""
    refuse_unknown(query, askable.names)
    repeated = {each.name for each in askable.filters if each.kind == CHOICE} | {"columns"}
    given = {name: single(query, name) for name in query if name not in repeated}
    lists = {name: _parts(query.getlist(name)) for name in query if name in repeated}
    sortable = {column.code for column in askable.columns if column.is_sortable}
    return DrivesQuestion(
        limits=read_limits(given, askable.profile),
        choices=tuple(_choices(lists, askable.filters, shelf)),
        numbers=tuple(_numbers(given, askable.filters)),
        query=read_query(given),
        only_within=one_of(given, "within", ("any", "only")) == "only",
        included=tuple(name for name in askable.included if is_included(given, name)),
        sort=read_sort(given["sort"], sortable) if given.get("sort") else FASTEST_FIRST,
        columns=_columns(lists.get("columns", []), askable),
        page=_page(given),
        form=one_of(given, "format", FORMS),
    )


def _parts(texts: Iterable[str]) -> list[str]:
    """Return the codes that a parameter gives: parted by ~ in an address, one by one as a form sends them."""
    return [part for text in texts for part in text.split(SEPARATOR) if part]


def _choices(
    lists: Mapping[str, list[str]], filters: Iterable[Filter], shelf: Shelf
) -> Iterable[tuple[str, tuple[str, ...]]]:
    for each in filters:
        if asked := lists.get(each.name):
            options = each.options(shelf)
            refuse_codes(each.name, asked, options)
            yield each.name, tuple(code for code in options if code in asked)


def refuse_codes(name: str, asked: Iterable[str], known: Collection[str]) -> None:
    """Refuse a code that is none of those known, naming it."""
    for code in asked:
        if code not in known:
            raise ParameterError(name, f"expected one of {', '.join(known)}", code)


def _numbers(given: Mapping[str, str], filters: Iterable[Filter]) -> Iterable[tuple[str, str]]:
    for each in filters:
        if each.kind != CHOICE and (text := ungrouped(given.get(each.name, ""))):
            yield each.name, _number(each, text)


def _number(asked: Filter, text: str) -> str:
    if asked.kind == MOST:
        return f"{read_percentage(asked.name, text).normalize():f}"
    if not PLAIN_NUMBER.fullmatch(text) or float(text) > LARGEST:
        raise ParameterError(asked.name, f"expected a number from 0 to {LARGEST:,}, for example 300000 or 1.5", text)
    return f"{Decimal(text).normalize():f}"


def read_query(given: Mapping[str, str]) -> str:
    """Return what is searched for; empty where it holds no word. Raises ParameterError where it is too long."""
    text = " ".join(given.get("q", "").split())
    if len(text) > LONGEST_QUERY:
        raise ParameterError("q", f"expected at most {LONGEST_QUERY} characters, got {len(text)}")
    return text if words_of(text) else ""


def _columns(asked: list[str], askable: Askable) -> tuple[str, ...]:
    refuse_codes("columns", asked, [column.code for column in askable.columns])
    chosen = tuple(column.code for column in askable.columns if column.code in asked and column.code != ALWAYS_SHOWN)
    return () if chosen == askable.usual else chosen


def _page(given: Mapping[str, str]) -> int:
    text = given.get("page", "") or "1"
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text)):
        raise ParameterError("page", "expected a whole number from 1", text)
    return int(text)


def named_filters(question: DrivesQuestion) -> list[str]:
    """Return the labels of the filters that are set, for the button that they fold behind."""
    named = [BY_NAME[name].label for name, _ in (*question.choices, *question.numbers)]
    named += ["Search"] if question.query else []
    named += ["Your limits"] if question.limits.is_own else []
    return named + (["Only within the limits"] if question.only_within else []) + list(question.included)
