"""The query parameters of the tables of drives, read strictly, and the shortest address of the same query."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.text import slugify

from results.models import Statistic
from results.rules.act.limits import Limit
from webapp.register.drives.filters import BY_NAME, CHOICE, Filter
from webapp.register.drives.layouts import ALWAYS_SHOWN, INCLUDED, PageLayout
from webapp.register.drives.store.encoded_columns import UNSTATED, ColumnStore, Rows
from webapp.register.http.query_params import (
    FORMAT,
    LONGEST_QUERY,
    Parameter,
    ParameterError,
    known_codes,
    one_of,
    read_parameters,
    word,
    words_of,
)
from webapp.register.http.typed_numbers import plain_number
from webapp.register.limits.reader_limits import YourLimits, limits_parameter
from webapp.register.tables.parameters import FASTEST_FIRST, Sort, read_sort

THRESHOLDS_US = {"1ms": 1_000, "8ms": 8_000, "64ms": 64_000}  # by code; charts compare shares over one of them
THRESHOLD = "1ms"
SEPARATOR = "~"  # of codes in an address, where it needs no escape; codes contain none
LONGEST_NAME = 100  # characters of the name of an exported file, without its ending


@dataclass(frozen=True)
class DrivesQuery:
    """A query: filters, limits, order, columns, page and format; for the charts a threshold and a statistic.

    Without a statistic, charts show that of most rows.
    """

    limits: YourLimits
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    search_text: str = ""
    only_within: bool = False
    included: tuple[str, ...] = ()
    default_sort: Sort = FASTEST_FIRST  # of an address without `sort`
    sort: Sort = FASTEST_FIRST
    columns: tuple[str, ...] = ()
    threshold: str = THRESHOLD
    statistic: str = ""
    page: int = 1
    form: str = "html"

    @property
    def parameters(self) -> dict[str, str]:
        """Return the parameters of the address in a fixed order, without defaults."""
        values = {
            "q": self.search_text,
            **{name: SEPARATOR.join(codes) for name, codes in self.choices},
            **dict(self.numbers),
            **self.limits.parameters,
            "within": "only" if self.only_within else "",
            **dict.fromkeys(self.included, "include"),
            "sort": self.sort.parameter if self.sort != self.default_sort else "",
            "columns": SEPARATOR.join(self.columns),
            "threshold": self.threshold if self.threshold != THRESHOLD else "",
            "statistic": self.statistic,
            "page": str(self.page) if self.page > 1 else "",
            "format": self.form if self.form != "html" else "",
        }
        return {name: text for name, text in values.items() if text}

    def load_tps(self, loads: Collection[str]) -> float | None:
        """Return the speed that these filters require."""
        required = [float(text) for name, text in self.numbers if name in loads]
        return max(required, default=0) or None

    @property
    def is_narrowed(self) -> bool:
        """Return whether a filter or a search is set."""
        return bool(self.choices or self.numbers or self.search_text)

    @property
    def address(self) -> str:
        """Return the query string of this query's page."""
        return "?" + urlencode(self.parameters)

    def without(self, name: str) -> "DrivesQuery":
        """Return the query without one filter, or with a kind of rows that is hidden by default."""
        return replace(
            self,
            choices=tuple(choice for choice in self.choices if choice[0] != name),
            numbers=tuple(number for number in self.numbers if number[0] != name),
            search_text="" if name == "q" else self.search_text,
            only_within=self.only_within and name != "within",
            included=tuple(each for each in INCLUDED if each == name or each in self.included),
            page=1,
        )

    def with_everything(self) -> "DrivesQuery":
        """Return the query that hides no row, and is otherwise the same."""
        return replace(self, choices=(), numbers=(), search_text="", only_within=False, included=INCLUDED, page=1)


def read_drives_query(query: QueryDict, parameters: Iterable[Parameter]) -> DrivesQuery:
    """Return the query of an address; `parameters` are those of the page.

    Raises ParameterError for a parameter or value that the page does not accept.
    """
    return DrivesQuery(**read_parameters(query, parameters))


def drives_parameters(layout: PageLayout, profile: tuple[Limit, ...], store: ColumnStore) -> tuple[Parameter, ...]:
    """Return the parameters of a page of tables of drives."""
    choices = [each for each in layout.filters if each.kind == CHOICE]
    numbers = [each for each in layout.filters if each.kind != CHOICE]
    sortable = {column.code for column in layout.columns if column.is_sortable}
    rows = sum(store.columns["category"].of(code) for code in layout.listed)
    return (
        Parameter(
            "choices", _labels(choices), lambda given: tuple(_choices(given, choices, store, rows)), is_repeated=True
        ),
        numbers_parameter(numbers),
        limits_parameter(profile),
        Parameter("search_text", {"q": "Search"}, read_search_text),
        Parameter(
            "only_within",
            {"within": "Only within the limits"},
            lambda given: one_of(given, "within", ("any", "only")) == "only",
        ),
        Parameter(
            "included",
            {name: f"Also show {name}" for name in layout.included},
            lambda given: _included(given, layout.included),
        ),
        Parameter("default_sort", {}, lambda _: layout.default_sort),
        Parameter("sort", {"sort": "Order"}, lambda given: _sort(given, layout, sortable)),
        Parameter(
            "columns",
            {"columns": "Columns"},
            lambda given: _columns(given.getlist("columns"), layout),
            is_repeated=True,
        ),
        word("threshold", THRESHOLDS_US, "Threshold of the chart"),
        word("statistic", ("", *Statistic.values), "Statistic of the chart"),
        Parameter("page", {"page": "Page"}, _page),
        FORMAT,
    )


