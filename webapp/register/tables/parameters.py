"""The query parameters of list pages, read strictly: unknown parameters and values are rejected, never ignored."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.http import urlencode

from results.rules.act.limits import Limit
from webapp.register.http.query_params import FORMAT, Parameter, ParameterError, read_parameters
from webapp.register.limits.reader_limits import LOAD, YourLimits, limits_parameter, load_parameter
from webapp.register.tables.columns import Column

PROFILE_ALONE = YourLimits()


@dataclass(frozen=True)
class Sort:
    """The column that rows are sorted by, and the direction."""

    code: str
    falls: bool

    @property
    def parameter(self) -> str:
        """Return the sort as it is written in an address."""
        return f"-{self.code}" if self.falls else self.code


FASTEST_FIRST = Sort("tps", falls=True)


@dataclass(frozen=True)
class ListQuery:
    """The query of a list page."""

    sort: Sort
    form: str
    limits: YourLimits = PROFILE_ALONE
    load_tps: int = 0  # the reader's; 0 for none

    def address(self, *, sort: Sort | None = None, form: str = "html", limits: YourLimits | None = None) -> str:
        """Return the address of the page with another sort, format or limits, without defaults."""
        new_sort = sort or self.sort
        parameters = {
            LOAD: str(self.load_tps or ""),
            **(self.limits if limits is None else limits).parameters,
            "sort": new_sort.parameter if new_sort != FASTEST_FIRST else "",
            "format": form if form != "html" else "",
        }
        return "?" + urlencode({name: text for name, text in parameters.items() if text})

    @property
    def csv_address(self) -> str:
        """Return the same rows as CSV."""
        return self.address(form="csv")

    @property
    def json_address(self) -> str:
        """Return the same rows as JSON."""
        return self.address(form="json")


def read_list_query(
    query: QueryDict, columns: Collection[Column], *, profile: Iterable[Limit] = (), has_load: bool = False
) -> ListQuery:
    """Return the query of a page that shows every row.

    `profile` has the limits that a reader may replace by own ones; it is empty for a page without limits. `has_load`
    states whether the page answers for the reader's load.
    Raises ParameterError for a parameter or value that the page does not accept.
    """
    codes = {column.code for column in columns if column.is_sortable}
    sort = Parameter(
        "sort", {"sort": "Order"}, lambda given: read_sort(given.get("sort", FASTEST_FIRST.parameter), codes)
    )
    load = [load_parameter("load_tps", "Your load")] if has_load else []
    return ListQuery(**read_parameters(query, (sort, FORMAT, limits_parameter(profile), *load)))


def read_sort(text: str, codes: Collection[str]) -> Sort:
    """Return the column to sort by, and the direction."""
    sort = Sort(text.removeprefix("-"), falls=text.startswith("-"))
    if sort.code not in codes:
        raise ParameterError(
            "sort", f"expected one of {', '.join(sorted(codes))}; put - before it for the largest first", text
        )
    return sort