def numbers_parameter(filters: Sequence[Filter]) -> Parameter:
    """Declare filters by numbers, whose value has the name and the plain number of each that is set."""
    return Parameter("numbers", _labels(filters), lambda given: tuple(_numbers(given, filters)))


def _labels(filters: Iterable[Filter]) -> dict[str, str]:
    return {each.name: each.label for each in filters}


def _sort(given: Mapping[str, str], layout: PageLayout, codes: Collection[str]) -> Sort:
    text = given.get("sort", "")
    code = text.removeprefix("-")
    return read_sort(text.removesuffix(code) + layout.current_code(code), codes) if text else layout.default_sort


def _included(given: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds of rows that are hidden by default and requested."""
    return tuple(name for name in names if one_of(given, name, ("leave-out", "include")) == "include")


def _parts(texts: Iterable[str]) -> list[str]:
    """Return the codes of a parameter: separated by ~ in our addresses, repeated when a form sends them."""
    return [part for text in texts for part in text.split(SEPARATOR) if part]


def _choices(
    query: QueryDict, filters: Iterable[Filter], store: ColumnStore, rows: Rows
) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Yield each set filter with its codes; an error names only the options of the rows of the page."""
    for each in filters:
        if chosen := _parts(query.getlist(each.name)):
            options = each.options(store)
            codes = known_codes(each.name, chosen, options, each.options(store, rows))
            yield each.name, tuple(code for code in options if code in codes)


def _numbers(given: Mapping[str, str], filters: Iterable[Filter]) -> Iterable[tuple[str, str]]:
    for each in filters:
        if text := given.get(each.name, "").strip():
            yield each.name, _number(each, text)


def _number(chosen: Filter, text: str) -> str:
    """Return a number of a filter in digits, as an address has it."""
    plain = plain_number(text, chosen.unit, chosen.places)
    if plain is None or Decimal(plain) > chosen.largest:
        raise ParameterError(chosen.name, chosen.expected, text)
    return plain


def is_current(query: QueryDict, found: DrivesQuery) -> bool:
    """Return whether an address has plain numbers and today's codes, not 500k, AWS or a sort that was renamed."""
    plain = {**dict(found.numbers), **({"sort": found.sort.parameter} if query.get("sort") else {})}
    are_plain = all(query.get(name) == text for name, text in plain.items())
    return are_plain and all(set(_parts(query.getlist(name))) == set(codes) for name, codes in found.choices)


def read_search_text(given: Mapping[str, str]) -> str:
    """Return the text to search for; empty if it has no word. Raises ParameterError if it is too long."""
    text = " ".join(given.get("q", "").split())
    if len(text) > LONGEST_QUERY:
        raise ParameterError("q", f"expected at most {LONGEST_QUERY} characters, got {len(text)}")
    return text if words_of(text) else ""


def _columns(texts: Iterable[str], layout: PageLayout) -> tuple[str, ...]:
    codes = [layout.current_code(code) for code in _parts(texts)]
    codes = known_codes("columns", codes, [column.code for column in layout.columns])
    chosen = tuple(column.code for column in layout.columns if column.code in codes and column.code != ALWAYS_SHOWN)
    return () if chosen == layout.usual else chosen


def _page(given: Mapping[str, str]) -> int:
    text = given.get("page", "") or "1"
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text)):
        raise ParameterError("page", "expected a whole number from 1", text)
    return int(text)


def export_name(name: str, query: DrivesQuery) -> str:
    """Return the name of a file with the rows of a query, without its ending: nvme-flash-micron-min-500000-tps.

    It has only letters, digits, dots and hyphens, and is cut between two words.
    """
    words = [name, *(_option_word(filter_name, code) for filter_name, codes in query.choices for code in codes)]
    words += [_number_word(filter_name, text) for filter_name, text in query.numbers]
    words += [f"{name.replace('_', '-')}-{text}" for name, text in query.limits.parameters.items()]
    words += ["within-limits"] if query.only_within else []
    words += [f"with-{each}" for each in query.included]
    words += [slugify(query.search_text)] if query.search_text else []
    words += ["by", query.sort.parameter.replace("_", "-").strip("-")] if query.sort != query.default_sort else []
    words += ["columns", *(code.replace("_", "-") for code in query.columns)] if query.columns else []
    return _cut("-".join(word for word in words if word))


def _option_word(name: str, code: str) -> str:
    """Return an option as a word; a code that says nothing alone (6, yes) has its filter before it."""
    is_clear = code[:1].isalpha() and code not in {"yes", "no", UNSTATED}
    return code if is_clear else f"{name.replace('_', '-')}-{code}"


def _number_word(name: str, text: str) -> str:
    """Return a number of a filter as a word: min-500000-tps, max-3-pct-over-1ms."""
    side, _, rest = name.partition("_")
    unit = f"pct-over-{rest}" if BY_NAME[name].unit == "%" else rest.replace("_", "-")
    return f"{side}-{text}-{unit}"


def _cut(name: str) -> str:
    safe = re.sub(r"[^a-z0-9.-]+", "-", name.lower())
    return safe if len(safe) <= LONGEST_NAME else safe[: LONGEST_NAME + 1].rpartition("-")[0]


def active_filters(query: DrivesQuery) -> list[str]:
    """Return the labels of the filters that are set."""
    named = [BY_NAME[name].label for name, _ in (*query.choices, *query.numbers)]
    named += ["Search"] if query.search_text else []
    named += ["Your limits"] if query.limits.is_own else []
    return named + (["Only within the limits"] if query.only_within else []) + list(query.included)
